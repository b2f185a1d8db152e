#include "rewrite/windows/windows.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "rewrite/search/walk.h"
#include "rewrite/windows/part.h"
#include "rewrite/windows/recall.h"
#include "rewrite/windows/window.h"

namespace regraft::rewrite {

namespace {

/// The size of windows and the effort in each, in turn.
struct Level {
  int radius, expansions;
};
constexpr Level kLevels[] = {{2, 12}, {3, 40}, {4, 150}, {5, 500}};

/// A window that is searched apart from the graph.
struct Job {
  Job(const LiveGraph& g, int32_t id, std::span<const int32_t> calls)
      : centre(id), part(g, calls) {}
  int32_t centre;
  uint64_t likeness = 0;
  Part part;
  WindowNames names;
  const Recipe* known = nullptr;  ///< what paid in a window like it, which is not searched then
  WindowLimits limits;
  // The answer:
  WindowReport report;
  std::vector<Move> moves;  // in the part

  void run(Sizes& sizes, const Stop& stop) {
    Engine engine(part.graph(), sizes.fitter.rules(), sizes.interner.model(), {{}, &stop, &sizes});
    Region all(engine);
    std::vector<int32_t> ids(static_cast<size_t>(engine.graph().id_bound()));
    std::iota(ids.begin(), ids.end(), 0);
    all.take(ids);
    limits.calls += engine.calls();
    report = search_window(engine, all, limits, stop);
    moves = engine.moves();
  }
};

/// Which nodes moves of this batch were about.
class Touched {
 public:
  void add(const Part& part) {
    calls_.insert(part.calls().begin(), part.calls().end());
    sources_.insert(part.sources().begin(), part.sources().end());
  }
  bool any(const Part& part) const {
    auto among = [](const std::unordered_set<int32_t>& ids) {
      return [&](int32_t id) { return ids.count(id) > 0; };
    };
    return std::ranges::any_of(part.calls(), among(calls_)) ||
           std::ranges::any_of(part.calls(), among(sources_)) ||
           std::ranges::any_of(part.sources(), among(calls_));
  }

 private:
  std::unordered_set<int32_t> calls_, sources_;
};

/// Windows are searched in batches of a fixed size, so that the answer does not depend on how many
/// threads there are: what is searched, and with what knowledge, is settled before a batch starts,
/// and what it found is merged in order.
class Run {
 public:
  Run(Walk& walk, const RuleIndex& rules, const cost::CostModel& model,
      const SearchOptions& options, const Stop& stop, const WindowOrder& order)
      : walk_(walk), options_(options), stop_(stop), order_(order), region_(walk.engine) {
    const Interner& interner = walk.engine.graph().interner();
    auto pool = interner.shared_pool();
    for (int t = 0; t < std::max(1, options.threads); ++t)
      sizes_.push_back(std::make_unique<Sizes>(rules, pool, model, interner.options()));
  }

  void run() {
    for (Level level : kLevels) {
      fill();
      while (!waiting_.empty() && !walk_.reporter.over()) batch(level);
    }
  }

 private:
  static constexpr size_t kBatch = 32;

  /// All nodes that a match ends at, in the order that was given, else in random order.
  void fill() {
    waiting_.clear();
    is_waiting_.assign(is_waiting_.size(), 0);
    std::vector<int32_t> nodes;
    for (int32_t number : walk_.engine.matches())
      nodes.push_back(walk_.engine.match(number).root());
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (size_t k = nodes.size(); k > 1; --k) std::swap(nodes[k - 1], nodes[walk_.rng.below(k)]);
    if (order_) order(nodes);
    for (int32_t id : nodes) wait(id);
  }

  void order(std::vector<int32_t>& nodes) const {
    std::vector<double> scores = order_(walk_.engine, nodes);
    CHECK(scores.size() == nodes.size());
    std::vector<std::pair<double, int32_t>> rows;
    for (size_t k = 0; k < nodes.size(); ++k)
      if (scores[k] > -HUGE_VAL) rows.emplace_back(scores[k], nodes[k]);
    std::ranges::stable_sort(rows, std::greater<>(), &std::pair<double, int32_t>::first);
    nodes.clear();
    for (const auto& [score, id] : rows) nodes.push_back(id);
  }

  bool mark_waiting(int32_t id) {
    if (static_cast<size_t>(id) >= is_waiting_.size())
      is_waiting_.resize(static_cast<size_t>(id) + 1);
    return !std::exchange(is_waiting_[static_cast<size_t>(id)], 1);
  }
  void wait(int32_t id) {
    if (mark_waiting(id)) waiting_.push_back(id);
  }
  void wait_first(int32_t id) {
    if (mark_waiting(id)) waiting_.push_front(id);
  }
  int32_t take() {
    int32_t id = waiting_.front();
    waiting_.pop_front();
    is_waiting_[static_cast<size_t>(id)] = 0;
    return id;
  }

