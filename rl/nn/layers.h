#pragma once
// Layers: indices of parameters, made once and applied on any tape. S is float or double.
#include <string>
#include <vector>

#include "base/rng.h"
#include "rl/nn/tape.h"

namespace regraft::rl::nn {

enum class Init { orthogonal, scaled_normal };
enum class Norm { none, rms };

/// x W + b, W: inputs x outputs; at first b = 0. Parameters <name>.w, <name>.b.
struct Linear {
  int weight = -1, bias = -1;

  template <class S>
  static Linear make(Parameters<S>& p, Rng& rng, const std::string& name, int64_t inputs,
                     int64_t outputs, double gain, Init init = Init::orthogonal);
  template <class S>
  Var operator()(Tape<S>& t, Var x) const {
    return t.linear(x, t.parameter(weight), t.parameter(bias));
  }
};

struct MlpOptions {
  Init init = Init::orthogonal;
  double hidden_gain = 1.4142135623730951;  // keeps the variance through relu
  double last_gain = 1;
  Norm norm = Norm::none;  // of the input, with a learned gain <name>.gain
};

/// Linear layers with relu between them; none after the last.
struct Mlp {
  std::vector<Linear> layers;
  int gain = -1;  // -1: the input is taken as it is

  /// REQUIRES: two widths at least: of the input, of hidden layers, of the output.
  template <class S>
  static Mlp make(Parameters<S>& p, Rng& rng, const std::string& name,
                  const std::vector<int64_t>& widths, const MlpOptions& options = {});
  template <class S>
  Var operator()(Tape<S>& t, Var x) const;
};

/// Long short-term memory (Hochreiter & Schmidhuber 1997); the forget gate's bias begins at 1.
struct Lstm {
  struct State {
    Var h, c;  // batch x hidden each
  };
  int input = -1, recurrent = -1, bias = -1;  // gates in the order input, forget, cell, output
  int64_t hidden = 0;

  template <class S>
  static Lstm make(Parameters<S>& p, Rng& rng, const std::string& name, int64_t inputs,
                   int64_t hidden);
  /// Zeros.
  template <class S>
  State start(Tape<S>& t, int64_t batch) const;
  /// One step; x: batch x inputs.
  template <class S>
  State operator()(Tape<S>& t, Var x, State before) const;
};

/// Mixture density (Bishop 1994) of diagonal Gaussians over vectors. A row of width() numbers holds
/// the components' logits, then their means, then their log standard deviations, clamped.
struct Mixture {
  int64_t components = 1, dimensions = 1;
  double low_log_sigma = -6, high_log_sigma = 3;

  int64_t width() const { return components * (2 * dimensions + 1); }
  /// A column: -log density of each row of target (n x dimensions) under that row of raw.
  template <class S>
  Var negative_log_likelihood(Tape<S>& t, Var raw, Var target) const;
  /// A vector for each row, at temperature tau (Ha & Schmidhuber 2018): logits / tau, noise *
  /// sqrt(tau). REQUIRES: tau > 0.
  template <class S>
  Matrix<S> sample(const Matrix<S>& raw, double tau, Rng& rng) const;
};

}  // namespace regraft::rl::nn
