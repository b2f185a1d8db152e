// What differences rounding explains, which inputs are drawn, and at which sizes.
#include <cmath>
#include <set>

#include "rewrite/compare/comparison.h"
#include "rewrite/compare/regimes.h"
#include "rewrite/compare/sizes.h"
#include "tests/rewrite/compared.h"

namespace regraft::rewrite {
namespace {

Value constant(Graph& g, DType type, std::vector<int64_t> dims, const std::vector<double>& values) {
  return g.add_constant(make_constant(type, std::move(dims), values));
}

std::vector<double> random_values(size_t n, uint64_t seed, double low, double high) {
  Rng rng(seed);
  std::vector<double> v;
  for (size_t k = 0; k < n; ++k) v.push_back(low + (high - low) * rng.unit());
  return v;
}

/// A convolution with its batch normalisation, or both as one convolution whose weights are rounded
/// to `type`; there `fault` is a relative error of channel 2's weights.
struct Normalised {
  static constexpr size_t kOut = 6, kTaps = 3 * 9;
  DType type;
  std::vector<double> w = random_values(kOut * kTaps, 1, -0.3, 0.3),
                      scale = random_values(kOut, 2, 0.5, 2), bias = random_values(kOut, 3, -1, 1),
                      mean = random_values(kOut, 4, -1, 1), var = random_values(kOut, 5, 0.1, 3);
  explicit Normalised(DType t) : type(t) {
    for (auto* v : {&w, &scale, &bias, &mean, &var})
      *v = *make_constant(type, {static_cast<int64_t>(v->size())}, *v)->reals();
  }
  Value convolved(Graph& g, const std::vector<double>& weights, std::vector<Value> more) const {
    Value x = g.add_input({type, Shape{2, 3, 8, 8}});
    more.insert(more.begin(), {x, constant(g, type, {kOut, 3, 3, 3}, weights)});
    return call(g, "conv", more);
  }
  Graph separate() const {
    Graph g;
    std::vector<Value> operands{convolved(g, w, {})};
    for (const auto* v : {&scale, &bias, &mean, &var})
      operands.push_back(constant(g, type, {kOut}, *v));
    g.set_outputs({call(g, "tanh", {call(g, "batchnorm", operands)})});
    return g;
  }
  Graph folded(double fault) const {
    const double epsilon = find_op("batchnorm")->reals[0].fallback;
    std::vector<double> weights = w, shift = bias;
    for (size_t o = 0; o < kOut; ++o) {
      double factor = scale[o] / std::sqrt(var[o] + epsilon);
      for (size_t k = 0; k < kTaps; ++k)
        weights[o * kTaps + k] *= factor * (o == 2 ? 1 + fault : 1);
      shift[o] -= mean[o] * factor;
    }
    Graph g;
    Value b = constant(g, type, {kOut}, shift);
    g.set_outputs({call(g, "tanh", {convolved(g, weights, {b})})});
    return g;
  }
};

TEST(Tolerance, AcceptsConstantsRoundedToTheModelsType) {
  for (DType type : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    Normalised n(type);
    CheckReport r = check(n.separate(), n.folded(0));
    EXPECT_TRUE(r.agrees) << to_string(type) << ": " << r.max_ratio << " " << r.worst;
    EXPECT_GT(r.max_absolute, 0);
    EXPECT_GE(r.runs, kRegimes);
    EXPECT_TRUE(check(n.folded(0), n.separate()).agrees);
  }
}

TEST(Tolerance, SeesAFaultAboveTheTypesRounding) {
  const std::pair<DType, double> kFaults[] = {
      {DType::F64, 1e-11}, {DType::F32, 1e-5}, {DType::F16, 0.05}, {DType::BF16, 0.3}};
  for (auto [type, fault] : kFaults) {
    Normalised n(type);
    EXPECT_FALSE(check(n.separate(), n.folded(fault)).agrees) << to_string(type);
  }
}

/// Two channels, the second 1e5 times smaller.
Graph channels(double small) {
  Graph g;
  Value x = input(g, {4, 3});
  Value w = constant(g, DType::F32, {3, 2}, {1, 1e-5, -2, 2e-5, 0.5, small});
  g.set_outputs({call(g, "matmul", {x, w})});
  return g;
}

TEST(Tolerance, IsOfEachElement) {
  EXPECT_FALSE(check(channels(3e-5), channels(3.003e-5)).agrees);
  CheckReport r = check(channels(3e-5), channels(std::nextafterf(3e-5F, 1.0F)));
  EXPECT_TRUE(r.agrees);  // that is how it may have been rounded
  EXPECT_GT(r.max_absolute, 0);
}

TEST(Tolerance, IsTheEvaluationsWhereNoConstantWasRounded) {
  Graph a, b;
  for (Graph* g : {&a, &b}) {
    Value x = input(*g, {8}), half = g->add_constant(Constant::of_floats({1}, {0.5F}));
    Value y = call(*g, "mul", {x, half});
    if (g == &b) y = call(*g, "mul", {y, call(*g, "exp", {call(*g, "mul", {half, half})})});
    g->set_outputs({y});
  }
  EXPECT_FALSE(check(a, b).agrees);
}

TEST(Tolerance, KnowsThatFilesHaveAttributesInFloat32) {
  auto scaled = [](double alpha) {
    Graph g;
    Value x = g.add_input({DType::F64, Shape{3, 3}}), y = g.add_input({DType::F64, Shape{3, 3}});
    Attrs<Poly> attrs = default_attrs(*find_op("gemm"), 2);
    attrs.reals[0].value = alpha;
    g.set_outputs({{*g.add_call(*find_op("gemm"), {x, y}, attrs), 0}});
    return g;
  };
  EXPECT_TRUE(check(scaled(1 / 3.0), scaled(1 / 3.0F)).agrees);
  EXPECT_FALSE(check(scaled(1 / 3.0), scaled(1 / 3.0F * (1 + 1e-5F))).agrees);
  EXPECT_FALSE(check(scaled(1), scaled(1 + 0x1p-9)).agrees);
}

TEST(Tolerance, KnowsWhatCancellationLoses) {
  // (x + 1e6 y) - 1e6 y = x loses ten digits of what remains.
  Graph a, b;
  for (Graph* g : {&a, &b}) {
    Value x = input(*g, {64}), y = input(*g, {64});
    Value large = call(*g, "mul", {y, g->add_constant(Constant::of_floats({1}, {1e6F}))});
    Value sum = call(*g, "sub", {call(*g, "add", {x, large}), large});
    g->set_outputs({g == &a ? x : sum});
  }
  EXPECT_TRUE(check(a, b).agrees);
  EXPECT_TRUE(check(b, a).agrees);
}

/// Of many elements some are the same in a disturbed sample by chance.
TEST(Tolerance, KnowsWhatCancellationLosesOfManyElements) {
  Graph a, b;
  for (Graph* g : {&a, &b}) {
    Value x = input(*g, {512, 512}), result = call(*g, "gelu", {x});
    if (g == &a) {  // x/2 + x/2 erf(x / sqrt 2)
      Value half = call(*g, "mul", {x, g->add_constant(Constant::of_floats({}, {0.5F}))});
      Value root = g->add_constant(Constant::of_floats({}, {1.41421356F}));
      Value erf = call(*g, "erf", {call(*g, "div", {x, root})});
      result = call(*g, "add", {half, call(*g, "mul", {half, erf})});
    }
    g->set_outputs({result});
  }
  constexpr int kAllRegimes = 10;
  EXPECT_TRUE(check(a, b, kAllRegimes).agrees);
  EXPECT_TRUE(check(b, a, kAllRegimes).agrees);
}

TEST(Tolerance, KnowsThatAStepTurnsRoundingIntoAnything) {
  // The sign of (1/3 x + y) - y - 1/3 x, which is 0 but for rounding.
  Graph a, b;
  for (Graph* g : {&a, &b}) {
    Value x = input(*g, {64}), y = input(*g, {64});
    Value third = call(*g, "mul", {x, g->add_constant(Constant::of_floats({1}, {1 / 3.0F}))});
    Value sum = call(*g, "add", {g == &a ? third : y, g == &a ? y : third});
    Value rest = call(*g, "sub", {call(*g, "sub", {sum, y}), third});
    if (g == &b) rest = call(*g, "sub", {call(*g, "sub", {sum, third}), y});
    Value size = call(*g, "sqrt", {call(*g, "mul", {rest, rest})});
    Value least = g->add_constant(Constant::of_floats({1}, {1e-30F}));
    g->set_outputs({call(*g, "div", {rest, call(*g, "add", {size, least})})});
  }
  EXPECT_TRUE(check(a, b).agrees);
}

TEST(Comparison, NeedsASampleToExcuseADifference) {
  Array<double> x{{2}, {1, 1}}, y{{2}, {1, 1.001}};
  Comparison c(x, y, DType::F32, 0x1p-24);
  EXPECT_GT(c.ratio(), 1);
  c.sample_second({{2}, {2, 1.0011}});  // moves the first element, and the second too little
  EXPECT_GT(c.ratio(), 1);
  c.sample_first({{2}, {1, 0.9995}});
  EXPECT_LE(c.ratio(), 1);
}

TEST(Comparison, IntegersAreEqualOrNot) {
  Array<double> x{{2}, {3, 1 << 30}}, y{{2}, {3, (1 << 30) + 1}};
  EXPECT_TRUE(Comparison(x, x, DType::I64, 1).agrees());
  EXPECT_FALSE(Comparison(x, y, DType::I64, 1).agrees());
}

// --- ranges and regimes ---

Graph one_input(const Shape& shape, const std::function<Value(Graph&, Value)>& make,
                DType type = DType::F32) {
  Graph g;
  Value x = g.add_input({type, shape});
  g.set_outputs({make(g, x)});
  return g;
}

TEST(Regimes, StayInTheFormat) {
  for (DType type : {DType::F32, DType::F16})
    for (int k = 0; k < kRegimes; ++k) {
      double highest = type == DType::F16 ? 101 : 1.01e4;
      for (double v : random_tensor(type, {16, 16}, static_cast<Regime>(k), Rng(3)).data)
        EXPECT_LE(std::abs(v), highest) << to_string(static_cast<Regime>(k));
    }
  EXPECT_TRUE(random_tensor(DType::F32, {2, 0, 3}, Regime::Mixed, Rng(1)).data.empty());
}

TEST(Regimes, MixedRowsDiffer) {
  auto x = random_tensor(DType::F32, {64, 8}, Regime::Mixed, Rng(1));
  bool zero = false, equal = false, large = false;
  for (size_t row = 0; row < 64; ++row) {
    std::set<double> values(x.data.begin() + static_cast<long>(row) * 8,
                            x.data.begin() + static_cast<long>(row + 1) * 8);
    zero = zero || values.count(0) > 0;
    equal = equal || values.size() == 1;
    large = large || std::abs(*values.begin()) > 100;
  }
  EXPECT_TRUE(zero && equal && large);
}

TEST(Regimes, LeaveTheUnitInterval) {
  Graph same = one_input({4, 4}, [](Graph&, Value x) { return x; });
  Graph clipped = one_input({4, 4}, [](Graph& g, Value x) {
    Attrs<Poly> bounds{{}, {{-2, nullptr}, {2, nullptr}}};
    return Value{*g.add_call(*find_op("clip"), {x}, bounds), 0};
  });
  EXPECT_FALSE(check(clipped, same).agrees);
  EXPECT_FALSE(check(same, clipped).agrees);
  EXPECT_TRUE(check(same, clipped, 1).agrees);  // the first regime alone does not tell
}

TEST(Regimes, HaveExactZeros) {
  auto relu = [](Graph& g, Value x) { return call(g, "relu", {x}); };
  auto scaled = [](Graph& g, Value x) {
    return call(g, "mul", {call(g, "relu", {x}), call(g, "div", {x, x})});
  };
  EXPECT_FALSE(check(one_input({4, 4}, relu), one_input({4, 4}, scaled)).agrees);
  CheckReport r = check(one_input({4, 4}, scaled), one_input({4, 4}, relu));
  EXPECT_TRUE(r.agrees);  // nothing is claimed where the first graph divides by zero
  EXPECT_GT(r.elements_unclaimed, 0);
}

Value naive_softmax(Graph& g, Value x) {
  Value e = call(g, "exp", {x});
  return call(g, "div", {e, call(g, "reduce-sum", {e}, {{-1}, {1}})});
}

TEST(Ranges, AFiniteResultMustStayFinite) {
  auto softmax = [](Graph& g, Value x) { return call(g, "softmax", {x}); };
  for (DType type : {DType::F32, DType::F16, DType::BF16}) {
    Graph whole = one_input({4, 8}, softmax, type), parts = one_input({4, 8}, naive_softmax, type);
    EXPECT_FALSE(check(whole, parts).agrees) << to_string(type);
    CheckReport r = check(parts, whole);
    EXPECT_TRUE(r.agrees) << to_string(type) << r.worst;
    EXPECT_GT(r.elements_unclaimed, 0);
  }
}

/// clip(x * 1e4 * 1e-8, 0, 1), where the first product overflows in float16, or clip(x * 1e-4).
Graph clipped_products(bool two) {
  return one_input(
      {4, 8},
      [&](Graph& g, Value x) {
        Value y = call(g, "mul", {x, constant(g, DType::F16, {1}, {two ? 1e4 : 1e-4})});
        if (two)
          for (int k = 0; k < 2; ++k) y = call(g, "mul", {y, constant(g, DType::F16, {1}, {1e-4})});
        Attrs<Poly> bounds{{}, {{0, nullptr}, {1, nullptr}}};
        return Value{*g.add_call(*find_op("clip"), {y}, bounds), 0};
      },
      DType::F16);
}

TEST(Ranges, NothingIsClaimedBehindAnOverflowOfTheFirstGraph) {
  EXPECT_TRUE(check(clipped_products(true), clipped_products(false)).agrees);
  EXPECT_FALSE(check(clipped_products(false), clipped_products(true)).agrees);
}

// --- sizes ---

TEST(Sizes, AreDifferentForDifferentNamesAndZeroAtTheEnd) {
  Graph g = symbolic_sum("add");
  auto sizes = sizes_to_try(g, g);
  ASSERT_FALSE(sizes.empty());
  EXPECT_NE(sizes[0].by_name.at("batch"), sizes[0].by_name.at("length"));
  EXPECT_FALSE(sizes[0].zero);
  EXPECT_TRUE(sizes.back().zero);
}

TEST(Sizes, SeveralAreUsedAndReported) {
  Graph a = symbolic_sum("add"), b = symbolic_sum("add");
  b.set_outputs({call(b, "neg", {call(b, "neg", {b.outputs()[0]})})});
  CheckReport r = check(a, b, 1);
  EXPECT_TRUE(r.agrees);
  ASSERT_GE(r.sizes.size(), 3u);
  EXPECT_EQ(r.sizes.back().at("batch"), 0);
}

TEST(Sizes, EmptyTensorsAreOrdinary) {
  auto joined = [](Graph& g, Value x) {
    Value none = g.add_constant(Constant::of_floats({0, 3}, {}));
    return call(g, "concat", {x, none}, {{0}});
  };
  auto same = [](Graph&, Value x) { return x; };
  CheckReport r = check(one_input({2, 3}, joined), one_input({2, 3}, same));
  EXPECT_TRUE(r.agrees);
  EXPECT_EQ(incomplete(r), "");
  auto summed = [](Graph& g, Value x) { return call(g, "reduce-sum", {x}, {{0}, {1}}); };
  auto shifted = [](Graph& g, Value x) {
    Value one = g.add_constant(Constant::of_floats({1, 1}, {1}));
    return call(g, "add", {call(g, "reduce-sum", {x}, {{0}, {1}}), one});
  };
  EXPECT_TRUE(check(one_input({0, 3}, summed), one_input({0, 3}, summed)).agrees);
  EXPECT_FALSE(check(one_input({0, 3}, summed), one_input({0, 3}, shifted)).agrees);
}

Graph windowed(int64_t kernel) {
  Graph g;
  Poly side = Poly::symbol(g.pool().named("side"));
  Value x = input(g, {1, 1, side, side});
  Value y = call(g, "relu", {x});
  if (kernel > 0) y = call(g, "conv", {y, weight(g, {1, 1, kernel, 1})});
  g.set_outputs({y});
  return g;
}

TEST(Sizes, WhatOnlyOneGraphCanEvaluateIsADifference) {
  CheckReport r = check(windowed(0), windowed(5));
  EXPECT_FALSE(r.agrees);
  EXPECT_NE(r.worst.find("cannot be evaluated"), std::string::npos) << r.worst;
}

TEST(Sizes, WhatCannotBeEvaluatedIsNotCompared) {
  Graph a = windowed(1000), b = windowed(1000);
  b.set_outputs({call(b, "relu", {b.outputs()[0]})});
  CheckReport r = check(a, b);
  EXPECT_TRUE(r.agrees);
  EXPECT_EQ(r.runs, 0);
  EXPECT_EQ(r.outputs_not_compared, 1);
  EXPECT_NE(incomplete(r), "");
}

TEST(Sizes, AreBoundByMemory) {
  Graph a = sum("add", {64, 64}), b = sum("sub", {64, 64});
  CheckOptions options;
  options.max_bytes = 64 * 64 * 8 * 2;
  auto r = compare(a, b, options, Stop());
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->runs, 0);
  EXPECT_NE(r->unfinished.find("memory"), std::string::npos);
  EXPECT_NE(incomplete(*r), "");
  options.max_bytes *= 4;
  r = compare(a, b, options, Stop());
  ASSERT_TRUE(r.has_value());
  EXPECT_FALSE(r->agrees);
}

}  // namespace
}  // namespace regraft::rewrite
