#pragma once
// What the normalisations share: means over a box, and their dense kernels.
#include <cmath>

#include "base/parallel.h"
#include "ir/ops/define.h"

namespace regraft::ops {

/// The mean of value(k) over a box.
template <Algebra A, class F>
typename A::Scalar mean_over(A& alg, const Indices<typename A::Index>& extents, F&& value) {
  using I = typename A::Index;
  I count(1);
  for (int d = 0; d < extents.size(); ++d) count = count * extents[d];
  return sum_over(alg, std::span<const I>(extents), value) * alg.recip(count);
}

/// Mean and variance of value(k) over a box.
template <Algebra A>
struct Moments {
  typename A::Scalar mean, variance;
};
template <Algebra A, class F>
Moments<A> moments_over(A& alg, const Indices<typename A::Index>& extents, F&& value) {
  using I = typename A::Index;
  auto mean = mean_over(alg, extents, value);
  auto variance = mean_over(alg, extents, [&](std::span<const I> k) {
    auto d = minus(alg, value(k), mean);
    return d * d;
  });
  return {mean, variance};
}

/// (x - mean) / sqrt(variance + epsilon)
template <Algebra A, class S = typename A::Scalar>
S normalised(A& alg, const S& x, const Moments<A>& m, Real epsilon) {
  auto deviation = alg.apply(Fn::Sqrt, m.variance + alg.real(epsilon));
  return minus(alg, x, m.mean) * alg.apply(Fn::Recip, deviation);
}

/// The dense kernel of a normalisation of each row of `size` elements:
/// out = (x - mean) / sqrt(variance + epsilon) * scale(place) + bias(place).
template <class Scale, class Bias>
void normalise_rows(const double* x, std::span<double> out, int64_t size, double epsilon,
                    Scale&& scale, Bias&& bias) {
  if (size == 0) return;
  parallel_for(out.size() / static_cast<size_t>(size), default_threads(), [&](size_t row) {
    int64_t first = static_cast<int64_t>(row) * size;
    double mean = 0, variance = 0;
    for (int64_t k = first; k < first + size; ++k) mean += x[k];
    mean /= static_cast<double>(size);
    for (int64_t k = first; k < first + size; ++k) variance += (x[k] - mean) * (x[k] - mean);
    double factor = 1 / std::sqrt(variance / static_cast<double>(size) + epsilon);
    for (int64_t k = first; k < first + size; ++k)
      out[static_cast<size_t>(k)] = (x[k] - mean) * factor * scale(k) + bias(k);
  });
}

/// Sums over some axes of a tensor: `of[k]` is the group of element k, which says where its sum is.
struct Groups {
  std::vector<int64_t> of;
  int64_t count = 1;
  Groups(std::span<const int64_t> shape, const std::vector<char>& summed);
};
inline Groups::Groups(std::span<const int64_t> shape, const std::vector<char>& summed) {
  int64_t elements = 1;
  std::vector<int64_t> steps(shape.size(), 0);
  for (size_t d = shape.size(); d-- > 0;) {
    if (!summed[d]) steps[d] = count, count *= shape[d];
    elements *= shape[d];
  }
  of.resize(static_cast<size_t>(elements));
  for (size_t k = 0; k < of.size(); ++k) {
    auto rest = static_cast<int64_t>(k);
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) of[k] += rest % shape[d] * steps[d];
  }
}

}  // namespace regraft::ops
