// Constants that were computed, moved, joined and cut.
#include "verify/model/constants.h"

#include <cmath>

#include "tests/verify/models.h"
#include "verify/model/origins.h"

namespace regraft::verify {
namespace {

std::optional<Deviation> deviation_of(const Graph& g, Value a, Value b) {
  auto d = deviation(g, a, b, {});
  EXPECT_TRUE(d) << (d ? "" : d.error().message);
  return d ? *d : std::nullopt;
}

/// 1 / 3, 2 / 3 as one model computes it, and a constant.
std::optional<Deviation> of_quotient(std::vector<float> data) {
  Graph g;
  Value a = call(g, "div", {floats(g, {2}, {1, 2}), floats(g, {1}, {3})});
  return deviation_of(g, a, floats(g, {2}, data));
}

TEST(Deviation, RoundingIsExplained) {
  float third = 1 / 3.0F, both = 2 / 3.0F;
  auto d = of_quotient({third, both});
  ASSERT_TRUE(d);
  EXPECT_TRUE(d->explained());
  EXPECT_GT(d->deviation, 0);
  EXPECT_LT(d->deviation, 1e-7);
  auto next = of_quotient({std::nextafter(third, 1.0F), both});
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->explained());
}

TEST(Deviation, MoreThanRoundingIsNot) {
  for (float factor : {1 + 1e-5F, 1 - 1e-5F, 1.001F, -1.0F, 0.0F}) {
    auto d = of_quotient({factor / 3, 2 / 3.0F});
    ASSERT_TRUE(d);
    EXPECT_FALSE(d->explained()) << factor;
  }
}

TEST(Deviation, OfWhatWasNotComputedNothingIs) {
  Graph g;
  Value a = floats(g, {2}, {1, 2}), b = floats(g, {2}, {1, std::nextafter(2.0F, 3.0F)});
  EXPECT_TRUE(deviation_of(g, a, a)->explained());
  EXPECT_FALSE(deviation_of(g, a, b)->explained());
}

TEST(Deviation, OtherShapesHaveNone) {
  Graph g;
  EXPECT_FALSE(deviation_of(g, floats(g, {2}, {1, 2}), floats(g, {1, 2}, {1, 2})));
}

TEST(Deviation, LargeIntegersAreNotCompared) {
  Graph g;
  int64_t large = int64_t{1} << 53;
  Value a = g.add_constant(Constant::of_ints({1}, {large}));
  Value b = g.add_constant(Constant::of_ints({1}, {large + 1}));
  EXPECT_FALSE(deviation_of(g, a, b));
  Value c = g.add_constant(Constant::of_ints({1}, {5}));
  Value d = g.add_constant(Constant::of_ints({1}, {6}));
  EXPECT_TRUE(deviation_of(g, c, c)->explained());
  EXPECT_FALSE(deviation_of(g, c, d)->explained());
}

TEST(Deviation, WhatIsNotFiniteIsEqualOrNot) {
  float inf = HUGE_VALF;
  Graph g;
  Value a = call(g, "mul", {floats(g, {2}, {inf, 1}), floats(g, {1}, {2})});
  EXPECT_TRUE(deviation_of(g, a, floats(g, {2}, {inf, 2}))->explained());
  for (float other : {-inf, 1.0F, 3e38F, NAN}) {
    auto d = deviation_of(g, a, floats(g, {2}, {other, 2}));
    EXPECT_TRUE(!d || !d->explained()) << other;
  }
  EXPECT_FALSE(deviation_of(g, a, floats(g, {2}, {inf, inf}))->explained());
}

/// x w against x w', and what the sweep makes of it.
SweepReport of_weights(const std::function<Value(Graph&)>& first,
                       const std::function<Value(Graph&)>& second, SweepOptions options = {},
                       int64_t columns = 4) {
  auto make = [&](const auto& weight) {
    Graph g;
    Value x = rows(g, columns);
    g.set_outputs({call(g, "matmul", {x, weight(g)})});
    return g;
  };
  Pair p = joined(make(first), make(second));
  EXPECT_NE(p.a, p.b);
  EXPECT_TRUE(find_origins(p));
  return swept(p, options);
}
using Output = SweepReport::Output;

std::vector<float> counted(int n, float from = 1) {
  std::vector<float> v(static_cast<size_t>(n));
  for (size_t k = 0; k < v.size(); ++k) v[k] = from + 0.37F * static_cast<float>(k);
  return v;
}
std::vector<float> transposed(const std::vector<float>& v, size_t m, size_t n) {
  std::vector<float> t(v.size());
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) t[j * m + i] = v[i * n + j];
  return t;
}

