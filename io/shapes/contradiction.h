#pragma once
// Inside io/ only: sizes that no run can have.
#include "io/proto.h"

namespace regraft::io {

/// "node 3 'bn' (BatchNormalization)": the first standard node with known sizes that differ where
/// its operator asks for equal ones; nullopt: none was found. Bodies are not looked at.
std::optional<std::string> contradicted_node(const Model& model, const Graph& graph);

}  // namespace regraft::io
