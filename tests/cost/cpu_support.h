#pragma once
// Graphs and numbers for the tests of cost/runtime/cpu.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "ir/graph/eval.h"
#include "ir/rule/text.h"

namespace regraft::cost::cpu {

/// The thread sanitizer does not see how OpenMP's threads wait for each other.
#ifdef __SANITIZE_THREAD__
constexpr int kMostThreads = 1;
#else
constexpr int kMostThreads = 2;
#endif

inline Graph graph_of(std::string_view text) {
  auto g = parse_graph(text);
  EXPECT_TRUE(g) << (g ? "" : g.error().message) << "\n" << text;
  return g ? *std::move(g) : Graph();
}

inline std::vector<int64_t> dims_of(const Graph& g, Value v) { return *numeric(g.shape(v)); }

/// Numbers in [0.1, 1): variances and roots are fine with them. Signs where `negative`.
inline Array<float> random_array(const std::vector<int64_t>& shape, uint64_t seed, bool negative) {
  Rng rng(seed);
  size_t n = 1;
  for (int64_t d : shape) n *= static_cast<size_t>(d);
  Array<float> a{shape, std::vector<float>(n)};
  for (float& x : a.data) {
    x = static_cast<float>(0.1 + 0.9 * rng.unit());
    if (negative && rng.below(2)) x = -x;
  }
  return a;
}

inline std::vector<Array<float>> random_inputs(const Graph& g, uint64_t seed,
                                               bool negative = true) {
  std::vector<Array<float>> all;
  for (Value v : g.inputs()) all.push_back(random_array(dims_of(g, v), ++seed, negative));
  return all;
}

inline std::vector<Array<double>> reference(const Graph& g,
                                            const std::vector<Array<float>>& inputs) {
  Reals reals;
  auto out = evaluate_graph<Reals>(
      reals, g, {},
      [&](int k, const std::vector<int64_t>& shape) {
        const auto& data = inputs[static_cast<size_t>(k)].data;
        return Array<double>{shape, {data.begin(), data.end()}};
      },
      int64_t{1} << 26);
  EXPECT_TRUE(out.has_value());
  return out ? *out : std::vector<Array<double>>();
}

inline void expect_near(const std::vector<Array<float>>& got,
                        const std::vector<Array<double>>& want, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t k = 0; k < got.size(); ++k) {
    ASSERT_EQ(got[k].shape, want[k].shape) << what;
    double scale = 1;
    for (double x : want[k].data) scale = std::max(scale, std::fabs(x));  // a NaN is none
    for (size_t i = 0; i < want[k].data.size(); ++i) {
      const bool no_number = std::isnan(want[k].data[i]) && std::isnan(got[k].data[i]);
      ASSERT_NEAR(no_number ? 0 : got[k].data[i], no_number ? 0 : want[k].data[i],
                  tolerance * scale)
          << what << ": output " << k << ", element " << i;
    }
  }
}

/// The graph's inputs from `first` on as constants.
inline Graph with_constants(const Graph& g, std::vector<Array<float>>& inputs, size_t first) {
  Graph out;
  std::vector<Value> now(static_cast<size_t>(g.id_bound()));
  for (size_t k = 0; k < g.inputs().size(); ++k) {
    Value v = g.inputs()[k];
    now[static_cast<size_t>(v.node)] =
        k < first ? out.add_input(g.type(v))
                  : out.add_constant(Constant::of_floats(inputs[k].shape, inputs[k].data));
  }
  for (int32_t id : full_order(g)) {
    Node node = g.node(id);
    if (node.kind != NodeKind::Call) continue;
    for (Value& v : node.inputs) v.node = now[static_cast<size_t>(v.node)].node;
    now[static_cast<size_t>(id)] = {out.add_node(node), 0};
  }
  std::vector<Value> outputs;
  for (Value v : g.outputs()) outputs.push_back({now[static_cast<size_t>(v.node)].node, v.output});
  out.set_outputs(outputs);
  inputs.resize(first);
  return out;
}

}  // namespace regraft::cost::cpu
