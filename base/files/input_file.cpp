#include "base/files/input_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace regraft {

Result<std::string> read_file(const std::string& path, size_t most) {
  constexpr size_t kBlock = size_t{1} << 20;
  std::error_code ignored;
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path, ignored)) return error(path + ": cannot be read");
  std::string bytes;
  while (in && bytes.size() <= most) {
    size_t had = bytes.size();
    bytes.resize(had + std::min(kBlock, most + 1 - had));
    in.read(bytes.data() + had, static_cast<std::streamsize>(bytes.size() - had));
    bytes.resize(had + static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) return error(path + ": cannot be read");
  if (bytes.size() > most)
    return error(path + ": larger than such a file may be (" + std::to_string(most) + " bytes)");
  return bytes;
}

}  // namespace regraft
