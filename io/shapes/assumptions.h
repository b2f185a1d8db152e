#pragma once
// Inside io/ only: what a call says of the sizes at which its model runs.
#include "ir/graph/graph.h"

namespace regraft::io {

/// The model runs only at sizes at which this call does: its conditions raise least values of the
/// pool's symbols, and a size at whose 0 a convolution or pooling does not run is never 0.
/// `required`: the conditions.
void assume_sizes(SymbolPool& pool, const Node& call, const std::vector<TensorType>& operands,
                  const std::vector<Formula>& required, Opset opset);

}  // namespace regraft::io
