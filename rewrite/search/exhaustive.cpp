#include "rewrite/search/exhaustive.h"

#include <queue>
#include <unordered_set>

#include "base/hash.h"
#include "rewrite/search/paths.h"
#include "rewrite/search/walk.h"

namespace regraft::rewrite {

namespace {

struct IdentityHash {
  size_t operator()(const Identity& id) const { return combine(id.outputs, id.nodes); }
};

class ExhaustiveRun {
 public:
  ExhaustiveRun(Walk& walk, double max_growth)
      : walk_(walk),
        engine_(walk.engine),
        paths_(walk.engine.cost()),
        max_calls_(max_growth * static_cast<double>(calls())) {}

  /// Leaves the engine at the best graph.
  StopReason run() {
    seen_.insert(engine_.identity());
    waiting_.push({paths_.cost(0), 0});
    std::optional<StopReason> reason;
    while (!reason && !waiting_.empty()) {
      go(waiting_.top().second);
      waiting_.pop();
      reason = expand();
    }
    go(best_);
    return reason.value_or(StopReason::Exhausted);
  }

 private:
  using Entry = std::pair<double, int32_t>;  // cost, node of paths_

  /// Constant ones, too: they cost nothing, but there is no end to what can be made of a constant.
  size_t calls() const {
    const LiveGraph& g = engine_.graph();
    size_t n = 0;
    for (int32_t id = 0; id < g.id_bound(); ++id)
      n +=
          g.alive(id) && (g.slot(id).kind == NodeKind::Call || g.slot(id).kind == NodeKind::Opaque);
    return n;
  }

  void go(int32_t node) {
    paths_.go(engine_, here_, node);
    here_ = node;
  }

  /// Makes each move once and takes it back. Returns why it could not make all.
  std::optional<StopReason> expand() {
    ++walk_.reporter.report.expanded;
    const std::vector<int32_t> matches = engine_.matches();
    for (int32_t number : matches) {
      if (auto reason = walk_.reporter.over()) return reason;
      if (seen_.size() >= Exhaustive::kMaxGraphs) return StopReason::Memory;
      walk_.reporter.look(1);
      engine_.apply(number);
      if (static_cast<double>(calls()) <= max_calls_)
        note();
      else
        ++walk_.reporter.report.rejected;
      engine_.undo();
    }
    return std::nullopt;
  }

  /// The engine is one move behind here_.
  void note() {
    SearchReport& report = walk_.reporter.report;
    if (!seen_.insert(engine_.identity()).second) {
      ++report.duplicates;
      return;
    }
    int32_t node = paths_.add(here_, engine_.moves().back());
    if (walk_.reporter.offer(paths_.cost(node), paths_.rule(node), paths_.depth(node)))
      best_ = node;
    waiting_.push({paths_.cost(node), node});
    report.peak_queue = std::max(report.peak_queue, waiting_.size());
  }

  Walk& walk_;
  Engine& engine_;
  Paths paths_;
  std::unordered_set<Identity, IdentityHash> seen_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting_;
  double max_calls_;
  int32_t here_ = 0, best_ = 0;
};

}  // namespace

SearchReport Exhaustive::search(const Graph& g, const RuleIndex& rules,
                                const cost::CostModel& model, const SearchOptions& options,
                                const Stop& stop) const {
  Walk walk("exhaustive", g, rules, model, options, stop);
  StopReason reason = ExhaustiveRun(walk, options.max_growth).run();
  walk.keep();
  return std::move(walk).finish(reason);
}

}  // namespace regraft::rewrite
