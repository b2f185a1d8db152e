#pragma once
// Bytes in gzip's format (RFC 1952), by zlib.
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace regraft {

/// They begin as gzip's format does.
bool is_gzip(std::string_view bytes);
/// At the best level, without names and times: the same bytes for the same text and version of
/// zlib.
std::string to_gzip(std::string_view bytes);
/// An Error, which does not name a file: damaged, cut off, followed by something, or of more than
/// `most` bytes, of which no more are made.
Result<std::string> from_gzip(std::string_view bytes, size_t most);

}  // namespace regraft
