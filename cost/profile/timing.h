#pragma once
// How long something took.
#include <vector>

namespace regraft::cost {

struct Timing {
  double microseconds = 0;  ///< median
  double noise = 0;         ///< half the width of a 95 % interval of the median, over the median
  int runs = 0;
};

/// Of at least one value; of an even number, the mean of the two in the middle.
double median(std::vector<double> values);
/// Median, and the interval that order statistics give. 0 runs: zeros.
Timing summarise(std::vector<double> microseconds);

}  // namespace regraft::cost
