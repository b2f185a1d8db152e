#include "rewrite/search/backtracking.h"

#include <algorithm>

#include "rewrite/search/paths.h"
#include "rewrite/search/reporter.h"
#include "rewrite/search/transpositions.h"

namespace regraft::rewrite {

namespace {

constexpr size_t kMostVisited = size_t{1} << 20;  ///< graphs

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

/// Whether two moves lead to the same graph in either order. REQUIRES: `second` was there before
/// `first` was made, and did the same.
bool commute(const Move& first, const Match& second) {
  const CompiledRule& rule = *second.fit->rule;
  for (const auto& needs : rule.rhs_needs())
    if (std::find(needs.begin(), needs.end(), 0) != needs.end()) return false;
  for (int32_t id : second.nodes) {
    if (std::find(first.nodes.begin(), first.nodes.end(), id) != first.nodes.end()) return false;
    auto reads = [id](Value v) { return v.node == id; };
    if (std::any_of(first.variables.begin(), first.variables.end(), reads)) return false;
  }
  return true;
}

/// One run.
class BacktrackingRun {
 public:
  BacktrackingRun(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                  const SearchOptions& options, const Stop& stop, bool partial_order_reduction)
      : options_(options),
        start_(Reporter::Clock::now()),
        engine_(g, rules, model, {options.opset, &stop}),
        paths_(engine_.cost()),
        reporter_("backtracking", engine_.cost(), rules, options, stop, start_),
        queue_(options.max_queue),
        visited_(kMostVisited),
        max_calls_(options.max_growth * engine_.calls()),
        partial_order_reduction_(partial_order_reduction) {}

  SearchReport run() && {
    start();
    StopReason reason = StopReason::Exhausted;
    for (; !queue_.empty(); take(queue_.pop())) {
      auto over = reporter_.over();
      if (!over) continue;
      reason = *over;
      break;
    }
    if (reporter_.out_of_budget() && reason == StopReason::Exhausted) reason = StopReason::Budget;
    paths_.go(engine_, here_, best_);
    return std::move(reporter_).finish(reason, paths_.moves(best_), engine_.to_graph());
  }

 private:
  /// Graphs that cost less are worth a look.
  double limit() const { return std::max(options_.alpha, 1.0) * reporter_.best(); }

  /// Expands the original, and where going downhill from it ends.
  void start() {
    Identity original = engine_.identity();
    rewrite::descend(engine_, reporter_);
    for (const Move& move : std::vector<Move>(engine_.moves())) here_ = paths_.add(here_, move);
    best_ = here_;
    visited_.insert(engine_.identity());
    expand();
    if (here_ == 0 || !visited_.insert(original) || engine_.cost() >= limit()) return;
    paths_.go(engine_, here_, 0);
    here_ = 0;
    if (engine_.cost() < limit()) expand();
  }

  void take(Queue::Entry e) {
    if (e.move.cost >= limit()) return;
    paths_.go(engine_, here_, e.parent);
    redo(engine_, e.move);
    here_ = paths_.add(e.parent, std::move(e.move));
    if (reporter_.offer(paths_.cost(here_), paths_.rule(here_), paths_.depth(here_))) best_ = here_;
    if (visited_.insert(engine_.identity()))
      expand();
    else
      ++reporter_.report.duplicates;
  }

  /// The graph is also reached with the last two moves in the other order.
  bool is_other_order(int32_t number) const {
    if (!partial_order_reduction_ || engine_.depth() == 0 || !engine_.older_than_last_move(number))
      return false;
    const Move& last = engine_.moves().back();
    const Match& m = engine_.match(number);
    bool first = std::tie(m.cost_change, m.rule, m.nodes, m.variables) <
                 std::tie(last.cost_change, last.rule, last.nodes, last.variables);
    return first && commute(last, m);
  }

  void expand() {
    SearchReport& report = reporter_.report;
    ++report.expanded;
    for (int32_t number : engine_.matches()) {
      if (reporter_.out_of_budget()) break;
      if (is_other_order(number)) {
        ++report.duplicates;
        continue;
      }
      reporter_.look(1);
      const Match& m = engine_.match(number);
      double cost = engine_.cost() + m.cost_change;
      bool wanted = cost < limit() && engine_.calls() + m.growth <= max_calls_;
      if (wanted && queue_.admits(cost))
        queue_.push({here_, {m.rule, m.nodes, m.variables, cost, m.cost_change}});
      else
        ++report.rejected;
    }
    report.peak_queue = std::max(report.peak_queue, queue_.size());
  }

  const SearchOptions& options_;
  Reporter::Clock::time_point start_;
  Engine engine_;
  Paths paths_;
  Reporter reporter_;
  Queue queue_;
  Transpositions visited_;
  double max_calls_;
  bool partial_order_reduction_;
  int32_t here_ = 0, best_ = 0;  // in paths_; the engine is at here_
};

}  // namespace

SearchReport Backtracking::search(const Graph& g, const RuleIndex& rules,
                                  const cost::CostModel& model, const SearchOptions& options,
                                  const Stop& stop) const {
  return BacktrackingRun(g, rules, model, options, stop, partial_order_reduction_).run();
}

}  // namespace regraft::rewrite
