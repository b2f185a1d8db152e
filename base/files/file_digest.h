#pragma once
// What names the content of a file outside of the process.
#include <string>

#include "base/digest.h"

namespace regraft {

/// Of its bytes; of a file that cannot be read, of no bytes.
Digest file_digest(const std::string& path);

}  // namespace regraft
