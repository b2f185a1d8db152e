#pragma once
// Kernels as models that a runtime can time.
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cost/model/kernel.h"

namespace regraft::cli {

/// Creates the folder and those above it, unless they are there.
Status make_folder(const std::string& path);

/// Writes a model for each kernel that has an ONNX form into the folder. A list, in the order of
/// the kernels, of {"signature", "file", "part"}: the part of the model's time that is the
/// kernel's, "kernel", "to-blocked" or "from-blocked".
Result<nlohmann::json> write_kernels(const std::map<std::string, cost::Kernel>& kernels,
                                     const std::string& folder);

}  // namespace regraft::cli
