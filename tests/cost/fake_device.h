#pragma once
// A device made of host functions, for what is about order, addresses and capture: it computes
// with plain loops, and fails a test on what a real one would not forgive.
#include "cost/runtime/cuda/api.h"

namespace regraft::cost::cuda {

/// Functions of the fake, to be given to replace_api.
Api fake_api();

struct FakeCounts {
  int objects = 0;           ///< created and not destroyed: handles, descriptors, memory
  int graph_launches = 0;    ///< of CUDA graphs
  int eager_launches = 0;    ///< of kernels and library calls outside a graph
  int last_convolution = 0;  ///< the algorithm that ran last
  int compilations = 0;      ///< of generated kernels
  double milliseconds = 0;   ///< of the fake's clock
};
FakeCounts fake_counts();

}  // namespace regraft::cost::cuda
