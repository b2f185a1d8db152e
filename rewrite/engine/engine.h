#pragma once
// What every searcher runs on: a graph, the matches in it, steps forth and back.
#include "rewrite/engine/match_set.h"

namespace regraft::rewrite {

/// A rule applied at a place.
struct Move {
  int32_t rule = 0;
  std::vector<int32_t> nodes;
  std::vector<Value> variables;
  double cost = 0;         ///< of the graph after it
  double cost_change = 0;  ///< as it was predicted
  int32_t added = 0;       ///< new nodes, numbered in a row
  Place place() const { return {rule, nodes, variables}; }
};

/// What stays true of the sizes in all graphs of one pool of symbols. Engines of the same rules may
/// share it, also one after the other with different cost models. Not thread-safe.
struct Sizes {
  Sizes(const RuleIndex& rules, std::shared_ptr<SymbolPool> pool, const cost::CostModel& model,
        PlanOptions options)
      : interner(std::move(pool), model, std::move(options)), fitter(rules, interner) {}
  Interner interner;
  Fitter fitter;
};

/// What an engine shares with others, and what it leaves out.
struct EngineOptions {
  Opset opset = {};            ///< see PlanOptions
  const Stop* stop = nullptr;  ///< ends the listing of a graph's matches, which is incomplete then
  Sizes* sizes = nullptr;      ///< of the graph's pool; null: its own
  const std::vector<char>* without = nullptr;  ///< rules, by number, that have no matches; or null
};

/// Not thread-safe; several engines may share the rules and the cost model. Node ids are the same
/// for the same moves from the same graph.
class Engine {
 public:
  /// The rules, the model and what is in the options outlive this. REQUIRES: g is acyclic; sizes
  /// are of these rules, and no engine on them that is still used has another model.
  Engine(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
         EngineOptions options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const LiveGraph& graph() const { return state_->graph; }
  Sizes& sizes() { return sizes_; }
  double cost() const { return state_->graph.cost(); }  ///< microseconds
  int32_t calls() const { return state_->graph.calls(); }
  Identity identity() { return state_->graph.identity(); }
  Graph to_graph() const { return state_->graph.to_graph(); }

  /// The matches that apply now, by number. A number means the same match until it is gone.
  const std::vector<int32_t>& matches() const { return state_->matches.listed(); }
  const Match& match(int32_t number) const { return state_->matches.match(number); }
  /// A match that applies now, or -1. REQUIRES: the nodes are in the graph, as many as in the rule.
  int32_t find(const Move& move);
  /// How often limits ended the search for the places of a rule since the start: what is listed is
  /// incomplete then. See PlaceLimits.
  uint64_t left_out() const { return state_->matches.left_out(); }

  /// The match was there before the last move, and did the same.
  bool older_than_last_move(int32_t number) const {
    return match(number).round < state_->matches.round();
  }
  /// visit(number) for each match that applies now and whose first output is a value of the node.
  template <class Visit>
  void for_matches_at(int32_t node, Visit&& visit) const {
    state_->matches.for_rooted_at(node, visit);
  }

  /// See MatchSet::diagnose.
  void diagnose(int32_t node, const PlaceLimits& limits, const VisitMisfit& visit) {
    state_->matches.diagnose(node, limits, visit);
  }

  /// REQUIRES: the match applies now.
  void apply(int32_t number);
  /// Takes the last move back.
  void undo();
  /// visit(), with the graph as the match would make it. The matches stay those of now, which is
  /// what makes it cheaper than to apply it. REQUIRES: the match applies now.
  template <class Visit>
  void look_ahead(int32_t number, Visit&& visit) {
    const LiveGraph::Mark now = state_->graph.mark();
    carry_out(plan_of(match(number)));
    visit();
    state_->graph.undo(now);
    count_turn(false);
  }
  /// The moves since the start, or since the last commit.
  size_t depth() const { return moves_.size(); }
  const std::vector<Move>& moves() const { return moves_; }
  /// Makes the moves final: they cannot be undone, and their memory is reclaimed now and then,
  /// after which matches have other numbers.
  void commit();

  /// Counts what changed the graph or the list of its matches: the same number, the same state.
  uint64_t turn() const { return turn_; }
  /// A move led here from turn() - 1, and last_change(), fresh_matches() and dropped_matches() tell
  /// all that it did; else it was something else, such as taking one back.
  bool moved() const { return moved_; }
  /// The matches that were found or priced anew by the last move, those gone included. All at the
  /// start.
  const std::vector<int32_t>& fresh_matches() const { return state_->matches.fresh(); }
  /// Others that are gone by the last move.
  const std::vector<int32_t>& dropped_matches() const { return state_->matches.dropped(); }
  /// What the last move did. REQUIRES: it was not taken back.
  const Change& last_change() const { return change_; }
  uint64_t priced() const { return priced_before_ + state_->matches.priced(); }

 private:
  struct State {
    State(const Graph& g, Sizes& sizes, const EngineOptions& options)
        : graph(g, sizes.interner),
          matches(graph, sizes.fitter, options.without, options.stop),
          planner(graph) {}
    LiveGraph graph;
    MatchSet matches;
    Planner planner;
  };
  struct Marks {
    LiveGraph::Mark graph;
    MatchSet::Mark matches;
  };
  void start(const Graph& g);
  void count_turn(bool moved) {
    ++turn_;
    moved_ = moved;
  }
  const Plan& plan_of(const Match& match);
  void carry_out(const Plan& plan);
  void add_calls(const Plan& plan);
  void redirect_uses(const Plan& plan, Value from);
  Value value_of(const Plan& plan, PlanRef r) const;
  void check_applied(const Match& match) const;

  const EngineOptions options_;
  std::unique_ptr<Sizes> own_sizes_;
  Sizes& sizes_;
  std::unique_ptr<State> state_;
  std::vector<Move> moves_;
  std::vector<Marks> marks_;
  Change change_;
  std::vector<int32_t> ids_;  // of the planned calls
  int32_t matches_at_start_ = 0;
  uint64_t turn_ = 1;
  bool moved_ = false;
  uint64_t priced_before_ = 0;
};

}  // namespace regraft::rewrite
