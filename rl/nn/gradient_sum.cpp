#include "rl/nn/gradient_sum.h"

#include "base/check.h"
#include "base/parallel.h"

namespace regraft::rl {

nn::Gradients<float>& GradientSum::of(
    size_t n, int threads, const std::function<void(size_t, nn::Gradients<float>&)>& body) {
  CHECK(n > 0);
  while (parts_.size() < n) parts_.emplace_back(shapes_);
  parallel_for(n, threads, [&](size_t k) {
    parts_[k].zero();
    body(k, parts_[k]);
  });
  for (size_t k = 1; k < n; ++k) parts_[0].add(parts_[k]);
  return parts_[0];
}

}  // namespace regraft::rl
