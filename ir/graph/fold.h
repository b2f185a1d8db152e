#pragma once
// Constant subgraphs become constants.
#include "base/parallel.h"
#include "ir/graph/graph.h"

namespace regraft {

/// By how many bytes folding may make a model's file larger, all together.
constexpr int64_t kFoldGrowth = int64_t{64} << 20;

struct FoldReport {
  Graph graph;  ///< without dead nodes; ids of what stays are unchanged
  int64_t calls_folded = 0;
  std::vector<int32_t> folded;  ///< ids of the calls, in the order in which they were computed
  int64_t calls_left = 0;       ///< on constants, not folded for want of room, memory or time
};

/// Replaces each call on constants that something at run time reads by its value, rounded to its
/// element type. In the order of the graph; each adds its value to the model and takes away the
/// constants that nothing else reads. Left as it is: what would make all of them together add more
/// than `growth` bytes, what needs more memory to compute than `stop` leaves, what it leaves no
/// time for (small values are computed all the same), and what depends on sizes that are not
/// numbers. The data of large constants that replace others of their size is computed when it is
/// read, each time; a constant that cannot be read is an Error here or there. Takes time in
/// proportion to the graph and the values.
Result<FoldReport> fold(const Graph& g, int64_t growth = kFoldGrowth, const Stop& stop = Stop());

/// The graph after folding all that can be, with no limits, into constants that are in memory: for
/// a runtime that is about to run it.
Result<Graph> fold_constants(const Graph& g);

/// The graph after folding these calls in this order, with no limits: what `fold` did, once more.
/// An Error names a node that is no call on constants.
Result<Graph> fold_calls(const Graph& g, const std::vector<int32_t>& calls);

}  // namespace regraft
