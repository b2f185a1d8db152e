#include "rewrite/windows.h"

#include <algorithm>
#include <deque>

#include "base/rng.h"
#include "rewrite/window.h"

namespace regraft::rewrite {

namespace {

/// The size of windows and the effort in each, in turn.
struct Level {
  int radius, expansions;
};
constexpr Level kLevels[] = {{2, 12}, {3, 40}, {4, 150}, {5, 500}};

class Run {
 public:
  Run(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
      const SearchOptions& options, const Stop& stop)
      : engine_(g, rules, model, {options.opset}),
        region_(engine_),
        reporter_("windows", engine_.cost(), rules, options, stop),
        rng_(options.seed),
        max_calls_(options.max_growth * engine_.calls()) {}

  SearchReport run() && {
    StopReason reason = descend(engine_, reporter_);
    keep();
    for (Level level : kLevels) {
      if (reporter_.over()) break;
      fill();
      while (!waiting_.empty() && !reporter_.over()) look_at(take(), level);
    }
    if (auto over = reporter_.over()) reason = *over;
    return std::move(reporter_).finish(reason, moves_, engine_.to_graph());
  }

 private:
  /// Makes the engine's moves final.
  void keep() {
    for (const Move& m : engine_.moves()) {
      moves_.push_back(m);
      reporter_.offer(m.cost, m.rule, moves_.size());
    }
    engine_.commit();
  }

  /// All nodes that a match ends at, in random order.
  void fill() {
    waiting_.clear();
    is_waiting_.assign(is_waiting_.size(), 0);
    std::vector<int32_t> nodes;
    for (int32_t number : engine_.matches()) nodes.push_back(engine_.match(number).root());
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (size_t k = nodes.size(); k > 1; --k) std::swap(nodes[k - 1], nodes[rng_.below(k)]);
    for (int32_t id : nodes) wait(id);
  }

  void wait(int32_t id) {
    if (static_cast<size_t>(id) >= is_waiting_.size())
      is_waiting_.resize(static_cast<size_t>(id) + 1);
    if (is_waiting_[static_cast<size_t>(id)]) return;
    is_waiting_[static_cast<size_t>(id)] = 1;
    waiting_.push_back(id);
  }

  int32_t take() {
    int32_t id = waiting_.front();
    waiting_.pop_front();
    is_waiting_[static_cast<size_t>(id)] = 0;
    return id;
  }

  void look_at(int32_t centre, Level level) {
    const LiveGraph& g = engine_.graph();
    if (!g.alive(centre) || g.slot(centre).constant) return;
    region_.grow(centre, level.radius);
    if (!search_window(engine_, region_, level.expansions, max_calls_, reporter_)) return;
    for (int32_t id : region_.nodes()) wait(id);
    keep();
  }

  Engine engine_;
  Region region_;
  Reporter reporter_;
  Rng rng_;
  double max_calls_;
  std::vector<Move> moves_;
  std::deque<int32_t> waiting_;
  std::vector<char> is_waiting_;
};

}  // namespace

SearchReport Windows::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                             const SearchOptions& options, const Stop& stop) const {
  return Run(g, rules, model, options, stop).run();
}

}  // namespace regraft::rewrite
