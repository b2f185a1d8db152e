#pragma once
// What the targets that read ONNX models claim of them.
#include <string>
#include <vector>

#include "io/model.h"

namespace regraft::fuzz {

/// Texts that mean something in a model: types and attributes of operators.
const std::vector<std::string>& onnx_words();

/// The graph is sound; with its constants folded, it is written and read again as it was.
void check_model(const io::Imported& imported);

}  // namespace regraft::fuzz
