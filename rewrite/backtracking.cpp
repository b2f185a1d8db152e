#include "rewrite/backtracking.h"

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/paths.h"
#include "rewrite/reporter.h"
#include "rewrite/transpositions.h"

namespace regraft::rewrite {

namespace {

constexpr size_t kRemembered = size_t{1} << 20;  ///< graphs

/// The cheapest successors seen and not yet expanded; first come, first served among equal ones.
class Queue {
 public:
  struct Entry {
    int32_t parent;
    Move move;
  };
  explicit Queue(size_t limit) : limit_(std::max<size_t>(limit, 1)) {}
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  /// False when it would fall out at once.
  bool admits(double cost) const {
    return entries_.size() < limit_ || cost < entries_.rbegin()->first.first;
  }
  void push(Entry e) {
    double cost = e.move.cost;
    entries_.emplace(std::pair{cost, next_++}, std::move(e));
    if (entries_.size() > limit_) entries_.erase(std::prev(entries_.end()));
  }
  Entry pop() { return std::move(entries_.extract(entries_.begin()).mapped()); }

 private:
  size_t limit_;
  uint64_t next_ = 0;
  std::map<std::pair<double, uint64_t>, Entry> entries_;
};

/// One run.
class Run {
 public:
  Run(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
      const SearchOptions& options, const Stop& stop)
      : options_(options),
        stop_(stop),
        engine_(g, rules, model, {options.opset}),
        paths_(engine_.cost()),
        reporter_(engine_.cost(), rules),
        queue_(options.max_queue),
        visited_(kRemembered),
        progress_("search", "candidates", options.budget, options.verbosity),
        max_calls_(options.max_growth * engine_.calls()) {}

  SearchReport run() && {
    visited_.insert(engine_.identity());
    expand();
    descend();
    StopReason reason = StopReason::Exhausted;
    for (; !queue_.empty(); take(queue_.pop())) {
      if (auto r = stopped(stop_)) reason = *r;
      if (reporter_.report.candidates >= options_.budget) reason = StopReason::Budget;
      if (reason != StopReason::Exhausted) break;
    }
    paths_.go(engine_, here_, best_);
    return std::move(reporter_).finish(reason, paths_.moves(best_), engine_.to_graph());
  }

 private:
  /// Graphs that cost less are worth a look.
  double limit() const { return std::max(options_.alpha, 1.0) * reporter_.best(); }
  bool out_of_budget() const {
    return stopped(stop_) || reporter_.report.candidates >= options_.budget;
  }

  /// Goes downhill from here, and expands where it ends.
  void descend() {
    size_t made = engine_.depth();
    rewrite::descend(engine_, [&] {
      look(engine_.priced() - priced_);
      priced_ = engine_.priced();
      return !out_of_budget();
    });
    for (; made < engine_.depth(); ++made) arrive(here_, engine_.moves()[made]);
    if (here_ != 0 && visited_.insert(engine_.identity())) expand();
  }

  void arrive(int32_t parent, const Move& move) {
    here_ = paths_.add(parent, move);
    if (reporter_.offer(move.cost, move.rule, paths_.depth(here_))) best_ = here_;
  }

  void take(Queue::Entry e) {
    if (e.move.cost >= limit() && e.move.cost > reporter_.best()) return;
    paths_.go(engine_, here_, e.parent);
    here_ = e.parent;
    redo(engine_, e.move);
    arrive(e.parent, std::move(e.move));
    if (visited_.insert(engine_.identity()))
      expand();
    else
      ++reporter_.report.duplicates;
  }

  void look(uint64_t candidates) {
    candidates = std::min(candidates, options_.budget - reporter_.report.candidates);
    reporter_.report.candidates += candidates;
    progress_.add(candidates);
  }

  void expand() {
    SearchReport& report = reporter_.report;
    ++report.expanded;
    for (int32_t number : engine_.matches()) {
      if (report.candidates == options_.budget) break;
      look(1);
      const Match& m = engine_.match(number);
      double cost = engine_.cost() + m.cost_change;
      bool wanted = cost < limit() && engine_.calls() + m.growth <= max_calls_;
      if (wanted && queue_.admits(cost))
        queue_.push({here_, {m.rule, m.nodes, m.variables, cost}});
      else
        ++report.rejected;
    }
    report.peak_queue = std::max(report.peak_queue, queue_.size());
    progress_.note(
        fmt::format("best {:.1f} us, {} graphs queued", reporter_.best(), queue_.size()));
  }

  const SearchOptions& options_;
  const Stop& stop_;
  Engine engine_;
  Paths paths_;
  Reporter reporter_;
  Queue queue_;
  Transpositions visited_;
  Progress progress_;
  double max_calls_;
  uint64_t priced_ = 0;
  int32_t here_ = 0, best_ = 0;  // in paths_; the engine is at here_
};

}  // namespace

SearchReport Backtracking::search(const Graph& g, const RuleIndex& rules,
                                  const cost::CostModel& model, const SearchOptions& options,
                                  const Stop& stop) const {
  return Run(g, rules, model, options, stop).run();
}

}  // namespace regraft::rewrite
