#pragma once
// Gaussian processes over finitely many things, some of which were measured.
// Rasmussen, Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006, chapters 2, 5.
#include <Eigen/Core>
#include <vector>

namespace regraft::cost {

/// A sum of independent parts, each with a covariance that is known up to its scale. How large the
/// scales are is learned: their logarithms are normal around those that are expected.
class GaussianProcess {
 public:
  struct Part {
    Eigen::MatrixXd covariance;
    double deviation = 1;  ///< what it is multiplied by, squared; expected
  };
  /// `mean`: before anything was measured. REQUIRES: all parts have its size, and there is one.
  GaussianProcess(Eigen::VectorXd mean, std::vector<Part> parts);

  /// `noise`: standard deviation, above 0. A thing may be measured any number of times.
  void observe(Eigen::Index thing, double value, double noise);

  Eigen::Index things() const { return mean_.size(); }
  /// Given all measurements.
  const Eigen::VectorXd& mean() const { return posterior_mean_; }
  const Eigen::MatrixXd& covariance() const { return posterior_covariance_; }
  /// Of the parts, as learned so far.
  const std::vector<double>& deviations() const { return deviations_; }

 private:
  struct Observations {
    std::vector<Eigen::Index> things;
    std::vector<double> values, noises;
  };
  Eigen::MatrixXd prior() const;
  /// Of what was measured, the less the likelier; with what is expected of the deviations.
  double surprise(const std::vector<Eigen::MatrixXd>& measured,
                  const std::vector<double>& deviations) const;
  void learn_deviations();
  void condition();

  Eigen::VectorXd mean_;
  std::vector<Part> parts_;
  std::vector<double> deviations_;
  Observations seen_;
  size_t learn_at_ = 2;  // observations
  Eigen::VectorXd posterior_mean_;
  Eigen::MatrixXd posterior_covariance_;
};

}  // namespace regraft::cost
