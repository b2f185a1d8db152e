#pragma once
// How a constant that was computed may follow from other numbers: as they are, or scaled.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "verify/model/constants.h"

namespace regraft::verify::fits {

using Dims = std::vector<int64_t>;
using Data = std::vector<double>;
constexpr int64_t kSamples = 16;      ///< elements that are tried first
constexpr int64_t kVector = 1 << 16;  ///< elements of what counts as a vector

/// A tensor's elements in the order that they have with its axes permuted.
struct Order {
  Dims dims, steps;
  Order(const Dims& from, const std::vector<int>& perm) {
    Dims strides(from.size(), 1);
    for (size_t d = from.size(); d-- > 1;) strides[d - 1] = strides[d] * from[d];
    for (int p : perm) {
      dims.push_back(from[static_cast<size_t>(p)]);
      steps.push_back(strides[static_cast<size_t>(p)]);
    }
  }
  size_t place(int64_t n) const {
    int64_t at = 0;
    for (size_t d = dims.size(); d-- > 0; n /= dims[d]) at += n % dims[d] * steps[d];
    return static_cast<size_t>(at);
  }
};

/// What is looked for.
struct Target {
  DType dtype;
  Dims dims;
  Data data;
  double tolerance;
  bool near(double x, double y, double of) const {
    return std::abs(x - y) <= tolerance * std::abs(of) + smallest(dtype);
  }
  bool near(double x, double y) const { return near(x, y, y); }
};

/// Whether `of(k)` is the k-th number, which is any where it is not one; tries a few at first.
template <class F>
bool agrees(const Target& t, F&& of) {
  auto n = static_cast<int64_t>(t.data.size());
  auto good = [&](int64_t k) {
    auto [x, terms] = of(static_cast<size_t>(k));
    double y = t.data[static_cast<size_t>(k)];
    return std::isnan(y) || t.near(x, y, terms);
  };
  for (int64_t k = 0; k < kSamples; ++k)
    if (!good(n * k / kSamples)) return false;
  for (int64_t k = 0; k < n; ++k)
    if (!good(k)) return false;
  return true;
}
struct Sum {
  double value, terms;  ///< terms: their magnitudes
};

/// The one number that makes the target of the other numbers.
template <class F>
std::optional<double> ratio(const Target& t, F&& of) {
  size_t largest = 0;
  for (size_t k = 0; k < t.data.size(); ++k)
    if (std::abs(t.data[k]) > std::abs(t.data[largest]) || std::isnan(t.data[largest])) largest = k;
  double x = t.data[largest] / of(largest);
  if (!std::isfinite(x)) return std::nullopt;
  auto scaled = [&](size_t k) { return Sum{x * of(k), x * of(k)}; };
  return agrees(t, scaled) ? std::optional(x) : std::nullopt;
}

/// Others have the same elements in the same order.
inline bool moves_only_ones(const Dims& dims, const std::vector<int>& perm) {
  std::vector<int> ones, others;
  for (int p : perm) (dims[static_cast<size_t>(p)] == 1 ? ones : others).push_back(p);
  bool first = std::ranges::is_sorted(perm);
  return !first && (std::ranges::is_sorted(others) || !std::ranges::is_sorted(ones));
}

/// The numbers by which the target's elements are those others, one for each place along the
/// axis; not a number where all that it scales is zero.
template <class F>
std::optional<Target> scaling_along(const Target& t, size_t axis, F&& of) {
  auto n = static_cast<int64_t>(t.data.size());
  int64_t extent = t.dims[axis], inner = 1;
  for (size_t d = axis + 1; d < t.dims.size(); ++d) inner *= t.dims[d];
  if (extent < 2 || extent > kVector || extent == n) return std::nullopt;
  auto place = [&](int64_t k) { return static_cast<size_t>(k / inner % extent); };
  for (int64_t k = 0; k < kSamples; ++k) {  // two elements at the same place along the axis
    int64_t p = n * k / kSamples, block = inner * extent;
    int64_t other = (p / block + 1 + k) % (n / block) * block + p % block / inner * inner +
                    (p % inner + 1 + k) % inner;
    double x = t.data[static_cast<size_t>(p)] * of(static_cast<size_t>(other));
    double y = t.data[static_cast<size_t>(other)] * of(static_cast<size_t>(p));
    if (std::abs(x - y) > 2 * t.tolerance * std::abs(y) + smallest(t.dtype)) return std::nullopt;
  }
  Data largest(static_cast<size_t>(extent), 0);
  Target r{t.dtype, {extent}, Data(static_cast<size_t>(extent), NAN), t.tolerance};
  for (int64_t k = 0; k < n; ++k) {
    double x = of(static_cast<size_t>(k));
    if (std::abs(x) <= largest[place(k)]) continue;
    largest[place(k)] = std::abs(x);
    r.data[place(k)] = t.data[static_cast<size_t>(k)] / x;
  }
  auto scaled = [&](size_t k) {
    double x = of(k);
    x = x == 0 ? 0 : x * r.data[place(static_cast<int64_t>(k))];
    return Sum{x, x};
  };
  return agrees(t, scaled) ? std::optional(std::move(r)) : std::nullopt;
}

}  // namespace regraft::verify::fits
