#pragma once
// Gradients of the parts of a loss, computed in parallel.
#include <functional>

#include "rl/nn/parameters.h"

namespace regraft::rl {

/// The parts are summed in their order, so that the result does not depend on the threads.
class GradientSum {
 public:
  /// `shapes` outlives this.
  explicit GradientSum(const nn::Parameters<float>& shapes) : shapes_(shapes) {}
  /// body(k, into) adds part k's gradients, for k from 0 up to n. The sum, valid until the next
  /// call. REQUIRES: n > 0.
  nn::Gradients<float>& of(size_t n, int threads,
                           const std::function<void(size_t, nn::Gradients<float>&)>& body);

 private:
  const nn::Parameters<float>& shapes_;
  std::vector<nn::Gradients<float>> parts_;
};

}  // namespace regraft::rl
