#pragma once
// Memory that tensors share when they do not live at the same time. Internal to cost/cpu.
#include <cstddef>
#include <vector>

namespace regraft::cost::cpu {

/// A tensor from the call that makes it to the last that reads it, both included.
struct Lifetime {
  size_t floats = 0;
  int first = 0, last = 0;
};
struct Placement {
  std::vector<size_t> offsets;  ///< of each, in floats, at starts of cache lines
  size_t floats = 0;            ///< in all
};
/// Large ones first, each as low as those that overlap it in time allow.
Placement place(const std::vector<Lifetime>& tensors);

}  // namespace regraft::cost::cpu
