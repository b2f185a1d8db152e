#pragma once
// Graphs for tests of costs.
#include <gtest/gtest.h>

#include "ir/rule/text.h"

namespace regraft::cost {

/// The graph of this text; `constants` are the numbers of inputs that are weights.
inline Graph graph_of(const std::string& text, const std::vector<int32_t>& constants = {}) {
  auto parsed = parse_graph(text);
  EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
  Graph g;
  std::vector<Value> now(static_cast<size_t>(parsed->id_bound()));
  for (int32_t id = 0; id < parsed->id_bound(); ++id) {
    Node node = parsed->node(id);
    if (std::count(constants.begin(), constants.end(), id)) {
      auto dims = *numeric(*node.types[0].shape);
      int64_t count = 1;
      for (int64_t d : dims) count *= d;
      std::vector<float> data(static_cast<size_t>(count), 0.5F);
      now[static_cast<size_t>(id)] = g.add_constant(Constant::of_floats(dims, data));
      continue;
    }
    if (node.kind == NodeKind::Input) {
      now[static_cast<size_t>(id)] = g.add_input(node.types[0]);
      continue;
    }
    for (Value& v : node.inputs) v = {now[static_cast<size_t>(v.node)].node, v.output};
    now[static_cast<size_t>(id)] = {g.add_node(std::move(node)), 0};
  }
  std::vector<Value> outputs;
  for (Value v : parsed->outputs())
    outputs.push_back({now[static_cast<size_t>(v.node)].node, v.output});
  g.set_outputs(std::move(outputs));
  return g;
}

}  // namespace regraft::cost
