// Counterexamples of two graphs: found where they differ, small, and none where rounding explains
// what differs.
#include "rewrite/refute/counterexample.h"

#include <cmath>
#include <functional>

#include "tests/rewrite/compared.h"

namespace regraft::rewrite {
namespace {

using Found = std::optional<ModelCounterexample>;
using Make = std::function<Value(Graph&, Value)>;

Found find(const Graph& a, const Graph& b, CounterexampleOptions options = {}) {
  auto r = find_counterexample(a, b, options, Stop());
  EXPECT_TRUE(r.has_value()) << r.error().message;
  return r ? *r : Found{};
}

Value scalar(Graph& g, double value) {
  return g.add_constant(Constant::of_floats({}, {static_cast<float>(value)}));
}

Value with_reals(Graph& g, std::string_view op, std::vector<Value> operands,
                 const std::vector<double>& reals) {
  const OpDef& def = *find_op(op);
  Attrs<Poly> attrs = default_attrs(def, static_cast<int>(g.shape(operands[0]).size()));
  for (size_t k = 0; k < reals.size(); ++k) attrs.reals[k] = {reals[k], nullptr};
  return {*g.add_call(def, std::move(operands), attrs), 0};
}

Graph of(const Shape& shape, const Make& make) {
  Graph g;
  g.set_outputs({make(g, input(g, shape))});
  return g;
}

Graph of_batch(const Make& make) {
  Graph g;
  Value x = input(g, {Poly::symbol(g.pool().named("batch")), 4});
  g.set_outputs({make(g, x)});
  return g;
}

Make chain(std::vector<Make> steps) {
  return [steps = std::move(steps)](Graph& g, Value x) {
    for (const Make& step : steps) x = step(g, x);
    return x;
  };
}
Make op(const std::string& name, std::vector<std::vector<int64_t>> ints = {}) {
  return [=](Graph& g, Value x) { return call(g, name, {x}, ints); };
}
Make product(std::vector<int64_t> dims, uint64_t seed) {
  return [=](Graph& g, Value x) { return call(g, "matmul", {x, weight(g, dims, seed)}); };
}
Make identity() {
  return [](Graph&, Value x) { return x; };
}
Make clip(double low, double high) {
  return [=](Graph& g, Value x) { return with_reals(g, "clip", {x}, {low, high}); };
}

/// (x - mean) / sqrt(var + epsilon)
Make normalise(double epsilon) {
  return [=](Graph& g, Value x) {
    Value centred = call(g, "sub", {x, call(g, "reduce-mean", {x}, {{-1}, {1}})});
    Value var = call(g, "reduce-mean", {call(g, "mul", {centred, centred})}, {{-1}, {1}});
    Value root = call(g, "sqrt", {call(g, "add", {var, scalar(g, epsilon)})});
    return call(g, "div", {centred, root});
  };
}

double non_zero(const ModelCounterexample& c) {
  double count = 0;
  for (const auto& x : c.inputs)
    for (double v : x.data) count += v != 0;
  return count;
}

TEST(Counterexample, IsSmall) {
  Found c = find(of_batch(op("relu")), of_batch(identity()));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->sizes.at("batch"), 1);
  EXPECT_EQ(c->inputs[0].shape, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(non_zero(*c), 1);
  for (double v : c->inputs[0].data) EXPECT_EQ(v, std::round(v));
  EXPECT_EQ(c->first, 0);
  EXPECT_LT(c->second, 0);
  EXPECT_FALSE(c->needs_replay);
  EXPECT_EQ(c->position.size(), 2u);
  EXPECT_EQ(c->inputs[0].data[static_cast<size_t>(c->position[1])], c->second);
}

TEST(Counterexample, ZerosAreTheSimplest) {
  Found c = find(of_batch(op("exp")), of_batch(op("sin")));
  ASSERT_TRUE(c);
  EXPECT_EQ(non_zero(*c), 0);
  EXPECT_EQ(c->first, 1);
  EXPECT_EQ(c->second, 0);
}

TEST(Counterexample, SeesAWrongEpsilon) {
  for (double wrong : {1e-3, 2e-5, 1e-6}) {
    EXPECT_TRUE(find(of({2, 8}, normalise(1e-5)), of({2, 8}, normalise(wrong)))) << wrong;
    Make before = product({8, 8}, 1), after = product({8, 8}, 2);
    EXPECT_TRUE(find(of({2, 8}, chain({before, normalise(1e-5), after})),
                     of({2, 8}, chain({before, normalise(wrong), after}))))
        << wrong;
  }
}

TEST(Counterexample, SeesWrongAttributes) {
  EXPECT_TRUE(find(of({4, 4}, op("transpose", {{1, 0}})), of({4, 4}, identity())));
  EXPECT_TRUE(find(of({3, 3, 3}, op("transpose", {{1, 2, 0}})),
                   of({3, 3, 3}, op("transpose", {{2, 0, 1}}))));
  EXPECT_TRUE(find(of({3, 3}, op("softmax", {{0}})), of({3, 3}, op("softmax", {{1}}))));
  EXPECT_TRUE(find(of({3, 3}, clip(0, 6)), of({3, 3}, clip(0, 6.5))));
  EXPECT_TRUE(find(of({3, 3}, clip(0, 6)), of({3, 3}, op("relu"))));
  EXPECT_TRUE(find(of({3, 3}, chain({product({3, 3}, 1), op("sigmoid"), product({3, 3}, 2)})),
                   of({3, 3}, chain({product({3, 3}, 1), op("tanh"), product({3, 3}, 2)}))));
}

TEST(Counterexample, OtherShapesAreADifference) {
  auto sum = [](int64_t keep) { return op("reduce-sum", {{1}, {keep}}); };
  Found c = find(of_batch(sum(1)), of_batch(sum(0)));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->first_shape, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(c->second_shape, (std::vector<int64_t>{1}));
  EXPECT_TRUE(c->position.empty());
}

TEST(Counterexample, SaysWhatOnlyOneCanEvaluate) {
  auto windowed = [](int64_t kernel) {
    Graph g;
    Poly side = Poly::symbol(g.pool().named("side"));
    Value x = input(g, {1, 1, side, side}), y = call(g, "relu", {x});
    if (kernel > 0) y = call(g, "conv", {y, weight(g, {1, 1, kernel, 1})});
    g.set_outputs({y});
    return g;
  };
  Graph a = windowed(0), b = windowed(5);
  Found c = find(a, b);
  ASSERT_TRUE(c);
  EXPECT_NE(c->failure, "");
  EXPECT_EQ(c->sizes.at("side"), 1);
  ASSERT_EQ(c->start.b.size(), 1u);
  EXPECT_EQ(b.node(c->start.b[0]).op->name, "conv");
}

TEST(Counterexample, NamesTheOutput) {
  auto two = [](const std::string& second) {
    Graph g;
    Value x = input(g, {2, 2});
    Value y = call(g, "neg", {call(g, "neg", {x})});
    g.set_outputs({second == "tanh" ? y : x, call(g, second, {x})});
    return g;
  };
  Found c = find(two("tanh"), two("sigmoid"));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->output, 1u);
}

std::vector<std::string> names(const Graph& g, const std::vector<int32_t>& ids) {
  std::vector<std::string> result;
  for (int32_t id : ids) result.emplace_back(g.node(id).op->name);
  return result;
}

TEST(Counterexample, SaysWhereTheDifferenceStarts) {
  // Both write the first part in their own way; the second loses the relu in the middle.
  auto graph = [](bool relu, double half) {
    return of({4, 4}, chain({[=](Graph& g, Value x) {
                               Value y = call(g, "mul", {x, scalar(g, half)});
                               if (half == 0.25) y = call(g, "add", {y, y});
                               return call(g, "tanh", {y});
                             },
                             product({4, 4}, 1), relu ? op("relu") : identity(), product({4, 4}, 2),
                             op("sigmoid"), product({4, 4}, 3)}));
  };
  Graph a = graph(true, 0.5), b = graph(false, 0.25);
  Found c = find(a, b);
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->start.confirmed);
  EXPECT_EQ(names(a, c->start.a), (std::vector<std::string>{"relu", "matmul"}));
  EXPECT_EQ(names(b, c->start.b), (std::vector<std::string>{"matmul"}));
}

