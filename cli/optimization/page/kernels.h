#pragma once
// What a runtime launches for a model, and what each takes.
#include <functional>
#include <string>
#include <vector>

#include "cli/support/profiles.h"

namespace regraft::cli {

/// A kernel of the plan that the prediction is made of.
struct PlannedKernel {
  std::string what;            ///< "conv + relu"
  std::vector<int32_t> nodes;  ///< of the graph; empty: moves a tensor
  double microseconds = 0;     ///< with what every kernel costs beside
  bool measured = false;       ///< as it was timed; else estimated
};
using TypeOfOpaque = std::function<std::string(int32_t)>;

/// In order; their times add up to the prediction for the graph. Without a profile each call is a
/// kernel of its own. REQUIRES: g is acyclic.
std::vector<PlannedKernel> kernels_of(const Graph& g, const ChosenCost& cost,
                                      const TypeOfOpaque& type_of);

}  // namespace regraft::cli
