#pragma once
// The numeric check of two graphs, and what a report says of it.
#include <nlohmann/json.hpp>

#include "cli/support/commands.h"
#include "ir/graph/graph.h"
#include "rewrite/compare/compare.h"

namespace regraft::cli {

/// `where` is kReference (double precision, rewrite::compare) or a runtime that evaluates (float32
/// with oneDNN: runs whole graphs as fast as they can, sees what rounding does to them; winograd is
/// not used). An `runs` is what the user asks for; there are at least two, one of them hostile. An
/// Error as for rewrite::compare; in a runtime also when an input is not float32 or a node is
/// foreign.
Result<rewrite::CheckReport> compare_on(const std::string& where, const Graph& a, const Graph& b,
                                        int runs, const Common& common, const Stop& stop);

/// In one line.
std::string describe(const rewrite::CheckReport& report);
nlohmann::json json_of(const rewrite::CheckReport& report);

}  // namespace regraft::cli