// --- what is no difference ---

TEST(Counterexample, RightPairsHaveNone) {
  Graph one = sum("add", {2, 3});
  EXPECT_FALSE(find(one, one));
  EXPECT_TRUE(CounterexampleFinder::make(one, one, {})->search().same);
  auto associated = [](bool left) {
    Graph g;
    Value x = input(g, {2, 3}), y = input(g, {2, 3}), z = input(g, {2, 3});
    auto add = [&](Value p, Value q) { return call(g, "add", {p, q}); };
    g.set_outputs({left ? add(add(x, y), z) : add(x, add(y, z))});
    return g;
  };
  EXPECT_FALSE(find(associated(true), associated(false)));
  Make gelu = [](Graph& g, Value x) {
    Value erf = call(g, "erf", {call(g, "div", {x, scalar(g, 1.41421356)})});
    Value half = call(g, "mul", {x, call(g, "add", {erf, scalar(g, 1)})});
    return call(g, "mul", {half, scalar(g, 0.5)});
  };
  EXPECT_FALSE(find(of({8, 8}, gelu), of({8, 8}, op("gelu"))));
  EXPECT_FALSE(find(of({8, 8}, op("gelu")), of({8, 8}, gelu)));
}

/// (x w) s, or x (w s) with the product rounded to the type, one weight off by `fault`.
Graph scaled(DType type, bool fold, double fault = 0) {
  Rng rng(5);
  auto rounded = [&](std::vector<int64_t> dims, const std::vector<double>& v) {
    return make_constant(type, std::move(dims), v);
  };
  std::vector<double> w(64), s(8), product;
  for (double& v : w) v = 2 * rng.unit() - 1;
  for (double& v : s) v = rng.unit() + 0.3;
  w = *rounded({64}, w)->reals();
  s = *rounded({8}, s)->reals();
  for (size_t k = 0; k < 64; ++k) product.push_back(w[k] * s[k % 8] * (k == 9 ? 1 + fault : 1));
  Graph g;
  Value x = g.add_input({type, Shape{4, 8}});
  Value y = call(g, "matmul", {x, g.add_constant(rounded({8, 8}, fold ? product : w))});
  if (!fold) y = call(g, "mul", {y, g.add_constant(rounded({8}, s))});
  g.set_outputs({call(g, "tanh", {y})});
  return g;
}

