#pragma once
// Statistics of repeated measurements.
#include <vector>

#include "cost/timing.h"

namespace regraft::cost::cuda {

/// Median of samples in microseconds, and how sure it is: the 95 % interval by order statistics.
/// REQUIRES: at least one sample.
Timing summary(std::vector<double> samples);

}  // namespace regraft::cost::cuda
