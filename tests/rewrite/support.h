#pragma once
// Graphs built by hand and rules given as text.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "cost/model/roofline.h"
#include "ir/graph/eval.h"
#include "ir/rule/text.h"
#include "rewrite/engine/engine.h"

namespace regraft::rewrite {

inline Value input(Graph& g, const Shape& shape) { return g.add_input({DType::F32, shape}); }

inline Value weight(Graph& g, std::vector<int64_t> dims, uint64_t seed = 1) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  Rng rng(seed);
  std::vector<float> data;
  for (int64_t i = 0; i < n; ++i) data.push_back(static_cast<float>(2 * rng.unit() - 1));
  return g.add_constant(Constant::of_floats(std::move(dims), data));
}

/// Attributes as numbers, in the order of the operator's table; those left out are at their
/// fallback.
inline Value call(Graph& g, std::string_view op, std::vector<Value> operands,
                  std::vector<std::vector<int64_t>> ints = {}) {
  const OpDef& def = *find_op(op);
  int rank = operands.empty() ? 0 : static_cast<int>(g.shape(operands[0]).size());
  Attrs<Poly> attrs;
  for (size_t k = 0; k < def.ints.size(); ++k) {
    const IntAttr& a = def.ints[k];
    if (k < ints.size() && !ints[k].empty())
      attrs.ints.emplace_back(ints[k].begin(), ints[k].end());
    else
      attrs.ints.emplace_back(attr_length(a, rank).value_or(0), Poly(a.fallback.value_or(0)));
  }
  for (const RealAttr& a : def.reals) attrs.reals.push_back({a.fallback, nullptr});
  auto id = g.add_call(def, std::move(operands), std::move(attrs));
  EXPECT_TRUE(id.has_value()) << id.error().message;
  return {*id, 0};
}

inline Rule rule_of(const std::string& line) {
  auto rule = parse_rule(line);
  EXPECT_TRUE(rule.has_value()) << line << ": " << rule.error().message;
  return *rule;
}

inline RuleIndex index_of(const std::vector<std::string>& lines) {
  std::vector<Rule> rules;
  for (const auto& line : lines) rules.push_back(rule_of(line));
  auto index = RuleIndex::build(std::move(rules), Scope::AllSizes, Numerics::Unknown);
  EXPECT_TRUE(index.has_value()) << index.error().message;
  return *std::move(index);
}

/// Outputs over the finite field; inputs depend on their position only.
inline std::vector<Array<Residue>> fingerprints(const Graph& g, const Valuation& sizes = {}) {
  Field field(3);
  auto random = [](int k, const std::vector<int64_t>& shape) {
    Array<Residue> a{shape, {}};
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    Rng rng(static_cast<uint64_t>(k) + 11);
    for (int64_t i = 0; i < n; ++i) a.data.push_back(random_residue(rng));
    return a;
  };
  auto outputs = evaluate_graph<Field>(field, g, sizes, random);
  EXPECT_TRUE(outputs.has_value());
  return outputs ? *std::move(outputs) : std::vector<Array<Residue>>{};
}

inline bool same_fingerprints(const Graph& a, const Graph& b) {
  auto x = fingerprints(a), y = fingerprints(b);
  if (x.size() != y.size()) return false;
  for (size_t k = 0; k < x.size(); ++k)
    if (x[k].shape != y[k].shape || !(x[k].data == y[k].data)) return false;
  return true;
}

inline const std::string kAssociate =
    "matmul-associate (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c)) "
    "for a:nn b:nn c:nn proved:all-sizes";
inline const std::string kFactor =
    "matmul-factor (add (matmul ?a ?b) (matmul ?a ?c)) => (matmul ?a (add ?b ?c)) "
    "for a:nn b:nn c:nn proved:all-sizes";
inline const std::string kMerge =
    "matmul-merge (matmul ?a ?b) ; (matmul ?a ?c) => "
    "(split (matmul ?a (concat ?b ?c axis=-1)) axis=-1 sizes=b.-1,c.-1) ; "
    "(split (matmul ?a (concat ?b ?c axis=-1)) axis=-1 sizes=b.-1,c.-1)#1 "
    "for a:nn b:nn c:nn proved:all-sizes";
inline const std::string kAddAssociate =
    "add-associate (add (add ?a ?b) ?c) => (add ?a (add ?b ?c)) "
    "for a:nn b:nn c:nn | a:nn b:1n c:nn | a:nn b:nn c:1n | a:nn b:1n c:1n proved:all-sizes";
inline const std::string kAddCommute =
    "add-swap (add (add ?a ?b) ?c) => (add (add ?a ?c) ?b) "
    "for a:nn b:nn c:nn | a:nn b:1n c:nn | a:nn b:nn c:1n proved:all-sizes";
inline const std::string kReluTwice =
    "relu-twice (relu (relu ?a)) => (relu ?a) for a:nn | a:nnn proved:all-sizes";
inline const std::string kTransposeTwice =
    "transpose-twice (transpose (transpose ?a perm=1,0) perm=1,0) => ?a for a:nn proved:all-sizes";
inline const std::string kTransposeAdd =
    "transpose-add (transpose (add ?a ?b) perm=1,0) => "
    "(add (transpose ?a perm=1,0) (transpose ?b perm=1,0)) for a:nn b:nn proved:all-sizes";

}  // namespace regraft::rewrite
