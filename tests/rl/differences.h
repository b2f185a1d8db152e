#pragma once
// Central differences in double, against which gradients are held.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/rng.h"
#include "rl/nn/tape.h"

namespace regraft::rl::nn {

using Loss = std::function<Var(Tape<double>&)>;

inline Matrix<double> random_matrix(int64_t rows, int64_t cols, Rng& rng, double low = -1.5,
                                    double high = 1.5) {
  Matrix<double> m(rows, cols);
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = low + (high - low) * rng.unit();
  return m;
}

/// Any matrix made a scalar, each entry with another weight.
inline Var weighted(Tape<double>& t, Var v) {
  Rng rng(99);
  return t.sum(t.mul(v, t.constant(random_matrix(t.rows(v), t.cols(v), rng))));
}

inline double loss_at(const Parameters<double>& p, const Loss& loss) {
  Tape<double> t(p, nullptr);
  return t.scalar(loss(t));
}

/// The largest |tape - difference| / max(1, |difference|) over all parameters.
inline double worst_error(Parameters<double> p, const Loss& loss) {
  Gradients<double> g(p);
  Tape<double> t(p, &g);
  t.backward(loss(t));
  double worst = 0;
  const double h = 1e-5;
  for (int i = 0; i < p.size(); ++i)
    for (Eigen::Index k = 0; k < p.value(i).size(); ++k) {
      double& x = p.value(i).data()[k];
      const double kept = x;
      x = kept + h;
      const double above = loss_at(p, loss);
      x = kept - h;
      const double slope = (above - loss_at(p, loss)) / (2 * h);
      x = kept;
      const double error = std::abs(g.value(i).data()[k] - slope);
      worst = std::max(worst, error / std::max(1.0, std::abs(slope)));
    }
  return worst;
}

}  // namespace regraft::rl::nn
