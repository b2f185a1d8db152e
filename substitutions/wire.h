#pragma once
// The wire format of protobuf, as much as files of substitutions need: varints and bytes.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace regraft::substitutions {

/// A field of a message; `bytes` refer to the caller's data.
struct WireField {
  uint32_t field = 0;
  enum Kind : uint8_t { Varint, Bytes } kind = Bytes;
  uint64_t number = 0;     ///< Varint
  std::string_view bytes;  ///< Bytes: a message or text
  size_t offset = 0;       ///< of the content in the whole file, for messages to the user
};

/// The fields of a message, in order. An Error names the byte: the data ends early, or has a field
/// of another kind.
Result<std::vector<WireField>> read_message(const WireField& message);

/// A field with a number; negative numbers take ten bytes.
std::string number_field(uint32_t field, int64_t value);
/// A field with a message or text.
std::string message_field(uint32_t field, std::string_view content);

}  // namespace regraft::substitutions
