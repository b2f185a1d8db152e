#pragma once
// Small graphs for the tests of ir.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "ir/graph/eval.h"
#include "ir/rule/text.h"

namespace regraft {

inline Graph graph(std::string_view text) {
  auto g = parse_graph(text);
  EXPECT_TRUE(g) << (g ? "" : g.error().message) << "\n" << text;
  return g ? *std::move(g) : Graph();
}

inline Rule rule(std::string_view line) {
  auto r = parse_rule(line);
  EXPECT_TRUE(r) << (r ? "" : r.error().message) << "\n" << line;
  return r ? *std::move(r) : Rule();
}

inline Shape shape_of(const std::vector<int64_t>& dims) { return {dims.begin(), dims.end()}; }

/// Input k filled with residues that depend on k and the seed only.
inline Array<Residue> random_residues(int k, const std::vector<int64_t>& shape, uint64_t seed) {
  Rng rng(combine(seed, static_cast<uint64_t>(k)));
  size_t n = 1;
  for (int64_t d : shape) n *= static_cast<size_t>(d);
  Array<Residue> a{shape, std::vector<Residue>(n)};
  for (Residue& x : a.data) x = random_residue(rng);
  return a;
}

/// The outputs over the field at random inputs.
inline std::optional<std::vector<Array<Residue>>> field_outputs(const Graph& g,
                                                                const Valuation& sizes,
                                                                uint64_t seed) {
  Field field(seed);
  return evaluate_graph<Field>(field, g, sizes, [&](int k, const std::vector<int64_t>& shape) {
    return random_residues(k, shape, seed);
  });
}

inline bool equal(const std::vector<Array<Residue>>& a, const std::vector<Array<Residue>>& b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k)
    if (a[k].shape != b[k].shape || a[k].data != b[k].data) return false;
  return true;
}

}  // namespace regraft
