#include "rewrite/backtracking.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rewrite/search_state.h"

namespace regraft::rewrite {

namespace {

/// The cheapest graphs seen and not yet expanded; first come, first served among equal ones.
class Queue {
 public:
  explicit Queue(size_t limit) : limit_(std::max<size_t>(limit, 1)) {}
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  void push(State s) {
    double cost = s.cost;
    entries_.emplace(std::pair{cost, next_++}, std::move(s));
    if (entries_.size() > limit_) entries_.erase(std::prev(entries_.end()));
  }
  State pop() { return std::move(entries_.extract(entries_.begin()).mapped()); }

 private:
  size_t limit_;
  uint64_t next_ = 0;
  std::map<std::pair<double, uint64_t>, State> entries_;
};

/// One run.
class Run {
 public:
  Run(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
      const SearchOptions& options, const Stop& stop)
      : rules_(rules),
        model_(model),
        options_(options),
        stop_(stop),
        reporter_(g, rules, model),
        queue_(options.max_queue),
        progress_("search", "candidates", options.budget, options.verbosity) {}

  SearchReport run() && {
    visited_.insert(reporter_.best().id);
    queue_.push(reporter_.best());
    while (!queue_.empty()) {
      if (auto reason = stopped(stop_)) return std::move(reporter_).finish(*reason);
      if (reporter_.report.candidates >= options_.budget)
        return std::move(reporter_).finish(StopReason::Budget);
      expand(queue_.pop());
    }
    return std::move(reporter_).finish(StopReason::Exhausted);
  }

 private:
  /// Graphs that cost less are worth a look.
  double limit() const { return std::max(options_.alpha, 1.0) * reporter_.best().cost; }

  void expand(const State& state) {
    if (state.cost > limit()) return;
    GraphView view = make_view(state.graph, model_);
    std::vector<Match> matches = find_matches(view, rules_, model_, {options_.opset});
    SearchReport& report = reporter_.report;
    if (matches.size() > options_.budget - report.candidates)
      matches.resize(options_.budget - report.candidates);
    report.candidates += matches.size();
    ++report.expanded;
    progress_.add(matches.size());
    leap(view, state, matches);
    std::vector<State> next = successors(view, state, matches, limit(), model_, options_.threads);
    report.rejected += matches.size() - next.size();
    for (State& s : next) consider(std::move(s));
    report.peak_queue = std::max(report.peak_queue, queue_.size());
    progress_.note(
        fmt::format("best {:.1f} us, {} graphs queued", reporter_.best().cost, queue_.size()));
  }

  /// All improvements at once.
  void leap(const GraphView& view, const State& state, const std::vector<Match>& matches) {
    SearchReport& report = reporter_.report;
    auto improving = std::count_if(matches.begin(), matches.end(),
                                   [](const Match& m) { return m.plan.cost_change < 0; });
    uint64_t budget = options_.budget - report.candidates;
    if (improving < 2 || budget == 0) return;
    auto d = descend(view, state, matches, rules_, model_, {options_.opset}, budget);
    if (!d) return;
    report.candidates += d->candidates;
    progress_.add(d->candidates);
    consider(std::move(d->state));
  }

  void consider(State s) {
    if (!visited_.insert(s.id).second) {
      ++reporter_.report.duplicates;
      return;
    }
    reporter_.offer(s);
    if (s.cost < limit() || s.id == reporter_.best().id) queue_.push(std::move(s));
  }

  const RuleIndex& rules_;
  const cost::CostModel& model_;
  const SearchOptions& options_;
  const Stop& stop_;
  Reporter reporter_;
  Queue queue_;
  std::set<Identity> visited_;
  Progress progress_;
};

}  // namespace

SearchReport Backtracking::search(const Graph& g, const RuleIndex& rules,
                                  const cost::CostModel& model, const SearchOptions& options,
                                  const Stop& stop) const {
  return Run(g, rules, model, options, stop).run();
}

}  // namespace regraft::rewrite
