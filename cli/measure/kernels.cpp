#include "cli/measure/kernels.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/model.h"
#include "ir/graph/eval.h"
#include "ir/graph/fold.h"

namespace regraft::cli {
namespace {

constexpr int kOpset = 17;

std::string part_of(const cost::Kernel& k) {
  if (!k.is_reorder()) return "kernel";
  return k.result_layouts[0] == cost::Layout::Blocked ? "to-blocked" : "from-blocked";
}

}  // namespace

Status make_folder(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) return error(path + ": " + failed.message());
  return {};
}

Result<nlohmann::json> write_kernels(const std::map<std::string, cost::Kernel>& kernels,
                                     const std::string& folder) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [signature, kernel] : kernels) {
    std::string file = fmt::format("{}/kernel{:04}.onnx", folder, list.size());
    ASSIGN_OR_RETURN(Graph whole, fold_constants(cost::standalone(kernel, 1)));
    ASSIGN_OR_RETURN(auto model, io::model_of(std::move(whole), kOpset));
    bool has_form = io::summarise(model, model.graph).bytes > 0;
    if (!has_form) continue;  // its cost stays predicted
    if (auto saved = io::save(model, model.graph, file); !saved)
      return error(signature + ": " + saved.error().message);
    list.push_back({{"signature", signature}, {"file", file}, {"part", part_of(kernel)}});
  }
  return list;
}

}  // namespace regraft::cli
