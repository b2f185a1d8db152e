#include "cost/cuda/samples.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace regraft::cost::cuda {

Timing summary(std::vector<double> samples) {
  CHECK(!samples.empty());
  std::sort(samples.begin(), samples.end());
  auto n = static_cast<double>(samples.size());
  auto sample = [&](double rank) {
    return samples[static_cast<size_t>(std::clamp(rank, 0.0, n - 1))];
  };
  double median = (sample((n - 1) / 2) + sample(n / 2)) / 2;
  double reach = 0.98 * std::sqrt(n);  // 1.96 standard deviations of the rank of the median
  double width = sample(std::ceil(n / 2 + reach)) - sample(std::floor(n / 2 - reach - 1));
  return {median, median > 0 ? width / 2 / median : 0, static_cast<int>(samples.size())};
}

}  // namespace regraft::cost::cuda
