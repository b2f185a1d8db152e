#pragma once
// How much memory a graph's activations take at once.
#include "cost/model/kernel.h"

namespace regraft::cost {

/// An order in which to run a plan's kernels, and what is alive then.
struct Schedule {
  std::vector<size_t> order;  ///< of KernelPlan::calls
  int64_t peak_bytes = 0;     ///< most bytes of graph inputs and kernel results alive at once
};

/// The better of two orders: the plan's own, and one that always runs the kernel after which least
/// is alive. A tensor is alive from the kernel that makes it, in that layout, to the last that
/// reads it; inputs from the start, outputs to the end; a reshaped tensor shares its operand's
/// memory. Weights, and what a kernel needs inside, do not count. Sizes are numbers, as in the
/// plan.
Schedule schedule(const KernelPlan& plan, const Graph& g);

}  // namespace regraft::cost
