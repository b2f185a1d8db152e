#pragma once
// What a graph is predicted to take, part by part.
#include <string>
#include <vector>

#include "cli/support/profiles.h"

namespace regraft::cli {

/// Calls that the runtime computes in one go.
struct PricedKernel {
  std::vector<int32_t> nodes;
  double microseconds = 0;
  std::string likeness;  ///< equal for kernels that are the same but for weights
};

/// By the kernels that the profile's runtime fuses; without a profile each call by itself. Sizes
/// are those that are typical. Layout changes are left out: they are of no node.
std::vector<PricedKernel> priced_kernels(const Graph& g, const ChosenCost& cost);

}  // namespace regraft::cli
