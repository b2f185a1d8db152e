#include "rewrite/search/beam.h"

#include <algorithm>

#include "rewrite/search/paths.h"
#include "rewrite/search/transpositions.h"
#include "rewrite/search/walk.h"

namespace regraft::rewrite {

namespace {

constexpr size_t kRemembered = size_t{1} << 18;  ///< graphs
constexpr size_t kSpare = 8;  ///< successors kept for each place: many are the same graph

class BeamRun {
 public:
  BeamRun(Walk& walk, double alpha)
      : walk_(walk), alpha_(std::max(alpha, 1.0)), paths_(walk.engine.cost()), seen_(kRemembered) {}

  /// Leaves the engine at the best graph.
  void run() {
    seen_.insert(walk_.engine.identity());
    std::vector<int32_t> level{0};
    for (int idle = 0; !level.empty() && idle < Beam::kPatience && !walk_.reporter.over(); ++idle) {
      int32_t before = best_;
      level = choose(successors(level));
      if (best_ != before) idle = 0;
    }
    go(best_);
  }

 private:
  struct Successor {
    int32_t parent;
    Move move;
  };
  static bool before(const Successor& a, const Successor& b) {
    return std::tie(a.move.cost, a.parent, a.move.rule, a.move.nodes, a.move.variables) <
           std::tie(b.move.cost, b.parent, b.move.rule, b.move.nodes, b.move.variables);
  }

  void go(int32_t node) {
    paths_.go(walk_.engine, here_, node);
    here_ = node;
  }

  std::vector<Successor> successors(const std::vector<int32_t>& level) {
    std::vector<Successor> all;
    for (int32_t node : level) {
      go(node);
      ++walk_.reporter.report.expanded;
      for (int32_t number : walk_.engine.matches()) {
        if (walk_.reporter.out_of_budget()) return all;
        walk_.reporter.look(1);
        const Match& m = walk_.engine.match(number);
        double cost = walk_.engine.cost() + m.cost_change;
        if (cost >= alpha_ * paths_.cost(best_) || !walk_.admits(m)) {
          ++walk_.reporter.report.rejected;
          continue;
        }
        all.push_back({node, {m.rule, m.nodes, m.variables, cost, m.cost_change}});
      }
      keep_cheapest(all);
    }
    return all;
  }

  static void keep_cheapest(std::vector<Successor>& all) {
    constexpr size_t limit = Beam::kWidth * kSpare;
    if (all.size() <= limit) return;
    std::nth_element(all.begin(), all.begin() + limit, all.end(), before);
    all.resize(limit);
  }

  /// The cheapest distinct ones.
  std::vector<int32_t> choose(std::vector<Successor> all) {
    std::sort(all.begin(), all.end(), before);
    walk_.reporter.report.peak_queue = std::max(walk_.reporter.report.peak_queue, all.size());
    std::vector<int32_t> level;
    for (Successor& s : all) {
      if (level.size() == Beam::kWidth) break;
      go(s.parent);
      redo(walk_.engine, s.move);
      here_ = paths_.add(s.parent, std::move(s.move));
      if (!seen_.insert(walk_.engine.identity())) {
        ++walk_.reporter.report.duplicates;
        continue;
      }
      level.push_back(here_);
      if (cheaper(paths_.cost(here_), paths_.cost(best_))) best_ = here_;
    }
    return level;
  }

  Walk& walk_;
  double alpha_;
  Paths paths_;
  Transpositions seen_;
  int32_t here_ = 0, best_ = 0;
};

}  // namespace

SearchReport Beam::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                          const SearchOptions& options, const Stop& stop) const {
  Walk walk("beam", g, rules, model, options, stop);
  StopReason reason = walk.descend();
  walk.keep();
  BeamRun(walk, options.alpha).run();
  walk.keep();
  return std::move(walk).finish(walk.reporter.over().value_or(reason));
}

}  // namespace regraft::rewrite
