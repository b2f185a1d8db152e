#include "cost/residual/process.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace regraft::cost {
namespace {

constexpr double kWidth = 1.5;  // standard deviation of a deviation's logarithm
constexpr double kFactors[] = {0.1, 0.3, 0.6, 1.6, 3, 10};  // that a deviation is tried at

double square(double x) { return x * x; }

}  // namespace

GaussianProcess::GaussianProcess(Eigen::VectorXd mean, std::vector<Part> parts)
    : mean_(std::move(mean)), parts_(std::move(parts)) {
  CHECK(!parts_.empty());
  for (const Part& part : parts_) {
    CHECK(part.covariance.rows() == things() && part.covariance.cols() == things());
    deviations_.push_back(part.deviation);
  }
  condition();
}

void GaussianProcess::observe(Eigen::Index thing, double value, double noise) {
  CHECK(thing >= 0 && thing < things() && noise > 0);
  seen_.things.push_back(thing);
  seen_.values.push_back(value);
  seen_.noises.push_back(noise);
  if (const size_t count = seen_.things.size(); count >= learn_at_) {
    learn_deviations();
    learn_at_ = std::max(count + 2, count + count / 4);
  }
  condition();
}

Eigen::MatrixXd GaussianProcess::prior() const {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(things(), things());
  for (size_t k = 0; k < parts_.size(); ++k) sum += square(deviations_[k]) * parts_[k].covariance;
  return sum;
}

double GaussianProcess::surprise(const std::vector<Eigen::MatrixXd>& measured,
                                 const std::vector<double>& deviations) const {
  const auto count = static_cast<Eigen::Index>(seen_.things.size());
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(count, count);
  Eigen::VectorXd rest(count);
  double unlikely = 0;
  for (size_t k = 0; k < parts_.size(); ++k) {
    covariance += square(deviations[k]) * measured[k];
    unlikely += square(std::log(deviations[k] / parts_[k].deviation) / kWidth) / 2;
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    covariance(i, i) += square(seen_.noises[at]);
    rest(i) = seen_.values[at] - mean_(seen_.things[at]);
  }
  Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  if (factor.info() != Eigen::Success) return INFINITY;
  const Eigen::MatrixXd& lower = factor.matrixLLT();
  return unlikely + rest.dot(factor.solve(rest)) / 2 + lower.diagonal().array().log().sum();
}

void GaussianProcess::learn_deviations() {
  std::vector<Eigen::MatrixXd> measured;
  for (const Part& part : parts_) measured.push_back(part.covariance(seen_.things, seen_.things));
  double best = surprise(measured, deviations_);
  for (size_t k = 0; k < parts_.size(); ++k) {
    const double before = deviations_[k];
    for (double factor : kFactors) {
      std::vector<double> tried = deviations_;
      tried[k] = before * factor;
      const double now = surprise(measured, tried);
      if (now >= best) continue;
      best = now;
      deviations_ = std::move(tried);
    }
  }
}

void GaussianProcess::condition() {
  posterior_mean_ = mean_;
  posterior_covariance_ = prior();
  const auto count = static_cast<Eigen::Index>(seen_.things.size());
  if (count == 0) return;
  const Eigen::MatrixXd with = posterior_covariance_(Eigen::indexing::all, seen_.things);
  Eigen::MatrixXd covariance = with(seen_.things, Eigen::indexing::all);
  Eigen::VectorXd rest(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    covariance(i, i) += square(seen_.noises[at]);
    rest(i) = seen_.values[at] - mean_(seen_.things[at]);
  }
  Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  CHECK(factor.info() == Eigen::Success);
  posterior_mean_ += with * factor.solve(rest);
  const Eigen::MatrixXd gain = factor.solve(with.transpose());
  posterior_covariance_ -= with * gain;
}

}  // namespace regraft::cost
