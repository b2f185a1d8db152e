#include "cli/model_files.h"

#include <algorithm>
#include <filesystem>

namespace regraft::cli {

Result<std::vector<std::string>> model_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".onnx") inside.push_back(entry.path().string());
    if (inside.empty()) return error(path + ": no .onnx file in it");
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

}  // namespace regraft::cli
