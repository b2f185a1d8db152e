#pragma once
// Inside io/ only: what a call says of the sizes at which its model runs.
#include "ir/graph/graph.h"

namespace regraft::io {

/// Runtimes refuse a convolution whose window is larger than its data. So the model runs only at
/// sizes at which its convolutions do: their conditions, `required`, raise least values of the
/// pool's symbols, and a size at whose 0 one does not run is never 0. Other calls say nothing: what
/// they cut off may be empty.
void assume_sizes(SymbolPool& pool, const Node& call, const std::vector<TensorType>& operands,
                  const std::vector<Formula>& required, Opset opset);

}  // namespace regraft::io