TEST(Counterexample, KnowsTheRoundingOfFoldedConstants) {
  const std::pair<DType, double> kFaults[] = {
      {DType::F64, 1e-10}, {DType::F32, 1e-4}, {DType::F16, 0.3}};
  for (auto [type, fault] : kFaults) {
    EXPECT_FALSE(find(scaled(type, false), scaled(type, true))) << to_string(type);
    EXPECT_FALSE(find(scaled(type, true), scaled(type, false))) << to_string(type);
    EXPECT_TRUE(find(scaled(type, false), scaled(type, true, fault))) << to_string(type);
  }
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CounterexampleOptions options;
    options.seed = seed;
    EXPECT_FALSE(find(scaled(DType::BF16, false), scaled(DType::BF16, true), options)) << seed;
    EXPECT_FALSE(find(scaled(DType::BF16, true), scaled(DType::BF16, false), options)) << seed;
  }
  EXPECT_TRUE(find(scaled(DType::BF16, false), scaled(DType::BF16, true, 2)));
}

TEST(Counterexample, KnowsWhatFoldingLosesBetweenSharedConstants) {
  // b - m s is folded in float32 to a number of few right digits; b, m and s are in both graphs.
  const float b = 1.2345678F, m = 3.7654321F, s = b / m;
  auto graph = [&](bool fold) {
    return of({4, 4}, [&](Graph& g, Value x) {
      Value vb = scalar(g, b), vm = scalar(g, m), vs = scalar(g, s);
      Value used = call(g, "add", {call(g, "add", {call(g, "mul", {x, vb}), vm}), vs});
      Value rest = call(g, "sub", {vb, call(g, "mul", {vm, vs})});
      float rounded = m * s;
      if (fold) rest = scalar(g, b - rounded);
      return call(g, "add", {call(g, "mul", {used, scalar(g, 1e-7)}), rest});
    });
  };
  EXPECT_FALSE(find(graph(false), graph(true)));
  EXPECT_FALSE(find(graph(true), graph(false)));
}

TEST(Counterexample, RangesAloneAreNoDifference) {
  Make parts = [](Graph& g, Value x) {
    Value e = call(g, "exp", {x});
    return call(g, "div", {e, call(g, "reduce-sum", {e}, {{-1}, {1}})});
  };
  EXPECT_FALSE(find(of({4, 8}, op("softmax", {{-1}})), of({4, 8}, parts)));
  EXPECT_FALSE(find(of({4, 8}, parts), of({4, 8}, op("softmax", {{-1}}))));
}

TEST(Counterexample, AStepTurnsRoundingIntoAnything) {
  auto steps = [](bool split) {
    return of({64}, [=](Graph& g, Value x) {
      double third = 1 / 3.0;
      Value y = call(g, "mul", {x, scalar(g, split ? std::sqrt(third) : third)});
      if (split) y = call(g, "mul", {y, scalar(g, std::sqrt(third))});
      return call(g, "floor", {call(g, "mul", {y, scalar(g, 3)})});
    });
  };
  EXPECT_FALSE(find(steps(false), steps(true)));
  EXPECT_FALSE(find(steps(true), steps(false)));
}

// --- opaque nodes ---

