#include "cost/profile/timing.h"

#include <algorithm>
#include <cmath>

namespace regraft::cost {

namespace {
double middle(const std::vector<double>& sorted) {
  size_t n = sorted.size();
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}
}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return middle(values);
}

Timing summarise(std::vector<double> us) {
  if (us.empty()) return {};
  std::sort(us.begin(), us.end());
  size_t n = us.size();
  double median = middle(us);
  // The k-th values from both ends enclose the median with a probability of 95 %.
  auto reach = static_cast<size_t>(std::ceil(0.98 * std::sqrt(static_cast<double>(n))));
  size_t low = n / 2 > reach ? n / 2 - reach : 0, high = std::min(n - 1, (n - 1) / 2 + reach);
  double noise = median > 0 ? (us[high] - us[low]) / 2 / median : 0;
  return {median, noise, static_cast<int>(n)};
}

}  // namespace regraft::cost