  void batch(Level level) {
    std::vector<int32_t> later;
    std::vector<Job> jobs = choose(level, later);
    search(jobs);
    Touched touched;
    for (Job& job : jobs) {
      if (walk_.reporter.out_of_budget()) return;  // what was found in time is kept
      if (touched.any(job.part)) {
        later.push_back(job.centre);
        continue;
      }
      count(job.report);
      if (!(job.known || job.report.pays) || !merge(job))
        hopeless_.insert(job.likeness);
      else
        touched.add(job.part);
    }
    for (size_t k = later.size(); k-- > 0;) wait_first(later[k]);
  }

  /// The next windows, no two of them alike. Those that are like one of them come later.
  std::vector<Job> choose(Level level, std::vector<int32_t>& later) {
    const LiveGraph& g = walk_.engine.graph();
    std::vector<Job> jobs;
    std::unordered_set<uint64_t> chosen;
    while (!waiting_.empty() && jobs.size() < kBatch && later.size() < kBatch) {
      int32_t centre = take();
      if (!g.alive(centre) || g.slot(centre).constant) continue;
      region_.grow(centre, level.radius);
      uint64_t likeness = combine(region_.likeness(), static_cast<uint64_t>(level.expansions));
      if (hopeless_.count(likeness)) continue;
      if (!chosen.insert(likeness).second) {
        later.push_back(centre);
        continue;
      }
      Job& job = jobs.emplace_back(g, centre, region_.nodes());
      job.likeness = likeness;
      job.names = {region_.nodes(), region_.outside(), g.id_bound()};
      if (auto known = paid_.find(likeness); known != paid_.end()) job.known = &known->second;
      job.limits = {level.expansions, options_.budget - walk_.reporter.report.candidates,
                    walk_.max_calls() - walk_.engine.calls()};
    }
    return jobs;
  }

  void search(std::vector<Job>& jobs) {
    std::atomic<size_t> next = 0;
    parallel_for(sizes_.size(), static_cast<int>(std::min(sizes_.size(), jobs.size())),
                 [&](size_t slot) {
                   for (size_t k; (k = next.fetch_add(1)) < jobs.size();)
                     if (!jobs[k].known) jobs[k].run(*sizes_[slot], stop_);
                 });
  }

  void count(const WindowReport& report) {
    SearchReport& all = walk_.reporter.report;
    walk_.reporter.look(report.looked);
    all.expanded += report.expanded;
    all.peak_queue = std::max(all.peak_queue, report.peak_queue);
  }

  /// Does in the graph what paid in the part, or in a window like it; where that is something else
  /// there, searches the window in the graph itself. False: it does not pay.
  bool merge(Job& job) {
    Engine& engine = walk_.engine;
    double before = engine.cost();
    region_.take(job.part.calls());
    job.names.first_new = engine.graph().id_bound();
    bool done = job.known ? recall(job) : repeat(job);
    if (!done || !cheaper(engine.cost(), before)) {
      while (engine.depth() > 0) engine.undo();
      job.limits.calls = walk_.max_calls();
      WindowReport report = search_window(engine, region_, job.limits, stop_);
      count(report);
      if (!report.pays) return false;
    }
    if (auto recipe = Recipe::of(engine.moves(), job.names))
      paid_.insert_or_assign(job.likeness, *std::move(recipe));
    for (int32_t id : region_.nodes()) wait(id);
    walk_.keep();
    return true;
  }

  /// False: a move does not apply in the graph, or does something else.
  bool make(const Move& m, int32_t added) {
    Engine& engine = walk_.engine;
    const LiveGraph& g = engine.graph();
    if (!std::ranges::all_of(m.nodes, [&](int32_t id) { return g.alive(id); })) return false;
    int32_t number = engine.find(m);
    if (number < 0 || !walk_.admits(engine.match(number))) return false;
    engine.apply(number);
    return engine.moves().back().added == added;
  }

  bool repeat(Job& job) {
    for (const Move& m : job.moves) {
      int32_t first = walk_.engine.graph().id_bound();
      if (!make(job.part.in_whole(m), m.added)) return false;
      for (int32_t k = 0; k < m.added; ++k) job.part.add(first + k);
    }
    return true;
  }

  bool recall(const Job& job) {
    walk_.reporter.look(job.known->size());
    for (size_t k = 0; k < job.known->size(); ++k) {
      Move m = job.known->move(k, job.names);
      if (!make(m, m.added)) return false;
    }
    return true;
  }

  Walk& walk_;
  const SearchOptions& options_;
  const Stop& stop_;
  const WindowOrder& order_;
  std::vector<std::unique_ptr<Sizes>> sizes_;  // one for each thread
  Region region_;
  std::unordered_set<uint64_t> hopeless_;      // windows like these did not pay (or look so)
  std::unordered_map<uint64_t, Recipe> paid_;  // what paid in windows like these
  std::deque<int32_t> waiting_;
  std::vector<char> is_waiting_;
};

}  // namespace

SearchReport Windows::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                             const SearchOptions& options, const Stop& stop) const {
  Walk walk("windows", g, rules, model, options, stop);
  StopReason reason = walk.descend();
  walk.keep();
  Run(walk, rules, model, options, stop, order_).run();
  return std::move(walk).finish(walk.reporter.over().value_or(reason));
}

}  // namespace regraft::rewrite
