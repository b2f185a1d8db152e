#pragma once
// Whole files in memory, for readers that take bytes.
#include <cstddef>
#include <string>

#include "base/result.h"

namespace regraft {

/// The bytes of a file or pipe. An Error names the path: it cannot be read, is a folder, or holds
/// more than `most` bytes, of which no more are read.
Result<std::string> read_file(const std::string& path, size_t most);

}  // namespace regraft
