#pragma once
// At which sizes a rule pays, by the prices of a profile.
#include <optional>
#include <string>
#include <vector>

#include "cost/profile/profiled.h"
#include "ir/rule/rule.h"

namespace regraft::cli {

/// Both sides at one size.
struct PricedSize {
  int64_t size = 0;            ///< what the free sizes are
  std::string shapes;          ///< "a=[4,4] b=[4]"
  double left = 0, right = 0;  ///< microseconds
  double estimated = 0;        ///< the part of both that no measurement backs
};

/// Both sides at growing sizes, under one assumption on what is computed at run time.
struct PriceSeries {
  std::string computed;            ///< the only variable that is no constant; empty: all are not
  std::vector<PricedSize> prices;  ///< by size; empty: nothing could be priced
};

/// Where applying a rule pays at least kPays of the left side's price.
struct Payoff {
  std::string computed;             ///< as in PriceSeries
  std::optional<PricedSize> first;  ///< the smallest size priced at which it pays
  int64_t largest = 0;              ///< size priced
};
inline constexpr double kPays = 0.01;
/// Largest size tried, and most elements that a tensor then has.
inline constexpr int64_t kLargestSize = 512, kMostElements = 1 << 24;
/// Sizes that another one bounds (a window in an image) grow no further.
inline constexpr int64_t kLargestWindow = 3;

/// At the rule's first signature: all free sizes at once are 1, 2, 4, .., as long as tensors have
/// at most kMostElements; attributes are at their least. The first series has all variables
/// computed, the others one alone, the rest being constants as weights are. Thread-safe.
std::vector<PriceSeries> priced(const Rule& rule, const cost::Profiled& model);
/// Of each series; `back`: from right to left.
std::vector<Payoff> payoffs(const std::vector<PriceSeries>& series, bool back);

}  // namespace regraft::cli
