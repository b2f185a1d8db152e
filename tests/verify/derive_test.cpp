// Constants that an optimiser computed from those of the first model.
#include "verify/model/derive.h"

#include <cmath>

#include "tests/verify/models.h"

namespace regraft::verify {
namespace {

using Floats = std::vector<float>;

constexpr int64_t kIn = 3, kOut = 2;
const Floats kWeights = {0.3F, -1.7F, 2.9F, 0.11F, -0.7F, 1.3F};  // [kIn, kOut]
const Floats kBias = {0.37F, -1.1F};

/// x W + b
Value linear(Graph& g, Value x, const Floats& weights, const Floats& bias) {
  Value product = call(g, "matmul", {x, floats(g, {kIn, kOut}, weights)});
  return call(g, "add", {product, floats(g, {kOut}, bias)});
}
Graph plain(const Floats& weights, const Floats& bias) {
  Graph g;
  g.set_outputs({linear(g, rows(g, kIn), weights, bias)});
  return g;
}

Pair derived(const Graph& a, const Graph& b) {
  Pair pair = joined(a, b);
  auto done = derive_constants(pair, {});
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  return pair;
}
SweepReport::Output verdict(const Graph& a, const Graph& b) {
  return swept(derived(a, b), {}, Evaluated::Constants).outputs[0];
}
/// With each pair of constants: as they were computed, and with one wrong element.
void expect_explained(const Graph& a, const std::function<Graph(Floats, Floats)>& make,
                      const Floats& weights, const Floats& bias) {
  EXPECT_EQ(verdict(a, make(weights, bias)), SweepReport::Rounded);
  for (size_t k = 0; k < weights.size(); ++k) {
    Floats wrong = weights;
    wrong[k] *= 1.01F;
    EXPECT_EQ(verdict(a, make(wrong, bias)), SweepReport::Unproved) << "weight " << k;
  }
  for (size_t k = 0; k < bias.size(); ++k) {
    Floats wrong = bias;
    wrong[k] *= 1.01F;
    EXPECT_EQ(verdict(a, make(weights, wrong)), SweepReport::Unproved) << "bias " << k;
  }
}

TEST(Derive, FoldedBatchNormalization) {
  const Floats scale = {1.3F, 0.7F}, shift = {0.21F, -0.4F}, mean = {0.13F, 0.9F},
               variance = {0.6F, 2.3F};
  constexpr double kEpsilon = 1e-3;
  Graph a;
  Value y = linear(a, rows(a, kIn), kWeights, kBias);
  std::vector<Value> operands = {y};
  for (const Floats& v : {scale, shift, mean, variance}) operands.push_back(floats(a, {kOut}, v));
  a.set_outputs({call(a, "batchnorm", operands, {}, {kEpsilon})});
  Floats weights = kWeights, bias = kBias;
  for (size_t c = 0; c < kOut; ++c) {
    float factor = scale[c] / std::sqrt(variance[c] + static_cast<float>(kEpsilon));
    for (size_t k = 0; k < kIn; ++k) weights[k * kOut + c] *= factor;
    bias[c] = (bias[c] - mean[c]) * factor + shift[c];
  }
  expect_explained(a, plain, weights, bias);
}

TEST(Derive, ScalarIntoTransposedWeights) {
  const float factor = 0.17677669F;
  Graph a;
  a.set_outputs(
      {call(a, "mul", {linear(a, rows(a, kIn), kWeights, kBias), floats(a, {}, {factor})})});
  Floats turned(kWeights.size()), bias = kBias;
  for (size_t k = 0; k < kIn; ++k)
    for (size_t c = 0; c < kOut; ++c) turned[c * kIn + k] = kWeights[k * kOut + c] * factor;
  for (float& x : bias) x *= factor;
  auto make = [](const Floats& weights, const Floats& addend) {
    Graph g;
    Value w = call(g, "transpose", {floats(g, {kOut, kIn}, weights)}, {{1, 0}});
    Value product = call(g, "matmul", {rows(g, kIn), w});
    g.set_outputs({call(g, "add", {product, floats(g, {kOut}, addend)})});
    return g;
  };
  expect_explained(a, make, turned, bias);
}

TEST(Derive, GammaAndBetaIntoTheNextProduct) {
  const Floats gamma = {1.3F, 0.7F, -0.45F}, beta = {0.21F, -0.4F, 0.9F};
  Graph a;
  Value x = call(a, "tanh", {rows(a, kIn)});
  Value affine =
      call(a, "add", {call(a, "mul", {x, floats(a, {kIn}, gamma)}), floats(a, {kIn}, beta)});
  a.set_outputs({linear(a, affine, kWeights, kBias)});
  Floats weights = kWeights, bias = kBias;
  for (size_t k = 0; k < kIn; ++k)
    for (size_t c = 0; c < kOut; ++c) {
      bias[c] += beta[k] * kWeights[k * kOut + c];
      weights[k * kOut + c] *= gamma[k];
    }
  auto make = [](const Floats& w, const Floats& b) {
    Graph g;
    g.set_outputs({linear(g, call(g, "tanh", {rows(g, kIn)}), w, b)});
    return g;
  };
  expect_explained(a, make, weights, bias);
}

TEST(Derive, ScaleOfEachColumn) {
  const Floats gamma = {1.3F, -0.7F};
  Graph a;
  Value y = linear(a, rows(a, kIn), kWeights, kBias);
  a.set_outputs({call(a, "mul", {y, floats(a, {kOut}, gamma)})});
  Floats weights = kWeights, bias = kBias;
  for (size_t k = 0; k < weights.size(); ++k) weights[k] *= gamma[k % kOut];
  for (size_t c = 0; c < kOut; ++c) bias[c] *= gamma[c];
  expect_explained(a, plain, weights, bias);
}

TEST(Derive, NothingOfUnrelatedConstants) {
  Floats weights = kWeights, bias = kBias;
  std::swap(weights[0], weights[1]);
  for (float& x : weights) x += 0.5F;
  bias[0] += 0.5F;
  Pair pair = derived(plain(kWeights, kBias), plain(weights, bias));
  EXPECT_TRUE(pair.derived.empty());
  EXPECT_EQ(swept(pair).outputs[0], SweepReport::Unproved);
}

TEST(Derive, SameTwiceAndCheckedAnew) {
  const Floats factor = {0.17677669F};
  Graph a;
  Value y = linear(a, rows(a, kIn), kWeights, kBias);
  a.set_outputs({call(a, "mul", {y, floats(a, {}, factor)})});
  Floats weights = kWeights, bias = kBias;
  for (float& x : weights) x *= factor[0];
  for (float& x : bias) x *= factor[0];
  Pair one = derived(a, plain(weights, bias)), other = derived(a, plain(weights, bias));
  ASSERT_EQ(one.derived.size(), 2u);
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(one.derived[k].a, other.derived[k].a);
    EXPECT_EQ(one.derived[k].b, other.derived[k].b);
    EXPECT_TRUE(one.derived[k].deviation.explained());
    EXPECT_FALSE(one.is_b(one.derived[k].a));
  }
  SweepReport made = swept(one, {}, Evaluated::Constants);
  auto checked = check_merges(other, made.merges, {}, {});
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->outputs[0], SweepReport::Rounded);
}

}  // namespace
}  // namespace regraft::verify
