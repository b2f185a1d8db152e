#pragma once
// Acting greedily on a network at the speed of the engine: after a step only what the step changed
// is computed anew.
#include <memory>

#include "rl/environment/environment.h"
#include "rl/network/network.h"

namespace regraft::rl {

/// Takes the engine of an environment along what its network finds most probable. Not thread-safe.
class Follower {
 public:
  /// All outlive this; `env` is not stepped otherwise meanwhile. REQUIRES: the network does not
  /// send messages through the graph's embedding and is not factorised (see can_follow).
  Follower(const Network& network, const RuleTable& rules, Environment& env)
      : Follower(network, encoded(network, rules), env) {}
  /// The same with rules that were encoded before, for several episodes.
  using Rows = nn::Matrix<float>;
  Follower(const Network& network, std::shared_ptr<const Rows> rules, Environment& env);
  static std::shared_ptr<const Rows> encoded(const Network& network, const RuleTable& rules);
  static bool can_follow(const Network& network);

  /// The most probable action: the number of a match, or -1 to stop.
  int32_t best();
  /// The most probable of those matches that save; -1: none does. After best().
  int32_t best_saving() const;
  /// Applies a match. What it costs is the engine's to tell.
  void apply(int32_t number);
  /// What the environment applied in its step. After each step that applied a match.
  void follow();
  /// Of the actions that the environment allows, without worths. What Policy::judge says, but for
  /// rounding.
  Judgement judge();
  /// Logits of the matches that are allowed, by number, and of stopping; after best().
  struct Logits {
    std::vector<int32_t> numbers;
    std::vector<float> matches;
    float stop = 0;
    double value = 0;
  };
  const Logits& logits() const { return logits_; }

 private:
  struct Node {
    int32_t id = -1;               // of the graph; -1: free
    std::vector<int32_t> in, out;  // edges
    std::array<float, kNodeFeatures> features{};
    int32_t round = 0;  // when it was put on a list of changed ones
  };
  struct Edge {
    int32_t source = -1, target = -1;  // nodes; -1: free
    int32_t operand = 0;
    int32_t round = 0;
  };
  struct Known {  // of a match
    int32_t row = -1;
    int32_t step = -1, round = -1;  // when it was scored; and priced
  };

  int32_t add_node(int32_t id);
  void drop_node(int32_t row);
  void drop_edge(int32_t edge);
  void refresh(int32_t id);
  void set_edges(int32_t row);
  void touch(int32_t row);
  void mark(int32_t row);
  void propagate();
  void first_layer();
  void edge_layer(size_t r);
  void node_layer(size_t r);
  void score_matches();
  void summarise();
  float logit(int32_t number) const { return scores_(known_[static_cast<size_t>(number)].row, 0); }
  nn::Var gather(const Rows& from, const std::vector<int32_t>& rows);
  static void scatter(const Rows& values, const std::vector<int32_t>& rows, Rows& to);
  int32_t row_of(int32_t id) const {
    return static_cast<size_t>(id) < row_by_id_.size() ? row_by_id_[static_cast<size_t>(id)] : -1;
  }

  const Network& network_;
  Environment& env_;
  rewrite::Engine& engine_;
  Describer describer_;
  nn::Tape<float> tape_;
  std::shared_ptr<const Rows> rules_;  // their terms, by rule
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<int32_t> row_by_id_, free_nodes_, free_edges_;
  std::vector<Rows> node_rows_, edge_rows_;  // by round: embeddings
  Rows final_;                               // normalised embeddings of nodes
  std::vector<int32_t> changed_nodes_, touched_, changed_edges_;
  std::vector<Known> known_;  // by number of match
  Rows hidden_, scores_;      // of matches, by row
  int32_t match_rows_ = 0;
  std::vector<int32_t> changed_step_;  // by node row: the step that changed its embedding last
  Logits logits_;
  Totals totals_;
  int32_t round_ = 0, step_ = 0;
  double best_;
};

}  // namespace regraft::rl
