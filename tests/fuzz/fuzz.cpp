#include "tests/fuzz/fuzz.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/printable.h"

namespace regraft::fuzz {

void broken(const char* claim, const char* file, int line, const std::string& detail) {
  std::fprintf(stderr, "claim broken: %s at %s:%d: %s\n", claim, file, line, detail.c_str());
  std::abort();
}

void check_message(const Error& error) {
  constexpr size_t kMost = 20000;
  CLAIM(!error.message.empty(), "no message");
  const std::string line = one_line(error.message);
  CLAIM(line.size() <= kMost, line);
  for (char c : line) CLAIM(static_cast<unsigned char>(c) >= 0x20, line);
}

namespace {

int write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const auto& [name, bytes] : seeds()) {
    std::ofstream out(folder / name, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace regraft::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc == 3 && std::strcmp((*argv)[1], "--seeds") == 0)
    std::_Exit(regraft::fuzz::write_seeds((*argv)[2]));
  return 0;
}
