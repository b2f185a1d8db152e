#include "cli/pages/text.h"

#include "base/printable.h"

namespace regraft::cli {
namespace {

bool starts_letter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

std::string escape_html(std::string_view text) {
  std::string s;
  for (char c : printable(text)) {
    if (c == '&')
      s += "&amp;";
    else if (c == '<')
      s += "&lt;";
    else if (c == '>')
      s += "&gt;";
    else if (c == '"')
      s += "&quot;";
    else
      s += c;
  }
  return s;
}

size_t letters(std::string_view text) {
  size_t n = 0;
  for (char c : printable(text)) n += starts_letter(c);
  return n;
}

std::string cut(std::string_view text, size_t most) {
  std::string all = printable(text);
  if (letters(all) <= most) return all;
  size_t n = 0, end = 0;
  while (end < all.size() && n + starts_letter(all[end]) < most) n += starts_letter(all[end++]);
  while (end < all.size() && !starts_letter(all[end])) ++end;
  return all.substr(0, end) + "…";
}

}  // namespace regraft::cli
