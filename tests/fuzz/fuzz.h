#pragma once
// What fuzz targets share: claims that must hold for every input, and seeds for the corpus.
//
// A target is one file with LLVMFuzzerTestOneInput and write_seeds. It reads bytes as the program
// would read a file, and claims of what it got back. `<target> --seeds FOLDER` writes the inputs
// that its corpus begins with.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace regraft::fuzz {

/// A file of the first corpus: its name and its bytes.
using Seed = std::pair<std::string, std::string>;
/// Defined by each target; deterministic.
std::vector<Seed> seeds();

[[noreturn]] void broken(const char* claim, const char* file, int line, const std::string& detail);

/// An error, as it is printed, is one line for the user: no control characters, and not the whole
/// input over again.
void check_message(const Error& error);

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace regraft::fuzz

/// Ends the program as a crash does, so that the fuzzer keeps the input.
#define CLAIM(condition, detail) \
  (static_cast<bool>(condition)  \
       ? void(0)                 \
       : ::regraft::fuzz::broken(#condition, __FILE__, __LINE__, (detail)))
