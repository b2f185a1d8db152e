#pragma once
// Inputs of the order channel: on both sides of what they are compared with.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace regraft::gen {

/// Makes order values of random ones (see random_residue). Thread-safe.
class OrderSampler {
 public:
  /// Exponentials of large numbers, of either sign, are too close to each other, or too large, for
  /// their order to be beyond doubt. Wide ones are small, but
  /// for the bounds of a quantisation.
  enum class Sizes : uint8_t { All, Small, Wide };

  /// `bounds`: magnitudes that values are compared with, beside 0 and 1. REQUIRES: the number of
  /// trials is a power of two.
  OrderSampler(std::vector<double> bounds, size_t trials, Sizes sizes = Sizes::All);

  /// Of a variable of so many elements: trial-major, in place of `random`. Scalar variables, which
  /// decide alone where they occur, are positive and negative, and in each interval between bounds;
  /// two by two in all combinations that the trials allow. Others have elements of both signs in
  /// one half of the trials, and of one sign in each of the other half, so that no maximum of many
  /// elements passes for positive.
  std::vector<double> values(std::vector<double> random, size_t elements, size_t number,
                             Rng& rng) const;

 private:
  bool bit(size_t row, size_t trial) const;
  double scalar(double random, size_t number, size_t trial) const;
  double sized(double random) const;
  size_t intervals() const { return edges_.size() - 1; }

  std::vector<double> edges_;  // the least magnitude, 1, the bounds, the largest; ascending
  size_t trials_;
  double largest_;   // magnitude, as a power of two
  size_t bits_ = 1;  // that choose an interval
};

}  // namespace regraft::gen
