#include "fleet/fleet.h"

#include <algorithm>
#include <thread>

namespace regraft::fleet {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t kLostInVain = 8;  // workers that end without a result before that is an error
constexpr std::chrono::milliseconds kShortest{1}, kLongest{50};  // between two looks
constexpr int kMostPolls = 250;  // for workers to end when they are asked to

/// Tasks whose results are waited for.
class Wanted {
 public:
  Wanted(TaskStore& store, const std::vector<Task>& tasks) : store_(store), tasks_(tasks) {
    for (const Task& t : tasks) names_.push_back(store.name_of(t));
    results_.resize(tasks.size());
  }
  /// Takes what is there of `places`; the others remain.
  Result<std::vector<size_t>> take(const std::vector<size_t>& places) {
    std::vector<size_t> missing;
    for (size_t k : places) {
      ASSIGN_OR_RETURN(auto r, store_.result(names_[k]));
      if (!r) {
        missing.push_back(k);
        continue;
      }
      bytes_ += r->size();
      results_[k] = *std::move(r);
    }
    return missing;
  }
  /// In bundles of at most `weight`. Neighbours take alike long, so each goes to another bundle.
  Status offer(const std::vector<size_t>& places, size_t weight) {
    const size_t bundles = (places.size() + weight - 1) / weight;
    for (size_t first = 0; first < bundles; ++first) {
      std::vector<size_t> part;
      for (size_t k = first; k < places.size(); k += bundles) part.push_back(places[k]);
      std::vector<Task> bundle;
      for (size_t k : part) bundle.push_back(tasks_[k]);
      ASSIGN_OR_RETURN(std::string name, store_.offer(bundle));
      bundles_[name] = std::move(part);
    }
    return {};
  }
  /// What was done since; what was done in vain is offered once more.
  Result<size_t> collect() {
    ASSIGN_OR_RETURN(auto open, store_.offered());
    size_t done = 0;
    for (auto at = bundles_.begin(); at != bundles_.end();) {
      if (open.contains(at->first)) {
        ++at;
        continue;
      }
      std::vector<size_t> places = std::move(at->second);
      at = bundles_.erase(at);
      ASSIGN_OR_RETURN(auto missing, take(places));
      done += places.size() - missing.size();
      if (!missing.empty()) RETURN_IF_ERROR(offer(missing, missing.size()));
    }
    return done;
  }
  size_t open() const { return bundles_.size(); }
  uint64_t bytes() const { return bytes_; }
  std::vector<std::string> results() { return std::move(results_); }

 private:
  TaskStore& store_;
  const std::vector<Task>& tasks_;
  std::vector<std::string> names_, results_;
  std::map<std::string, std::vector<size_t>> bundles_;
  uint64_t bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<Fleet>> Fleet::begin(TaskStore& store, FleetOptions options) {
  std::unique_ptr<Fleet> fleet(new Fleet(store, std::move(options)));
  ASSIGN_OR_RETURN(fleet->run_, store.begin_run());
  for (int k = 0; k < fleet->options_.workers; ++k) RETURN_IF_ERROR(fleet->start_worker());
  return fleet;
}

Fleet::~Fleet() {
  run_.reset();
  for (Child& w : workers_) w.stop();
  auto all_ended = [&] {
    return std::ranges::all_of(workers_, [](Child& w) { return w.ended().has_value(); });
  };
  for (int k = 0; k < kMostPolls && !all_ended(); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

Status Fleet::start_worker() {
  ASSIGN_OR_RETURN(Child worker, Child::start(options_.command, Printed::Errors));
  workers_.push_back(std::move(worker));
  return {};
}

/// One that ended is replaced: it may have been killed.
Status Fleet::look_after_workers() {
  for (Child& w : workers_) {
    auto code = w.ended();
    if (!code) continue;
    ++counts_.lost;
    if (++lost_in_vain_ > kLostInVain)
      return error("the workers end without a result, the last with code " + std::to_string(*code) +
                   "; what is done stays in " + store_.storage().folder());
    ASSIGN_OR_RETURN(w, Child::start(options_.command, Printed::Errors));
  }
  return {};
}

Status Fleet::help(const Stop& stop) {
  WorkCounts counts;
  ASSIGN_OR_RETURN(bool worked, work_once(store_, options_.perform, stop, counts));
  (void)worked;
  return {};
}

size_t Fleet::width() const {
  return std::max({size_t{1}, static_cast<size_t>(options_.workers), at_work_});
}

Result<std::vector<std::string>> Fleet::run(const std::string& label,
                                            const std::vector<Task>& tasks, size_t weight,
                                            const Stop& stop) {
  Wanted wanted(store_, tasks);
  std::vector<size_t> all(tasks.size());
  for (size_t k = 0; k < all.size(); ++k) all[k] = k;
  ASSIGN_OR_RETURN(auto missing, wanted.take(all));
  counts_.tasks += tasks.size();
  counts_.known += tasks.size() - missing.size();
  RETURN_IF_ERROR(wanted.offer(missing, std::max<size_t>(weight, 1)));
  counts_.bundles += wanted.open();
  Progress progress(label, "tasks", tasks.size(), options_.verbosity);
  progress.add(tasks.size() - missing.size());
  auto last = Clock::now();
  at_work_ = 0;
  while (wanted.open() > 0) {
    if (stop.must_end())
      return error(std::string(stop.reason()) + "; what is done stays in " +
                   store_.storage().folder());
    RETURN_IF_ERROR(look_after_workers());
    if (options_.workers == 0) RETURN_IF_ERROR(help(stop));
    ASSIGN_OR_RETURN(size_t done, wanted.collect());
    if (done > 0) lost_in_vain_ = 0;
    progress.add(done);
    auto held = store_.storage().list("leases");
    const size_t at_work = held ? held->size() : 0;
    at_work_ = std::max(at_work_, at_work);
    progress.note(std::to_string(at_work) + " at work, " + std::to_string(counts_.lost) +
                  " replaced, " + std::to_string(wanted.open()) + " bundles open");
    if (done > 0) last = Clock::now();
    if (wanted.open() > 0 && options_.workers > 0)
      std::this_thread::sleep_for(pause_since(last, kShortest, kLongest));
  }
  counts_.bytes += wanted.bytes();
  return wanted.results();
}

}  // namespace regraft::fleet
