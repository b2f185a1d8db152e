#include "rl/network/network.h"

namespace regraft::rl {
namespace {

using Rows = nn::Matrix<float>;

int64_t put(Rows& to, int64_t at, const std::vector<float>& values) {
  std::copy(values.begin(), values.end(), to.data() + at);
  return at + static_cast<int64_t>(values.size());
}

void put(std::vector<int32_t>& to, const std::vector<int32_t>& from, int64_t add) {
  for (int32_t k : from) to.push_back(k + static_cast<int32_t>(add));
}

/// Pairs of list k's entries with k.
void put_lists(std::vector<int32_t>& entries, std::vector<int32_t>& owners,
               const std::vector<int32_t>& first, const std::vector<int32_t>& list,
               int64_t add_entry, int64_t add_owner) {
  put(entries, list, add_entry);
  for (size_t k = 0; k + 1 < first.size(); ++k)
    for (int32_t i = first[k]; i < first[k + 1]; ++i)
      owners.push_back(static_cast<int32_t>(k) + static_cast<int32_t>(add_owner));
}

}  // namespace

Batch::Batch(std::span<const Observation* const> observations) {
  size = static_cast<int64_t>(observations.size());
  for (const Observation* o : observations) {
    nodes += o->nodes;
    edges += static_cast<int64_t>(o->edges());
    matches += static_cast<int64_t>(o->matches());
  }
  node.resize(nodes, kNodeFeatures);
  edge.resize(edges, kEdgeFeatures);
  match.resize(matches, kMatchFeatures);
  global.resize(size, kGlobalFeatures);
  int64_t at_node = 0, at_edge = 0, at_match = 0;
  int64_t n = 0, m = 0;
  for (int32_t g = 0; g < size; ++g) {
    const Observation& o = *observations[static_cast<size_t>(g)];
    at_node = put(node, at_node, o.node);
    at_edge = put(edge, at_edge, o.edge);
    at_match = put(match, at_match, o.match);
    std::copy(o.global.begin(), o.global.end(), global.row(g).data());
    op.insert(op.end(), o.op.begin(), o.op.end());
    node_graph.insert(node_graph.end(), static_cast<size_t>(o.nodes), g);
    put(source, o.source, n);
    put(target, o.target, n);
    edge_graph.insert(edge_graph.end(), o.edges(), g);
    rule.insert(rule.end(), o.rule.begin(), o.rule.end());
    match_graph.insert(match_graph.end(), o.matches(), g);
    put_lists(inside, inside_match, o.inside_first, o.inside, n, m);
    put_lists(near, near_match, o.near_first, o.near, n, m);
    first_action.push_back(static_cast<int32_t>(m) + g);
    n += o.nodes;
    m += static_cast<int64_t>(o.matches());
  }
  first_action.push_back(static_cast<int32_t>(m + size));
}

}  // namespace regraft::rl
