#pragma once
namespace regraft::rl {

struct NetworkOptions {
  int width = 32;   ///< of the embeddings of nodes, edges, rules and the graph
  int hidden = 32;  ///< of the heads
  int rounds = 2;   ///< of messages
  /// Edges and nodes also see the embedding of the whole graph, as in the full block. A change
  /// somewhere then changes all embeddings.
  bool global_messages = false;
  /// First the rule is chosen, from the embedding of the whole graph, and then its location;
  /// otherwise among all matches at once.
  bool factorised = false;
  /// What the logit of a match begins with: so many times what it saves in percent, on a
  /// logarithmic scale.
  double cost_prior = 4;
  /// What matches save is not seen, of each and in all; nor is there a prior of it then.
  bool hide_cost = false;
  double stop_bias = -2;  ///< what the logit of stopping begins with
};

}  // namespace regraft::rl
