#pragma once
// Text for pages: made printable, cut, escaped.
#include <cstddef>
#include <string>
#include <string_view>

namespace regraft::cli {

/// Any bytes as text of HTML and XML, in elements and in attributes with double quotes. Control
/// characters and bytes that are no UTF-8 are spelled out (base/printable.h).
std::string escape_html(std::string_view text);
/// Code points of the text when it is made printable.
size_t letters(std::string_view text);
/// The printable text, with its end replaced by an ellipsis when it has more than `most` letters.
std::string cut(std::string_view text, size_t most);

}  // namespace regraft::cli
