#include "rl/nn/parameters.h"

#include <cmath>

#include "base/check.h"

namespace regraft::rl::nn {

template <class S>
int Parameters<S>::add(const std::string& name, int64_t rows, int64_t cols) {
  CHECK(index_.emplace(name, size()).second);
  names_.push_back(name);
  values_.push_back(Matrix<S>::Zero(rows, cols));
  return size() - 1;
}

template <class S>
int64_t Parameters<S>::count() const {
  int64_t n = 0;
  for (const Matrix<S>& m : values_) n += m.size();
  return n;
}

template <class S>
int Parameters<S>::find(const std::string& name) const {
  auto at = index_.find(name);
  return at == index_.end() ? -1 : at->second;
}

template <class S>
Gradients<S>::Gradients(const Parameters<S>& shapes) {
  for (int i = 0; i < shapes.size(); ++i)
    values_.push_back(Matrix<S>::Zero(shapes.value(i).rows(), shapes.value(i).cols()));
}

template <class S>
void Gradients<S>::zero() {
  for (Matrix<S>& m : values_) m.setZero();
}

template <class S>
void Gradients<S>::add(const Gradients& other) {
  CHECK(size() == other.size());
  for (int i = 0; i < size(); ++i) {
    CHECK(value(i).rows() == other.value(i).rows() && value(i).cols() == other.value(i).cols());
    values_[i] += other.values_[i];
  }
}

template <class S>
void Gradients<S>::scale(S factor) {
  for (Matrix<S>& m : values_) m *= factor;
}

template <class S>
double Gradients<S>::norm() const {
  double sum = 0;
  for (const Matrix<S>& m : values_) sum += m.template cast<double>().squaredNorm();
  return std::sqrt(sum);
}

template <class S>
double Gradients<S>::clip(double limit) {
  CHECK(limit > 0);
  double before = norm();
  if (before > limit) scale(static_cast<S>(limit / before));
  return before;
}

template class Parameters<float>;
template class Parameters<double>;
template class Gradients<float>;
template class Gradients<double>;

}  // namespace regraft::rl::nn
