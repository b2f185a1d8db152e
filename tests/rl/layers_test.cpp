#include "rl/nn/layers.h"

#include <numbers>

#include "rl/nn/adam.h"
#include "rl/nn/init.h"
#include "tests/rl/differences.h"

namespace regraft::rl::nn {
namespace {

using T = Tape<double>;
using M = Matrix<double>;

TEST(Init, NormalHasMeanZeroAndSpreadOne) {
  Rng rng(3);
  double sum = 0, squares = 0, fourths = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double x = normal(rng);
    sum += x, squares += x * x, fourths += x * x * x * x;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
  EXPECT_NEAR(fourths / n, 3, 0.1);
}

TEST(Init, OrthogonalKeepsLengths) {
  Rng rng(3);
  const M tall = orthogonal(7, 4, 3, rng), wide = orthogonal(4, 7, 0.5, rng);
  EXPECT_TRUE((tall.transpose() * tall).isApprox(9 * M::Identity(4, 4), 1e-12));
  EXPECT_TRUE((wide * wide.transpose()).isApprox(0.25 * M::Identity(4, 4), 1e-12));
  EXPECT_FALSE(tall.isApprox(orthogonal(7, 4, 3, rng), 0.1));
  const M scaled = scaled_normal(400, 300, 2, rng);
  EXPECT_NEAR(std::sqrt(scaled.squaredNorm() / 120000.0), 2 / 20.0, 0.002);
}

TEST(Layers, MlpGradientAndShape) {
  Rng rng(5);
  Parameters<double> p;
  const Mlp mlp = Mlp::make(p, rng, "mlp", {6, 8, 8, 2}, {.last_gain = 0.5, .norm = Norm::rms});
  const Mlp plain = Mlp::make(p, rng, "plain", {2, 3, 1}, {.init = Init::scaled_normal});
  EXPECT_EQ(p.count(), 6 + 6 * 8 + 8 + 8 * 8 + 8 + 8 * 2 + 2 + 2 * 3 + 3 + 3 + 1);
  const M last = p.value(p.find("mlp.2.w"));
  EXPECT_TRUE((last.transpose() * last).isApprox(0.25 * M::Identity(2, 2), 1e-12));
  const M x = random_matrix(5, 6, rng);
  auto loss = [&](T& t) { return weighted(t, plain(t, mlp(t, t.constant(x)))); };
  EXPECT_LT(worst_error(p, loss), 1e-6);
}

TEST(Layers, LstmGradientThroughSteps) {
  Rng rng(5);
  Parameters<double> p;
  const Lstm lstm = Lstm::make(p, rng, "lstm", 3, 4);
  EXPECT_EQ(p.value(lstm.bias).middleCols(4, 4), M::Ones(1, 4));
  EXPECT_EQ(p.value(lstm.bias).sum(), 4);
  std::vector<M> xs;
  for (int step = 0; step < 5; ++step) xs.push_back(random_matrix(2, 3, rng));
  auto loss = [&](T& t) {
    Lstm::State s = lstm.start(t, 2);
    for (const M& x : xs) s = lstm(t, t.constant(x), s);
    return t.add(weighted(t, s.h), weighted(t, s.c));
  };
  EXPECT_LT(worst_error(p, loss), 1e-6);
}

TEST(Layers, LstmStepIsTheFormula) {
  Rng rng(6);
  Parameters<double> p;
  const Lstm lstm = Lstm::make(p, rng, "lstm", 1, 1);
  T t(p, nullptr);
  auto at = [](double v) -> M { return M::Constant(1, 1, v); };
  const Lstm::State s = lstm(t, t.constant(at(0.4)), {t.constant(at(-0.3)), t.constant(at(0.8))});
  const M gates = 0.4 * p.value(lstm.input) - 0.3 * p.value(lstm.recurrent) + p.value(lstm.bias);
  auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const double c = sigmoid(gates(0, 1)) * 0.8 + sigmoid(gates(0, 0)) * std::tanh(gates(0, 2));
  EXPECT_NEAR(t.scalar(s.c), c, 1e-14);
  EXPECT_NEAR(t.scalar(s.h), sigmoid(gates(0, 3)) * std::tanh(c), 1e-14);
}

/// -log sum_k pi_k prod_j N(x_j; mu_kj, sigma_kj), as it is written.
double direct_likelihood(const Mixture& mix, const M& raw, const M& x) {
  const int64_t all = mix.components * mix.dimensions;
  double total = 0, weights = 0;
  for (int64_t k = 0; k < mix.components; ++k) weights += std::exp(raw(0, k));
  for (int64_t k = 0; k < mix.components; ++k) {
    double density = std::exp(raw(0, k)) / weights;
    for (int64_t j = 0; j < mix.dimensions; ++j) {
      const int64_t at = mix.components + k * mix.dimensions + j;
      const double sigma = std::exp(raw(0, at + all)), z = (x(0, j) - raw(0, at)) / sigma;
      density *= std::exp(-z * z / 2) / (sigma * std::sqrt(2 * std::numbers::pi));
    }
    total += density;
  }
  return -std::log(total);
}

TEST(Mixture, LikelihoodIsTheFormulaAndHasItsGradient) {
  Rng rng(8);
  const Mixture mix{.components = 3, .dimensions = 2};
  Parameters<double> p;
  const int raw = p.add("raw", 4, mix.width()), x = p.add("x", 4, 2);
  p.value(raw) = random_matrix(4, mix.width(), rng);
  p.value(x) = random_matrix(4, 2, rng);
  T t(p, nullptr);
  const M nll = t.value(mix.negative_log_likelihood(t, t.parameter(raw), t.parameter(x)));
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(nll(i, 0), direct_likelihood(mix, p.value(raw).row(i), p.value(x).row(i)), 1e-12);
  auto loss = [&](T& tape) {
    return weighted(tape,
                    mix.negative_log_likelihood(tape, tape.parameter(raw), tape.parameter(x)));
  };
  EXPECT_LT(worst_error(p, loss), 1e-6);
}

struct Moments {
  double share, mean, spread;  // of the second component: its share of samples, mean, deviation
};

/// Two components of one dimension at -50 and 70, far apart; logits 0 and log 3, sigmas 1 and 2.
Moments sampled(double tau) {
  const Mixture mix{.components = 2, .dimensions = 1};
  M raw(1, 6);
  raw << 0, std::log(3.0), -50, 70, 0, std::log(2.0);
  Rng rng(11);
  const int n = 40000;
  const M x = mix.sample<double>(raw.replicate(n, 1), tau, rng);
  double count = 0, sum = 0, squares = 0;
  for (int i = 0; i < n; ++i)
    if (x(i, 0) > 0) count += 1, sum += x(i, 0), squares += (x(i, 0) - 70) * (x(i, 0) - 70);
  return {count / n, sum / count, std::sqrt(squares / count)};
}

TEST(Mixture, SamplesFollowTheDensityAndTheTemperature) {
  const Moments plain = sampled(1), cold = sampled(0.25);
  EXPECT_NEAR(plain.share, 0.75, 0.01);
  EXPECT_NEAR(plain.mean, 70, 0.05);
  EXPECT_NEAR(plain.spread, 2, 0.04);
  EXPECT_NEAR(cold.share, 81.0 / 82, 0.005);  // 3^4 : 1
  EXPECT_NEAR(cold.mean, 70, 0.05);
  EXPECT_NEAR(cold.spread, 1, 0.02);
}

TEST(Mixture, ClampsItsDeviations) {
  const Mixture mix{.components = 1, .dimensions = 1, .low_log_sigma = -1, .high_log_sigma = 1};
  const Parameters<double> none;
  T t(none, nullptr);
  M raw(2, 3), clamped(2, 3);
  raw << 0, 0, -9, 0, 0, 9;
  clamped << 0, 0, -1, 0, 0, 1;
  Var x = t.constant(M::Constant(2, 1, 0.5));
  EXPECT_EQ(t.value(mix.negative_log_likelihood(t, t.constant(raw), x)),
            t.value(mix.negative_log_likelihood(t, t.constant(clamped), x)));
}

TEST(Adam, TwoStepsByHand) {
  Parameters<double> p;
  p.add("x", 1, 1);
  p.value(0)(0, 0) = 1;
  Adam<double> adam(p, {.beta1 = 0.9, .beta2 = 0.99, .epsilon = 0.5, .weight_decay = 0.2});
  Gradients<double> g(p);
  g.value(0)(0, 0) = 2;
  adam.step(p, g, 0.1);
  // m = 0.2, v = 0.04; corrected 2 and 4; x = 0.98 - 0.1 * 2 / (2 + 0.5)
  EXPECT_NEAR(p.value(0)(0, 0), 0.9, 1e-14);
  g.value(0)(0, 0) = -1;
  adam.step(p, g, 0.1);
  // m = 0.18 - 0.1 = 0.08, v = 0.0396 + 0.01 = 0.0496; corrected by 0.19 and 0.0199
  const double second = 0.9 * 0.98 - 0.1 * (0.08 / 0.19) / (std::sqrt(0.0496 / 0.0199) + 0.5);
  EXPECT_NEAR(p.value(0)(0, 0), second, 1e-14);
  EXPECT_EQ(adam.steps, 2);
}

TEST(Adam, LearnsTheExclusiveOr) {
  Rng rng(1);
  Parameters<float> p;
  const Mlp mlp = Mlp::make(p, rng, "mlp", {2, 16, 1});
  Adam<float> adam(p);
  Gradients<float> g(p);
  Tape<float> t(p, &g);
  Matrix<float> x(4, 2), y(4, 1);
  x << 0, 0, 0, 1, 1, 0, 1, 1;
  y << 0, 1, 1, 0;
  float loss = 1;
  for (int i = 0; i < 500; ++i) {
    t.reset();
    g.zero();
    Var error = t.mean(t.square(t.sub(mlp(t, t.constant(x)), t.constant(y))));
    loss = t.scalar(error);
    t.backward(error);
    adam.step(p, g, 0.01);
  }
  EXPECT_LT(loss, 1e-3);
}

}  // namespace
}  // namespace regraft::rl::nn
