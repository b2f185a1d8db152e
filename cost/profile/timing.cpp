#include "cost/profile/timing.h"

#include <algorithm>
#include <cmath>

namespace regraft::cost {

Timing summarise(std::vector<double> us) {
  if (us.empty()) return {};
  std::sort(us.begin(), us.end());
  size_t n = us.size();
  double median = n % 2 ? us[n / 2] : (us[n / 2 - 1] + us[n / 2]) / 2;
  // The k-th values from both ends enclose the median with a probability of 95 %.
  auto reach = static_cast<size_t>(std::ceil(0.98 * std::sqrt(static_cast<double>(n))));
  size_t low = n / 2 > reach ? n / 2 - reach : 0, high = std::min(n - 1, (n - 1) / 2 + reach);
  double noise = median > 0 ? (us[high] - us[low]) / 2 / median : 0;
  return {median, noise, static_cast<int>(n)};
}

}  // namespace regraft::cost
