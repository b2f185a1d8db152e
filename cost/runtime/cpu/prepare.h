#pragma once
// A kernel's graph before it is lowered. Internal to cost/cpu.
#include "ir/graph/graph.h"

namespace regraft::cost::cpu {

/// Calls on constants folded, normalisations by constants as a product and a sum, nothing dead.
Result<Graph> prepared(const Graph& graph);

}  // namespace regraft::cost::cpu