Value opaque(Graph& g, Value operand, int64_t rows) {
  Node foreign;
  foreign.kind = NodeKind::Opaque;
  foreign.content = Sha256().number(9).finish();
  foreign.pure = true;
  foreign.origin = 4;
  foreign.inputs = {operand};
  foreign.types = {{DType::F32, Shape{rows, 2}}};
  return {g.add_node(foreign), 0};
}

Graph with_opaque(const std::string& before, const std::string& after) {
  Graph g;
  Value x = input(g, {2, 2}), y = opaque(g, call(g, before, {x}), 2);
  g.set_outputs({call(g, "neg", {x}), call(g, after, {y, x})});
  return g;
}

TEST(Counterexample, WhatAnOpaqueNodeDecidesNeedsAReplay) {
  Found c = find(with_opaque("relu", "add"), with_opaque("relu", "sub"));
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->needs_replay);
  EXPECT_EQ(c->output, 1u);
  c = find(with_opaque("relu", "add"), with_opaque("tanh", "add"));
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->needs_replay);
  EXPECT_EQ(c->output, 1u);
  EXPECT_NE(c->place.find("operand 0"), std::string::npos);
  EXPECT_FALSE(find(with_opaque("relu", "add"), with_opaque("relu", "add")));
}

TEST(Counterexample, OpaqueNodesThatMakeOtherShapesAreNotOne) {
  auto graph = [](const std::string& before, int64_t rows) {
    Graph g;
    Value y = opaque(g, call(g, before, {input(g, {2, 2})}), rows);
    g.set_outputs({call(g, "add", {y, weight(g, {rows, 2})})});
    return g;
  };
  Graph a = graph("relu", 3), b = graph("tanh", 4);
  auto finder = CounterexampleFinder::make(a, b, {});
  ASSERT_TRUE(finder.has_value());
  auto c = finder->next(Stop());
  ASSERT_TRUE(c.has_value());
  EXPECT_FALSE(*c);
  EXPECT_EQ(finder->search().not_compared, (std::vector<size_t>{0}));
}

TEST(Counterexample, SaysWhichOutputsWereNotCompared) {
  Graph a = with_opaque("relu", "add"), b;
  Value x = input(b, {2, 2});
  b.set_outputs({call(b, "neg", {x}), call(b, "add", {x, x})});
  auto finder = CounterexampleFinder::make(a, b, {});
  ASSERT_TRUE(finder.has_value());
  auto c = finder->next(Stop());
  ASSERT_TRUE(c.has_value());
  EXPECT_FALSE(*c);
  EXPECT_EQ(finder->search().not_compared, (std::vector<size_t>{1}));
  EXPECT_EQ(finder->trial(0).inputs.size(), 1u);
}

TEST(Counterexample, TrialsHaveSignedIntegersOfBothSigns) {
  Graph a, b;
  Value x = a.add_input({DType::I8, Shape{2, 4}}, "x");
  a.set_outputs({opaque(a, x, 2)});
  Value y = b.add_input({DType::I8, Shape{2, 4}}, "x");
  b.set_outputs({call(b, "neg", {opaque(b, y, 2)})});
  auto finder = CounterexampleFinder::make(a, b, {});
  ASSERT_TRUE(finder.has_value());
  bool negative = false, positive = false;
  for (int k = 0; k < 8; ++k)
    for (double v : finder->trial(k).inputs.at(0).data) {
      negative = negative || v < 0;
      positive = positive || v > 0;
    }
  EXPECT_TRUE(negative);
  EXPECT_TRUE(positive);
}

TEST(Counterexample, TheNextOneHasOtherInputs) {
  Graph a = of({2, 8}, normalise(1e-5)), b = of({2, 8}, normalise(1e-2));
  auto finder = CounterexampleFinder::make(a, b, {});
  ASSERT_TRUE(finder.has_value());
  auto one = finder->next(Stop()), two = finder->next(Stop());
  ASSERT_TRUE(one.has_value() && two.has_value() && *one && *two);
  EXPECT_NE((*one)->inputs[0].data, (*two)->inputs[0].data);
}

TEST(Counterexample, CanBeStopped) {
  Stop stop;
  stop.request();
  Graph a = of({2}, op("relu")), b = of({2}, identity());
  auto finder = CounterexampleFinder::make(a, b, {});
  ASSERT_TRUE(finder.has_value());
  auto c = finder->next(stop);
  ASSERT_TRUE(c.has_value());
  EXPECT_FALSE(*c);
  EXPECT_EQ(finder->search().unfinished, "interrupted");
}

}  // namespace
}  // namespace regraft::rewrite
