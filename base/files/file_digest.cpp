#include "base/files/file_digest.h"

#include <fstream>

namespace regraft {

Digest file_digest(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  Sha256 sha;
  for (std::string part(1 << 20, '\0'); in.read(part.data(), 1 << 20) || in.gcount() > 0;)
    sha.bytes(std::as_bytes(std::span(part.data(), static_cast<size_t>(in.gcount()))));
  return sha.finish();
}

}  // namespace regraft
