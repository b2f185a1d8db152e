#pragma once
// The models that a command is given.
#include <string>
#include <vector>

#include "base/result.h"

namespace regraft::cli {

/// ONNX files, and those in folders, by name. An Error for a folder without any.
Result<std::vector<std::string>> model_files(const std::vector<std::string>& paths);

}  // namespace regraft::cli
