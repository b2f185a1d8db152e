#include "base/printable.h"

#include <fmt/format.h>

namespace regraft {
namespace {

/// Bytes of the UTF-8 sequence that the text begins with; 0: it begins with none. Overlong forms,
/// surrogates and what lies beyond Unicode are none.
size_t sequence_length(std::string_view text) {
  auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  if (byte(0) < 0x80) return 1;
  size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  for (size_t k = 1; k < length; ++k)
    if ((byte(k) & 0xc0) != 0x80) return 0;
  bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  bool surrogate = byte(0) == 0xed && byte(1) > 0x9f;
  bool beyond = byte(0) == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || beyond ? 0 : length;
}

uint32_t code_point(std::string_view sequence) {
  if (sequence.size() == 1) return static_cast<unsigned char>(sequence[0]);
  uint32_t code = static_cast<unsigned char>(sequence[0]) & (0x7fU >> sequence.size());
  for (char c : sequence.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

bool acts_on_terminals(uint32_t code) {
  bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  bool direction = (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                   (code >= 0x2066 && code <= 0x2069);
  return control || direction;
}

std::string escaped(char c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    size_t length = sequence_length(text);
    std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    if (length > 0 && !acts_on_terminals(code_point(sequence)))
      shown += sequence;
    else
      for (char c : sequence) shown += escaped(c);
    text.remove_prefix(sequence.size());
  }
  return shown;
}

std::string one_line(std::string_view text) {
  constexpr size_t kEnd = 2000;
  if (text.size() <= 2 * kEnd) return printable(text);
  return printable(text.substr(0, kEnd)) + " [...] " + printable(text.substr(text.size() - kEnd));
}

std::string hex(uint64_t number) { return fmt::format("{:016x}", number); }

}  // namespace regraft