TEST(Origins, ATransposedWeight) {
  auto data = counted(12);
  auto first = [&](Graph& g) {
    return call(g, "transpose", {floats(g, {3, 4}, data)}, {{Poly(1), Poly(0)}});
  };
  auto good = [&](Graph& g) { return floats(g, {4, 3}, transposed(data, 3, 4)); };
  auto bad = [&](Graph& g) { return floats(g, {4, 3}, data); };  // only the shape was changed
  EXPECT_NE(of_weights(first, good).outputs[0], Output::Unproved);
  EXPECT_NE(of_weights(first, good).outputs[0], Output::Rounded);
  EXPECT_EQ(of_weights(first, bad).outputs[0], Output::Unproved);
}

TEST(Origins, WeightsThatWereJoined) {
  auto one = counted(8), two = counted(8, 9);
  auto first = [&](Graph& g) {
    return call(g, "concat", {floats(g, {2, 4}, one), floats(g, {2, 4}, two)}, {{Poly(0)}});
  };
  auto joined_data = [](std::vector<float> x, const std::vector<float>& y) {
    x.insert(x.end(), y.begin(), y.end());
    return x;
  };
  auto good = [&](Graph& g) { return floats(g, {4, 4}, joined_data(one, two)); };
  auto bad = [&](Graph& g) { return floats(g, {4, 4}, joined_data(two, one)); };
  EXPECT_NE(of_weights(first, good).outputs[0], Output::Unproved);
  EXPECT_EQ(of_weights(first, bad).outputs[0], Output::Unproved);
}

TEST(Origins, APartOfAWeight) {
  auto data = counted(24);
  auto first = [&](Graph& g) {
    return call(g, "slice", {floats(g, {6, 4}, data)},
                {{Poly(1), Poly(0)}, {Poly(4), Poly(4)}, {Poly(1), Poly(1)}});
  };
  auto part = [&](int from) {
    return [&data, from](Graph& g) {
      return floats(g, {4, 4}, {data.begin() + from, data.begin() + from + 16});
    };
  };
  EXPECT_NE(of_weights(first, part(4)).outputs[0], Output::Unproved);
  EXPECT_EQ(of_weights(first, part(8)).outputs[0], Output::Unproved);
}

TEST(Origins, AnIdentityMatrix) {
  std::vector<float> identity(16, 0);
  for (size_t k = 0; k < 4; ++k) identity[5 * k] = 1;
  auto make = [&](bool with, float diagonal) {
    Graph g;
    Value x = call(g, "relu", {rows(g)});
    auto data = identity;
    data[15] = diagonal;
    g.set_outputs({with ? call(g, "matmul", {x, floats(g, {4, 4}, data)}) : x});
    return g;
  };
  auto verdict = [&](float diagonal) {
    Pair p = joined(make(false, 1), make(true, diagonal));
    EXPECT_TRUE(find_origins(p));
    return swept(p).outputs[0];
  };
  EXPECT_NE(verdict(1), Output::Unproved);
  EXPECT_EQ(verdict(1.001F), Output::Unproved);
}

TEST(Origins, AComputedWeightIsRoundedOrExact) {
  auto data = counted(16);
  std::vector<float> thirds = data;
  for (float& x : thirds) x /= 3;
  auto first = [&](Graph& g) {
    return call(g, "div", {floats(g, {4, 4}, data), floats(g, {1}, {3})});
  };
  auto second = [&](Graph& g) { return floats(g, {4, 4}, thirds); };
  EXPECT_EQ(of_weights(first, second).outputs[0], Output::Rounded);
  SweepOptions exact;
  exact.constants = false;
  EXPECT_EQ(of_weights(first, second, exact).outputs[0], Output::Unproved);
  thirds[7] *= 1.0001F;
  EXPECT_EQ(of_weights(first, second).outputs[0], Output::Unproved);
}

}  // namespace
}  // namespace regraft::verify
