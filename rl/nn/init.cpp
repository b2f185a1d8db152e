#include "rl/nn/init.h"

#include <Eigen/QR>
#include <cmath>
#include <numbers>

namespace regraft::rl::nn {

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - rng.unit()));
  return radius * std::cos(2 * std::numbers::pi * rng.unit());
}

Matrix<double> scaled_normal(int64_t rows, int64_t cols, double gain, Rng& rng) {
  Matrix<double> m(rows, cols);
  const double sigma = gain / std::sqrt(static_cast<double>(rows));
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = sigma * normal(rng);
  return m;
}

Matrix<double> orthogonal(int64_t rows, int64_t cols, double gain, Rng& rng) {
  if (rows < cols) return orthogonal(cols, rows, gain, rng).transpose();
  const Eigen::MatrixXd noise = scaled_normal(rows, cols, 1, rng);
  Eigen::HouseholderQR<Eigen::MatrixXd> qr(noise);
  Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(rows, cols);
  for (Eigen::Index j = 0; j < cols; ++j)  // so that every rotation is as likely
    if (qr.matrixQR()(j, j) < 0) q.col(j) = -q.col(j);
  return gain * q;
}

}  // namespace regraft::rl::nn
