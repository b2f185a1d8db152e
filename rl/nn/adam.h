#pragma once
// Adam (Kingma & Ba 2015) with decoupled weight decay (Loshchilov & Hutter 2019).
#include <cstdint>

#include "rl/nn/parameters.h"

namespace regraft::rl::nn {

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-5;
  double weight_decay = 0;  // each step takes rate * weight_decay of every parameter
};

/// All that a training that is taken up again needs, beside the parameters.
template <class S>
struct Adam {
  Adam() = default;
  explicit Adam(const Parameters<S>& shapes, const AdamOptions& o = {})
      : options(o), first(shapes), second(shapes) {}

  /// Goes down the gradients. REQUIRES: the shapes given at the start.
  void step(Parameters<S>& parameters, const Gradients<S>& gradients, double rate);

  AdamOptions options;
  Gradients<S> first, second;  // running means of gradients and of their squares
  int64_t steps = 0;
};

}  // namespace regraft::rl::nn
