#pragma once
// The network of the agents that act on the graph itself: a graph network, and heads that score
// each match (Battaglia et al. 2018).
#include "base/result.h"
#include "rl/environment/policy.h"
#include "rl/network/batch.h"
#include "rl/nn/layers.h"

namespace regraft::rl {

/// Parameters are named, so that files outlive changes of the list of operators and rules. Reading
/// is thread-safe.
template <class S>
class NetworkOf {
 public:
  /// Random weights. `rule_columns`: of the tables of rules it will see.
  NetworkOf(const NetworkOptions& options, size_t rule_columns, uint64_t seed);

  struct Output {
    nn::Var log_probs;  ///< a column: of all actions, in the order of Batch::first_action
    nn::Var values;     ///< a column: percent of the original's cost that can still be saved
    nn::Var worth;      ///< a column: by match, percent that it leads to nearby; see Judgement
    nn::Var latent;     ///< rows of `width`: the embedding of each graph
  };
  /// REQUIRES (this and the next): a batch made with the options of this network.
  Output forward(nn::Tape<S>& tape, const Batch& batch, const RuleTable& rules) const;
  /// The embeddings only.
  nn::Var encode(nn::Tape<S>& tape, const Batch& batch) const;

  nn::Parameters<S>& parameters() { return parameters_; }
  const nn::Parameters<S>& parameters() const { return parameters_; }
  const NetworkOptions& options() const { return options_; }

 private:
  friend class Follower;
  nn::Var match_terms(nn::Tape<S>& tape, nn::Var part, int64_t first) const;
  /// Features as the network sees them.
  nn::Matrix<S> seen_matches(const nn::Matrix<float>& features) const;
  nn::Matrix<S> seen_globals(const nn::Matrix<float>& features) const;
  struct Round {
    nn::Mlp edge, node, global;
  };
  struct Embedded {
    nn::Var nodes, graphs;
  };
  Embedded embed(nn::Tape<S>& tape, const Batch& batch) const;
  nn::Var latent(nn::Tape<S>& tape, const Embedded& e, const Batch& batch) const;
  nn::Var first_nodes(nn::Tape<S>& tape, nn::Var features, const std::vector<int32_t>& op) const;
  /// New edges from those before, their ends, and (-1: not seen) their graph.
  nn::Var edge_step(nn::Tape<S>& tape, const Round& r, nn::Var edges, nn::Var sources,
                    nn::Var targets, nn::Var graphs) const;
  /// New nodes from those before, and sums of the edges that lead in and out.
  nn::Var node_step(nn::Tape<S>& tape, const Round& r, nn::Var nodes, nn::Var in, nn::Var out,
                    nn::Var graphs) const;
  nn::Var graph_step(nn::Tape<S>& tape, const Round& r, nn::Var graphs, nn::Var edge_mean,
                     nn::Var node_mean) const;
  nn::Var encode_rules(nn::Tape<S>& tape, const std::vector<int32_t>& rules,
                       const RuleTable& table) const;
  /// The first layer of matches is a sum of what is known of them: of the nodes inside (mean and
  /// maximum), of those near, and of the rule.
  nn::Var inside_terms(nn::Tape<S>& tape, nn::Var mean, nn::Var max) const;
  nn::Var near_terms(nn::Tape<S>& tape, nn::Var mean) const;
  nn::Var rule_terms(nn::Tape<S>& tape, nn::Var rules) const;
  /// Of these sums and the exact features.
  nn::Var match_hidden(nn::Tape<S>& tape, nn::Var sums, nn::Var features) const;
  nn::Var match_scores(nn::Tape<S>& tape, nn::Var hidden, nn::Var features) const;
  struct Summary {
    nn::Var stop, value;  // columns, by graph
  };
  Summary summarise(nn::Tape<S>& tape, nn::Var latent, nn::Var hidden_mean, nn::Var hidden_max,
                    nn::Var features) const;
  nn::Var factorised(nn::Tape<S>& tape, const Batch& batch, const Summary& s, nn::Var latent,
                     nn::Var scores, nn::Var rules, const std::vector<int32_t>& rule_row,
                     const nn::Matrix<S>& matches) const;

  NetworkOptions options_;
  nn::Parameters<S> parameters_;
  int ops_ = 0, prior_ = 0;
  nn::Linear nodes_in_, edges_in_, graphs_in_;
  std::vector<Round> rounds_;
  nn::Mlp latent_, rules_, matches_, rule_scores_;
  nn::Linear score_, worth_;
  nn::Mlp value_, stop_;
};

}  // namespace regraft::rl
