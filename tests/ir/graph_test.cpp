#include "ir/graph/graph.h"

#include <algorithm>

#include "ir/graph/content.h"
#include "tests/ir/collision.h"
#include "tests/ir/graphs.h"

namespace regraft {
namespace {

TensorType f32(std::vector<int64_t> dims) { return {DType::F32, shape_of(dims)}; }

int32_t call(Graph& g, const char* op, std::vector<Value> operands, Attrs<Poly> at = {}) {
  auto id = g.add_call(*find_op(op), std::move(operands), std::move(at));
  EXPECT_TRUE(id) << (id ? "" : id.error().message);
  return id ? *id : -1;
}

/// relu(x*y + z*x) built with the nodes in one of several orders and the operands exchanged or not.
Graph sample_graph(int order, int exchanged) {
  Graph g;
  Value x = g.add_input(f32({2, 2}), "x"), y = g.add_input(f32({2, 2}), "y"),
        z = g.add_input(f32({2, 2}), "z");
  auto first = [&] { return exchanged & 1 ? std::vector<Value>{y, x} : std::vector<Value>{x, y}; };
  auto second = [&] { return exchanged & 2 ? std::vector<Value>{x, z} : std::vector<Value>{z, x}; };
  int32_t a = -1, b = -1;
  if (order == 0) a = call(g, "mul", first()), b = call(g, "mul", second());
  if (order == 1) b = call(g, "mul", second()), call(g, "exp", {x}), a = call(g, "mul", first());
  int32_t s =
      call(g, "add",
           exchanged & 4 ? std::vector<Value>{{b, 0}, {a, 0}} : std::vector<Value>{{a, 0}, {b, 0}});
  g.set_outputs({{call(g, "relu", {{s, 0}}), 0}});
  return g;
}

TEST(Graph, HashIgnoresIdsAndCommutation) {
  Graph reference = sample_graph(0, 0);
  for (int order : {0, 1})
    for (int exchanged = 0; exchanged < 8; ++exchanged) {
      Graph g = sample_graph(order, exchanged);
      EXPECT_EQ(structural_hash(g), structural_hash(reference));
      EXPECT_TRUE(structurally_equal(g, reference));
      EXPECT_TRUE(validate(g)) << validate(g).error().message;
    }
}

TEST(Graph, HashSeesEveryDifference) {
  std::vector<std::string> texts = {
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = sub %0 %1\noutputs %2",
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = sub %1 %0\noutputs %2",
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = add %1 %0\noutputs %2",
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = matmul %1 %0\noutputs %2",
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = add %1 %0\noutputs %2 %2",
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = softmax %0 axis=0\noutputs %2",
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = softmax %0 axis=1\noutputs %2",
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = split %0 axis=0 "
      "sizes=1,3\noutputs %2",
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = split %0 axis=0 "
      "sizes=1,3\noutputs %2#1",
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = clip %0 max=1\noutputs %2",
      "%0 = input : float32[4,4]\n%1 = input : float32[4,4]\n%2 = clip %0 max=2\noutputs %2",
      "%0 = input : float16[4,4]\n%1 = input : float16[4,4]\n%2 = sub %0 %1\noutputs %2"};
  std::vector<Graph> graphs;
  for (const auto& t : texts) graphs.push_back(graph(t));
  for (size_t i = 0; i < graphs.size(); ++i)
    for (size_t j = 0; j < graphs.size(); ++j) {
      EXPECT_EQ(structural_hash(graphs[i]) == structural_hash(graphs[j]), i == j) << i << " " << j;
      EXPECT_EQ(structurally_equal(graphs[i], graphs[j]), i == j) << i << " " << j;
    }
}

Digest content_of(uint64_t n) { return Sha256().number(n).finish(); }

TEST(Graph, HashSeesConstantsAndOpaqueContents) {
  auto make = [](float value, uint64_t content) {
    Graph g;
    Value c = g.add_constant(Constant::of_floats({1}, {value}));
    Node opaque;
    opaque.kind = NodeKind::Opaque;
    opaque.inputs = {c};
    opaque.types = {f32({1})};
    opaque.content = content_of(content);
    opaque.pure = true;
    g.set_outputs({{g.add_node(opaque), 0}});
    return g;
  };
  EXPECT_EQ(structural_hash(make(1, 5)), structural_hash(make(1, 5)));
  EXPECT_TRUE(structurally_equal(make(1, 5), make(1, 5)));
  EXPECT_NE(structural_hash(make(1, 5)), structural_hash(make(2, 5)));
  EXPECT_FALSE(structurally_equal(make(1, 5), make(2, 5)));
  EXPECT_NE(structural_hash(make(1, 5)), structural_hash(make(1, 6)));
  EXPECT_FALSE(structurally_equal(make(1, 5), make(1, 6)));
}

TEST(Graph, OpaqueNodesThatAreNotPureAreNeverMerged) {
  for (bool pure : {false, true}) {
    Graph g;
    Value x = g.add_input(f32({1}));
    Node opaque;
    opaque.kind = NodeKind::Opaque;
    opaque.inputs = {x};
    opaque.types = {f32({1})};
    opaque.content = content_of(9);
    opaque.pure = pure;
    Value a{g.add_node(opaque), 0}, b{g.add_node(opaque), 0};
    g.set_outputs({a, b});
    auto h = value_hashes(g);
    EXPECT_EQ(h[static_cast<size_t>(a.node)] == h[static_cast<size_t>(b.node)], pure);
    EXPECT_EQ(canonical(g).node_count(), pure ? 2 : 3);
  }
}

/// f(op(x)), f being foreign, and g of both of two such.
Graph above_foreign(std::string_view op, bool twice) {
  Graph g;
  Value x = g.add_input(f32({4}));
  auto id = g.add_call(*find_op(op), {x}, {});
  Node foreign;
  foreign.kind = NodeKind::Opaque;
  foreign.content = content_of(3);
  foreign.inputs = {{*id, 0}};
  foreign.types = {f32({4})};
  Value a{g.add_node(foreign), 0}, b{g.add_node(foreign), 0};
  auto sum = g.add_call(*find_op("add"), {a, twice ? a : b}, {});
  g.set_outputs({{*sum, 0}});
  return g;
}

TEST(Graph, WhatLiesBelowAForeignNodeCounts) {
  Graph relu = above_foreign("relu", false);
  EXPECT_EQ(structural_hash(relu), structural_hash(above_foreign("relu", false)));
  EXPECT_NE(structural_hash(relu), structural_hash(above_foreign("neg", false)));
  EXPECT_NE(structural_hash(relu), structural_hash(above_foreign("relu", true)));
  EXPECT_TRUE(structurally_equal(relu, above_foreign("relu", false)));
  EXPECT_FALSE(structurally_equal(relu, above_foreign("neg", false)));
  EXPECT_FALSE(structurally_equal(relu, above_foreign("relu", true)));
  EXPECT_EQ(*digest_of(relu), *digest_of(above_foreign("relu", false)));
  EXPECT_NE(*digest_of(relu), *digest_of(above_foreign("neg", false)));
  EXPECT_NE(*digest_of(relu), *digest_of(above_foreign("relu", true)));
}

/// x times weights.
Graph with_weights(const std::vector<float>& w) {
  Graph g;
  Value x = g.add_input(f32({1, 8})), c = g.add_constant(Constant::of_floats({8, 8}, w));
  g.set_outputs({{*g.add_call(*find_op("matmul"), {x, c}, {}), 0}});
  return g;
}

TEST(Graph, WeightsMadeToCollideAreNotEqual) {
  Rng rng(8);
  std::vector<float> w(64);
  for (float& x : w) x = static_cast<float>(rng.unit() + 0.1);
  std::vector<float> other = colliding(w);
  ASSERT_NE(w, other);
  ASSERT_EQ(invertible_hash(w), invertible_hash(other));  // by which they were compared once
  EXPECT_TRUE(structurally_equal(with_weights(w), with_weights(w)));
  EXPECT_FALSE(structurally_equal(with_weights(w), with_weights(other)));
  EXPECT_NE(structural_hash(with_weights(w)), structural_hash(with_weights(other)));
  EXPECT_NE(*digest_of(with_weights(w)), *digest_of(with_weights(other)));
}

TEST(Graph, SizesOfOneNameAreToldApart) {
  auto make = [](bool one) {
    Graph g;
    Poly d = Poly::symbol(g.pool().fresh("d", SymbolKind::Size, 1));
    Poly e = one ? d : Poly::symbol(g.pool().fresh("d", SymbolKind::Size, 1));
    Value x = g.add_input({DType::F32, Shape{d}}), y = g.add_input({DType::F32, Shape{e}});
    g.set_outputs({x, y});
    return g;
  };
  EXPECT_TRUE(structurally_equal(make(true), make(true)));
  EXPECT_TRUE(structurally_equal(make(false), make(false)));
  EXPECT_FALSE(structurally_equal(make(true), make(false)));
  EXPECT_NE(*digest_of(make(true)), *digest_of(make(false)));
}

TEST(Graph, RemovesDeadNodesButNoInputs) {
  Graph g = sample_graph(1, 0);  // has an exp that nothing uses
  int32_t before = g.node_count();
  Node opaque;
  opaque.kind = NodeKind::Opaque;
  opaque.types = {f32({1})};
  int32_t dead = g.add_node(opaque);
  g.add_input(f32({7}));
  remove_dead(g);
  EXPECT_FALSE(g.contains(dead));
  EXPECT_EQ(g.node_count(), before - 1 + 1);
  EXPECT_EQ(g.inputs().size(), 4u);
  EXPECT_TRUE(validate(g));
}

TEST(Graph, OrderIsOperandsFirstAndDeep) {
  Graph g;
  Value v = g.add_input(f32({2}));
  for (int k = 0; k < 200000; ++k) v = {call(g, k % 2 ? "neg" : "relu", {v}), 0};
  g.set_outputs({v});
  auto order = topological_order(g);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->size(), 200001u);
  std::vector<char> seen(static_cast<size_t>(g.id_bound()), 0);
  for (int32_t id : *order) {
    for (Value x : g.node(id).inputs) ASSERT_TRUE(seen[static_cast<size_t>(x.node)]);
    seen[static_cast<size_t>(id)] = 1;
  }
  EXPECT_EQ(*topological_order(g), *order);
  EXPECT_EQ(structural_hash(canonical(g)), structural_hash(g));
}

TEST(Graph, CyclesAndDanglingReadsAreErrors) {
  Graph g = sample_graph(0, 0);
  int32_t relu = g.outputs()[0].node, add = g.node(relu).inputs[0].node;
  Node n = g.node(add);
  n.inputs[0] = {relu, 0};
  g.replace_node(add, n);
  ASSERT_FALSE(topological_order(g));
  EXPECT_NE(topological_order(g).error().message.find("cycle"), std::string::npos);
  EXPECT_FALSE(validate(g));

  Graph h = sample_graph(0, 0);
  h.remove_node(h.node(h.outputs()[0].node).inputs[0].node);
  EXPECT_FALSE(validate(h));
  EXPECT_FALSE(topological_order(h));
}

TEST(Graph, ValidateChecksTypes) {
  Graph g = sample_graph(0, 0);
  Node n = g.node(g.outputs()[0].node);
  n.types[0] = f32({2, 3});
  g.replace_node(g.outputs()[0].node, n);
  EXPECT_FALSE(validate(g));
}

TEST(Graph, ValidateKnowsWhatHasData) {
  Graph g;
  Node carried;  // a tensor of text, say
  carried.kind = NodeKind::Opaque;
  carried.types = {f32({1})};
  carried.constant = Constant::of_floats({1}, {2});
  int32_t id = g.add_node(carried);
  EXPECT_TRUE(validate(g)) << validate(g).error().message;
  Node without = carried;
  without.kind = NodeKind::Constant;
  without.constant = nullptr;
  g.replace_node(id, without);
  EXPECT_FALSE(validate(g));
  Node absent = carried;
  absent.kind = NodeKind::Absent;
  g.replace_node(id, absent);
  EXPECT_FALSE(validate(g));
}

TEST(Graph, ReplacesUsesEverywhere) {
  Graph g = sample_graph(0, 0);
  Value x = g.inputs()[0], y = g.inputs()[1];
  replace_uses(g, x, y);
  auto users = consumers(g);
  EXPECT_TRUE(users[static_cast<size_t>(x.node)].empty());
  EXPECT_EQ(users[static_cast<size_t>(y.node)].size(), 3u);
  for (const auto& [id, operand] : users[static_cast<size_t>(y.node)])
    EXPECT_EQ(g.node(id).inputs[static_cast<size_t>(operand)], y);
  Value out = g.outputs()[0];
  replace_uses(g, out, y);
  EXPECT_EQ(g.outputs()[0], y);
}

TEST(Graph, CanonicalMergesEqualCalls) {
  Graph g;
  Value x = g.add_input(f32({3}));
  Value c = g.add_constant(Constant::of_floats({3}, {1, 2, 3}));
  Value d = g.add_constant(Constant::of_floats({3}, {1, 2, 3}));
  int32_t a = call(g, "add", {x, c}), b = call(g, "add", {d, x});
  g.set_outputs({{call(g, "mul", {{a, 0}, {b, 0}}), 0}});
  Graph m = canonical(g);
  EXPECT_EQ(m.node_count(), 4);  // input, constant, add, mul
  EXPECT_TRUE(validate(m));
  EXPECT_TRUE(structurally_equal(m, g));
  EXPECT_EQ(structural_hash(m), structural_hash(g));
  EXPECT_EQ(to_string(canonical(m)), to_string(m));
}

TEST(Graph, KnowsWhatIsConstant) {
  Graph g;
  Value x = g.add_input(f32({3, 3}));
  Value c = g.add_constant(Constant::of_floats({3, 3}, std::vector<float>(9, 1)));
  int32_t made = call(g, "identity-matrix", {}, {{{Poly(3)}}, {}});
  int32_t inner = call(g, "matmul", {c, {made, 0}}), outer = call(g, "matmul", {x, {inner, 0}});
  Poly n = Poly::symbol(g.pool().named("n"));
  int32_t sized = call(g, "expand", {c}, {{{n, Poly(3), Poly(3)}}, {}});
  auto constant = constant_nodes(g);
  for (int32_t id : {c.node, made, inner}) EXPECT_TRUE(constant[static_cast<size_t>(id)]);
  for (int32_t id : {x.node, outer, sized}) EXPECT_FALSE(constant[static_cast<size_t>(id)]);
}

TEST(InferCall, RefusesWhatDoesNotFit) {
  auto refused = [](const char* op, std::vector<TensorType> operands, Attrs<Poly> at = {}) {
    SymbolPool pool;
    auto r = infer_call(pool, *find_op(op), operands, at);
    return r ? std::string() : r.error().message;
  };
  EXPECT_EQ(refused("matmul", {f32({2, 3}), f32({3, 4})}), "");
  EXPECT_NE(refused("matmul", {f32({2, 3}), f32({4, 4})}), "");
  EXPECT_NE(refused("matmul", {f32({2, 3})}), "");
  EXPECT_NE(refused("matmul", {f32({2, 3}), {DType::F16, Shape{3, 4}}}), "");
  EXPECT_NE(refused("matmul", {{DType::I64, Shape{2, 2}}, {DType::I64, Shape{2, 2}}}), "");
  EXPECT_NE(refused("relu", {{DType::F32, std::nullopt}}), "");
  EXPECT_NE(refused("relu", {f32({1, 1, 1, 1, 1, 1, 1, 1, 1})}), "");
  EXPECT_NE(refused("softmax", {f32({2, 3})}), "");  // its attribute is missing
  EXPECT_NE(refused("softmax", {f32({2, 3})}, {{{Poly(2)}}, {}}), "");
  EXPECT_EQ(refused("softmax", {f32({2, 3})}, {{{Poly(-1)}}, {}}), "");
  int64_t big = int64_t{1} << 62;
  EXPECT_NE(refused("concat", {f32({big}), f32({big}), f32({big})}, {{{Poly(0)}}, {}}), "");
}

TEST(InferCall, CollectsRequirements) {
  SymbolPool pool;
  Poly a = Poly::symbol(pool.named("a")), b = Poly::symbol(pool.named("b"));
  std::vector<Formula> required;
  auto r =
      infer_call(pool, *find_op("matmul"), {{DType::F32, Shape{2, a}}, {DType::F32, Shape{b, 3}}},
                 {}, [&](const Formula& f) { required.push_back(f); });
  ASSERT_TRUE(r);
  EXPECT_TRUE(same((*r)[0], f32({2, 3})));
  ASSERT_EQ(required.size(), 1u);
  EXPECT_EQ(compare(required[0], a == b), 0);
}

}  // namespace
}  // namespace regraft
