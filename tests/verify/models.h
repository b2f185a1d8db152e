#pragma once
// Pairs of small graphs that stand for two models.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "ir/rule/text.h"
#include "verify/model/sweep.h"

namespace regraft::verify {

/// An input [N, columns].
inline Value rows(Graph& g, int64_t columns = 4, const std::string& name = "x") {
  return g.add_input({DType::F32, Shape{Poly::symbol(g.pool().named("N")), Poly(columns)}}, name);
}

inline Value floats(Graph& g, std::vector<int64_t> dims, const std::vector<float>& data) {
  return g.add_constant(Constant::of_floats(std::move(dims), data));
}

/// Attributes in the order of the operator's table; those left out are at their fallback.
inline Value call(Graph& g, std::string_view op, std::vector<Value> operands,
                  std::vector<std::vector<Poly>> ints = {}, std::vector<double> reals = {}) {
  const OpDef& def = *find_op(op);
  int rank = operands.empty() ? 0 : static_cast<int>(g.shape(operands[0]).size());
  Attrs<Poly> attrs;
  for (size_t k = 0; k < def.ints.size(); ++k) {
    const IntAttr& a = def.ints[k];
    if (k < ints.size() && !ints[k].empty())
      attrs.ints.push_back(ints[k]);
    else
      attrs.ints.emplace_back(attr_length(a, rank).value_or(0), Poly(a.fallback.value_or(0)));
  }
  for (size_t k = 0; k < def.reals.size(); ++k)
    attrs.reals.push_back({k < reals.size() ? reals[k] : def.reals[k].fallback, nullptr});
  auto id = g.add_call(def, std::move(operands), std::move(attrs));
  EXPECT_TRUE(id.has_value()) << (id ? "" : id.error().message);
  return {id ? *id : 0, 0};
}

/// A node that is carried: one output of the type of its first operand, or [2].
inline Value carried(Graph& g, std::vector<Value> operands, uint8_t content, bool pure) {
  Node n;
  n.kind = NodeKind::Opaque;
  n.types = {operands.empty() ? TensorType{DType::F32, Shape{Poly(2)}} : g.type(operands[0])};
  n.inputs = std::move(operands);
  n.content.bytes[0] = static_cast<std::byte>(content);
  n.pure = pure;
  return {g.add_node(std::move(n)), 0};
}

/// Inputs and outputs by position.
inline Matching by_position(const Graph& a, const Graph& b) {
  Matching m;
  for (size_t k = 0; k < b.inputs().size(); ++k)
    m.inputs.push_back(k < a.inputs().size() ? static_cast<int>(k) : -1);
  for (size_t k = 0; k < a.outputs().size(); ++k)
    m.outputs.push_back(k < b.outputs().size() ? static_cast<int>(k) : -1);
  return m;
}

inline Pair joined(const Graph& a, const Graph& b) {
  auto pair = join(a, b, by_position(a, b));
  EXPECT_TRUE(pair) << (pair ? "" : pair.error().message);
  return pair ? *std::move(pair) : Pair{};
}

inline SweepReport swept(const Pair& pair, SweepOptions options = {},
                         Evaluated which = Evaluated::All) {
  options.threads = 1;
  Stop stop;
  auto prints = fingerprints(pair.graph, {}, 1, which, stop);
  EXPECT_TRUE(prints) << (prints ? "" : prints.error().message);
  auto report = sweep(pair, *prints, {}, options, stop);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? *std::move(report) : SweepReport{};
}

/// Both sides of a rule at its first signature, as models.
struct Sides {
  Graph a, b;
};
inline Sides sides(const std::string& rule) {
  auto r = parse_rule("r " + rule + " proved:all-sizes");
  EXPECT_TRUE(r) << rule << ": " << (r ? "" : r.error().message);
  auto instance = instantiate(*r, r->domain.at(0));
  EXPECT_TRUE(instance) << rule << ": " << (instance ? "" : instance.error().message);
  return {std::move(instance->lhs), std::move(instance->rhs)};
}
inline SweepReport swept(const std::string& rule) {
  Sides s = sides(rule);
  return swept(joined(s.a, s.b));
}

}  // namespace regraft::verify
