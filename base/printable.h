#pragma once
// Text from files and command lines, made fit for a terminal.
#include <cstdint>
#include <string>
#include <string_view>

namespace regraft {

/// The same text on one line: control characters (also those of Unicode that reverse or end lines)
/// and bytes that are no UTF-8 become \n, \t or \xNN.
std::string printable(std::string_view text);

/// As `printable`; of a text beyond some thousand bytes, its two ends.
std::string one_line(std::string_view text);

/// 16 hexadecimal digits, the highest first.
std::string hex(uint64_t number);

}  // namespace regraft
