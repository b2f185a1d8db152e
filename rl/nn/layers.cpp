#include "rl/nn/layers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "rl/nn/init.h"

namespace regraft::rl::nn {
namespace {

Matrix<double> weights(Init init, int64_t rows, int64_t cols, double gain, Rng& rng) {
  return init == Init::orthogonal ? orthogonal(rows, cols, gain, rng)
                                  : scaled_normal(rows, cols, gain, rng);
}

template <class S>
int add(Parameters<S>& p, const std::string& name, const Matrix<double>& m) {
  const int i = p.add(name, m.rows(), m.cols());
  p.value(i) = m.template cast<S>();
  return i;
}

/// blocks x width columns to blocks columns: sums of neighbours.
template <class S>
Matrix<S> block_sum(int64_t blocks, int64_t width) {
  Matrix<S> m = Matrix<S>::Zero(blocks * width, blocks);
  for (int64_t k = 0; k < blocks; ++k) m.block(k * width, k, width, 1).setOnes();
  return m;
}

/// Drawn with probability proportional to exp(logit / tau).
template <class Row>
int64_t draw(const Row& logits, double tau, Rng& rng) {
  const double top = logits.maxCoeff();
  std::vector<double> up_to;
  double sum = 0;
  for (Eigen::Index k = 0; k < logits.size(); ++k)
    up_to.push_back(sum += std::exp((static_cast<double>(logits(k)) - top) / tau));
  const double at = rng.unit() * sum;
  const auto found = std::upper_bound(up_to.begin(), up_to.end() - 1, at);
  return found - up_to.begin();
}

}  // namespace

template <class S>
Linear Linear::make(Parameters<S>& p, Rng& rng, const std::string& name, int64_t inputs,
                    int64_t outputs, double gain, Init init) {
  return {add(p, name + ".w", weights(init, inputs, outputs, gain, rng)),
          p.add(name + ".b", 1, outputs)};
}

template <class S>
Mlp Mlp::make(Parameters<S>& p, Rng& rng, const std::string& name,
              const std::vector<int64_t>& widths, const MlpOptions& options) {
  CHECK(widths.size() >= 2);
  Mlp mlp;
  if (options.norm == Norm::rms)
    mlp.gain = add(p, name + ".gain", Matrix<double>::Ones(1, widths[0]));
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    const double gain = i + 2 == widths.size() ? options.last_gain : options.hidden_gain;
    mlp.layers.push_back(Linear::make(p, rng, name + "." + std::to_string(i), widths[i],
                                      widths[i + 1], gain, options.init));
  }
  return mlp;
}

template <class S>
Var Mlp::operator()(Tape<S>& t, Var x) const {
  if (gain >= 0) x = t.mul_row(t.rms_norm(x), t.parameter(gain));
  for (size_t i = 0; i < layers.size(); ++i) {
    if (i > 0) x = t.relu(x);
    x = layers[i](t, x);
  }
  return x;
}

template <class S>
Lstm Lstm::make(Parameters<S>& p, Rng& rng, const std::string& name, int64_t inputs,
                int64_t hidden) {
  Lstm lstm{add(p, name + ".x", orthogonal(inputs, 4 * hidden, 1, rng)),
            add(p, name + ".h", orthogonal(hidden, 4 * hidden, 1, rng)),
            p.add(name + ".b", 1, 4 * hidden), hidden};
  p.value(lstm.bias).middleCols(hidden, hidden).setOnes();
  return lstm;
}

template <class S>
Lstm::State Lstm::start(Tape<S>& t, int64_t batch) const {
  return {t.constant(Matrix<S>::Zero(batch, hidden)), t.constant(Matrix<S>::Zero(batch, hidden))};
}

template <class S>
Lstm::State Lstm::operator()(Tape<S>& t, Var x, State before) const {
  Var gates = t.add(t.linear(x, t.parameter(input), t.parameter(bias)),
                    t.matmul(before.h, t.parameter(recurrent)));
  auto gate = [&](int k) { return t.slice_columns(gates, k * hidden, hidden); };
  Var kept = t.mul(t.sigmoid(gate(1)), before.c);
  Var c = t.add(kept, t.mul(t.sigmoid(gate(0)), t.tanh(gate(2))));
  return {t.mul(t.sigmoid(gate(3)), t.tanh(c)), c};
}

template <class S>
Var Mixture::negative_log_likelihood(Tape<S>& t, Var raw, Var target) const {
  CHECK(t.cols(raw) == width() && t.cols(target) == dimensions && t.rows(raw) == t.rows(target));
  const int64_t all = components * dimensions;
  Var means = t.slice_columns(raw, components, all);
  Var log_sigma = t.clamp(t.slice_columns(raw, components + all, all),
                          static_cast<S>(low_log_sigma), static_cast<S>(high_log_sigma));
  Var copies = t.concat_columns(std::vector<Var>(components, target));
  Var z = t.mul(t.sub(copies, means), t.exp(t.scale(log_sigma, S(-1))));
  Var terms = t.add(t.scale(t.square(z), S(0.5)), log_sigma);
  Var sums = t.matmul(terms, t.constant(block_sum<S>(components, dimensions)));
  Var logits = t.log_softmax_rows(t.slice_columns(raw, 0, components));
  const double normaliser = 0.5 * static_cast<double>(dimensions) * std::log(2 * std::numbers::pi);
  return t.add_scalar(t.scale(t.row_log_sum_exp(t.sub(logits, sums)), S(-1)),
                      static_cast<S>(normaliser));
}

template <class S>
Matrix<S> Mixture::sample(const Matrix<S>& raw, double tau, Rng& rng) const {
  CHECK(raw.cols() == width() && tau > 0);
  Matrix<S> out(raw.rows(), dimensions);
  for (Eigen::Index i = 0; i < raw.rows(); ++i) {
    const int64_t k = draw(raw.row(i).head(components), tau, rng);
    const int64_t mean = components + k * dimensions;
    for (int64_t j = 0; j < dimensions; ++j) {
      const double log_sigma = raw(i, mean + components * dimensions + j);
      const double sigma = std::exp(std::clamp(log_sigma, low_log_sigma, high_log_sigma));
      out(i, j) = static_cast<S>(raw(i, mean + j) + sigma * std::sqrt(tau) * normal(rng));
    }
  }
  return out;
}

#define INSTANTIATE(S)                                                                             \
  template Linear Linear::make(Parameters<S>&, Rng&, const std::string&, int64_t, int64_t, double, \
                               Init);                                                              \
  template Mlp Mlp::make(Parameters<S>&, Rng&, const std::string&, const std::vector<int64_t>&,    \
                         const MlpOptions&);                                                       \
  template Var Mlp::operator()(Tape<S>&, Var) const;                                               \
  template Lstm Lstm::make(Parameters<S>&, Rng&, const std::string&, int64_t, int64_t);            \
  template Lstm::State Lstm::start(Tape<S>&, int64_t) const;                                       \
  template Lstm::State Lstm::operator()(Tape<S>&, Var, State) const;                               \
  template Var Mixture::negative_log_likelihood(Tape<S>&, Var, Var) const;                         \
  template Matrix<S> Mixture::sample(const Matrix<S>&, double, Rng&) const;
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace regraft::rl::nn
