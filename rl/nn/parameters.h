#pragma once
// What a network learns: named matrices in a fixed order, and gradients of the same shapes.
#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regraft::rl::nn {

template <class S>
using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Readable from several threads while nobody writes.
template <class S>
class Parameters {
 public:
  /// A matrix of zeros; its index. REQUIRES: a name not yet taken.
  int add(const std::string& name, int64_t rows, int64_t cols);
  int size() const { return static_cast<int>(values_.size()); }
  /// Numbers in all matrices together.
  int64_t count() const;
  const std::string& name(int i) const { return names_[i]; }
  Matrix<S>& value(int i) { return values_[i]; }
  const Matrix<S>& value(int i) const { return values_[i]; }
  /// -1: no such name.
  int find(const std::string& name) const;

 private:
  std::vector<std::string> names_;
  std::vector<Matrix<S>> values_;
  std::map<std::string, int> index_;
};

/// One matrix for each parameter, at first zero.
template <class S>
class Gradients {
 public:
  Gradients() = default;
  explicit Gradients(const Parameters<S>& shapes);
  int size() const { return static_cast<int>(values_.size()); }
  Matrix<S>& value(int i) { return values_[i]; }
  const Matrix<S>& value(int i) const { return values_[i]; }
  void zero();
  /// REQUIRES: equal shapes.
  void add(const Gradients& other);
  void scale(S factor);
  /// Euclidean, over all matrices; summed in double.
  double norm() const;
  /// Scales down to at most this norm; the norm before. REQUIRES: limit > 0.
  double clip(double limit);

 private:
  std::vector<Matrix<S>> values_;
};

}  // namespace regraft::rl::nn
