#pragma once
// Constant subgraphs become constants.
#include "ir/graph.h"

namespace regraft::rewrite {

struct FoldReport {
  Graph graph;  ///< without dead nodes; ids of what stays are unchanged
  int64_t calls_folded = 0;
};

/// Replaces each call on constants that something at run time reads by its value, rounded to its
/// element type. Left as it is: a result larger than both `max_bytes` and all constants that it is
/// made of together (unless a call has no operands: that cannot be written otherwise), and what
/// depends on sizes that are not numbers. The data of large constants is computed when it is read,
/// each time; a constant that cannot be read is an Error here or there.
Result<FoldReport> fold(const Graph& g, int64_t max_bytes = int64_t{64} << 20);

}  // namespace regraft::rewrite
