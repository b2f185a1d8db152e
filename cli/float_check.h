#pragma once
// Do two graphs compute the same in float32, on this machine's CPU?
#include "cli/commands.h"
#include "ir/graph.h"
#include "rewrite/check.h"

namespace regraft::cli {

/// `where` is "reference" (double precision, rewrite::compare) or "cpu" (float32 with oneDNN: runs
/// whole graphs as fast as they can, sees what rounding does to them; winograd is not used).
/// An Error as for rewrite::compare; on "cpu" also when an input is not float32 or a node is
/// foreign.
Result<rewrite::CheckReport> compare_on(const std::string& where, const Graph& a, const Graph& b,
                                        int runs, const Common& common, const Stop& stop);

}  // namespace regraft::cli
