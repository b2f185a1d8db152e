#include "rewrite/search/mcts.h"

#include <algorithm>
#include <cmath>

#include "rewrite/search/walk.h"

namespace regraft::rewrite {

namespace {

constexpr double kExploration = 0.7;
constexpr double kWidening = 2;  ///< children for each root of a node's visits
constexpr int kRandomMoves = 6;
constexpr size_t kMaxTree = 1 << 20;

struct Node {
  Move move;
  std::vector<int32_t> children;
  double value = 0;  ///< sum over visits
  double visits = 0;
};

/// Plays from one root until something cheaper is found, or it is over.
class Tree {
 public:
  explicit Tree(Walk& walk) : walk_(walk), engine_(walk.engine), start_(engine_.cost()) {}

  /// True: the engine is at a graph that costs less than the root.
  bool run() {
    while (!walk_.reporter.over() && nodes_.size() < kMaxTree)
      if (play()) return true;
    return false;
  }

 private:
  Node& at(int32_t k) { return nodes_[static_cast<size_t>(k)]; }

  bool play() {
    path_.assign(1, 0);
    lowest_ = engine_.cost();
    best_depth_ = 0;
    while (select()) note();
    for (int k = 0; k < kRandomMoves && !walk_.reporter.over(); ++k) {
      int32_t number = walk_.random_match();
      if (number < 0) continue;
      engine_.apply(number);
      note();
    }
    ++walk_.reporter.report.expanded;
    if (best_depth_ > 0) {
      while (engine_.depth() > best_depth_) engine_.undo();
      return true;
    }
    while (engine_.depth() > 0) engine_.undo();
    learn();
    return false;
  }

  void note() {
    reached_ = std::min(reached_, engine_.cost());
    if (!cheaper(engine_.cost(), lowest_)) return;
    lowest_ = engine_.cost();
    best_depth_ = engine_.depth();
  }

  /// One move down the tree. False where a child was added or there is none.
  bool select() {
    int32_t here = path_.back();
    double room = kWidening * std::sqrt(at(here).visits + 1);
    if (static_cast<double>(at(here).children.size()) < room && add_child(here)) return false;
    if (at(here).children.empty()) return false;
    int32_t best = -1;
    double best_score = 0;
    for (int32_t k : at(here).children) {
      const Node& n = at(k);
      double score = n.value / n.visits +
                     kExploration * std::sqrt(2 * std::log(at(here).visits + 1) / n.visits);
      if (best >= 0 && score <= best_score) continue;
      best = k;
      best_score = score;
    }
    redo(engine_, at(best).move);
    path_.push_back(best);
    return true;
  }

  bool add_child(int32_t here) {
    int32_t number = walk_.random_match();
    if (number < 0) return false;
    const Match& m = engine_.match(number);
    for (int32_t k : at(here).children)
      if (m.is_at(at(k).move.place())) return false;
    engine_.apply(number);
    note();
    auto child = static_cast<int32_t>(nodes_.size());
    nodes_.push_back({engine_.moves().back(), {}, 0, 0});
    at(here).children.push_back(child);
    path_.push_back(child);
    return true;
  }

  /// No play has saved anything yet, or there would be another tree: one is worth the more the less
  /// its cheapest graph, the root aside, costs above the root.
  void learn() {
    double above = reached_ - start_;
    scale_ = std::max(scale_, above);
    double value = scale_ > 0 ? 1 - above / scale_ : 1;
    for (int32_t k : path_) {
      at(k).value += value;
      ++at(k).visits;
    }
    reached_ = HUGE_VAL;
  }

  Walk& walk_;
  Engine& engine_;
  double start_, lowest_ = 0, reached_ = HUGE_VAL, scale_ = 0;
  size_t best_depth_ = 0;
  std::vector<Node> nodes_{1};
  std::vector<int32_t> path_;
};

}  // namespace

SearchReport Mcts::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                          const SearchOptions& options, const Stop& stop) const {
  Walk walk("mcts", g, rules, model, options, stop);
  StopReason reason = walk.descend();
  walk.keep();
  while (!walk.engine.matches().empty() && !walk.reporter.over()) {
    Tree(walk).run();
    walk.descend();
    walk.keep();
  }
  return std::move(walk).finish(walk.reporter.over().value_or(reason));
}

}  // namespace regraft::rewrite
