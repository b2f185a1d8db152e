#include "gen/enumerate/order_sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace regraft::gen {
namespace {

constexpr double kSmallest = -4, kLargest = 7;  // of random_residue, as powers of two
constexpr double kLargestSmall = 1;             // where they should be small
constexpr double kLargestWide = 9;
constexpr size_t kOneSigned = 16;  // trials from which on some have elements of one sign

/// Irreducible polynomials over two elements whose root generates all others, by degree; without
/// their leading term.
constexpr size_t kPrimitive[] = {0, 1, 0b11, 0b011, 0b0011, 0b00101, 0b000011};

/// Power `row` of that root: any `degree` in a row are linearly independent.
size_t power(size_t degree, size_t row) {
  size_t x = 1, top = size_t{1} << degree;
  for (size_t k = 0; k < row; ++k) {
    x <<= 1;
    if (x & top) x ^= top | kPrimitive[degree];
  }
  return x;
}

}  // namespace

OrderSampler::OrderSampler(std::vector<double> bounds, size_t trials, Sizes sizes)
    : edges_(std::move(bounds)), trials_(trials), largest_(kLargest) {
  CHECK(std::has_single_bit(trials) && std::bit_width(trials) <= std::size(kPrimitive));
  if (sizes != Sizes::All) {
    const double most = sizes == Sizes::Wide ? kLargestWide : kLargest;
    largest_ = kLargestSmall;
    for (double b : edges_)  // there are some on both sides of each bound
      if (b > 0) largest_ = std::min(most, std::max(largest_, std::log2(b) + 1));
  }
  const double least = std::exp2(kSmallest), most = std::exp2(largest_);
  std::erase_if(edges_, [&](double b) { return b <= least || b >= most; });
  edges_.insert(edges_.end(), {least, 1, most});
  std::ranges::sort(edges_);
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  while (size_t{1} << bits_ < intervals()) ++bits_;
}

bool OrderSampler::bit(size_t row, size_t trial) const {
  size_t degree = static_cast<size_t>(std::bit_width(trials_)) - 1;
  if (degree == 0) return false;
  return std::popcount(power(degree, row % (trials_ - 1)) & trial) % 2 == 1;
}

/// One that is no larger than the largest.
double OrderSampler::sized(double random) const {
  double part = (std::log2(std::abs(random)) - kSmallest) / (kLargest - kSmallest);
  return std::copysign(std::exp2(kSmallest + part * (largest_ - kSmallest)), random);
}

double OrderSampler::scalar(double random, size_t number, size_t trial) const {
  const size_t row = number * (bits_ + 1);
  size_t interval = 0;
  for (size_t k = 0; k < bits_; ++k) interval = 2 * interval + bit(row + 1 + k, trial);
  interval %= intervals();
  constexpr double kMargin = 0.1;  // of an interval, on either side
  double part = (std::log2(std::abs(random)) - kSmallest) / (kLargest - kSmallest);
  double low = edges_[interval], high = edges_[interval + 1];
  double size = low * std::pow(high / low, kMargin + (1 - 2 * kMargin) * part);
  return bit(row, trial) ? -size : size;
}

std::vector<double> OrderSampler::values(std::vector<double> random, size_t elements, size_t number,
                                         Rng& rng) const {
  for (size_t trial = 0; trial < trials_; ++trial) {
    const bool one_sign = elements > 1 && trials_ >= kOneSigned && trial >= trials_ / 2;
    const double sign = rng.below(2) ? 1 : -1;
    for (size_t e = trial * elements; e < (trial + 1) * elements; ++e)
      if (elements == 1)
        random[e] = scalar(random[e], number, trial);
      else
        random[e] = sized(one_sign ? std::copysign(random[e], sign) : random[e]);
  }
  return random;
}

}  // namespace regraft::gen
