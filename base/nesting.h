#pragma once
// Guards against texts that are nested without end.
#include <string_view>

namespace regraft {

/// Whether lists and objects of a text of JSON are nested deeper than anything that this program
/// writes: what copies, compares or prints a value goes down into it by recursion.
inline bool nested_too_deep(std::string_view json) {
  constexpr int kMostDepth = 64;
  int depth = 0;
  bool in_text = false;
  for (size_t k = 0; k < json.size(); ++k) {
    char c = json[k];
    if (in_text && c == '\\') {
      ++k;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '[' || c == '{')) {
      if (++depth > kMostDepth) return true;
    } else if (!in_text && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

}  // namespace regraft
