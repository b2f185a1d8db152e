#pragma once
// What is fit to be shown: how wide, and whether in colour.
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace regraft {

/// Of the terminal that the stream goes to, else what COLUMNS says; nullopt: nobody says. At least
/// 20.
std::optional<size_t> width_of(std::FILE* stream);
/// The same, else 80.
size_t columns(std::FILE* stream);

/// Is the stream a terminal on which a line can be drawn anew?
bool redraws(std::FILE* stream);
/// Where NO_COLOR is not set, to a terminal that is not TERM=dumb, or wherever CLICOLOR_FORCE asks
/// for it. Never inside another program.
bool in_colour(std::FILE* stream);

enum class Colour : unsigned char { Red, Green, Yellow };
/// The text in that colour, or as it is where the stream has none.
std::string painted(const std::string& text, Colour colour, std::FILE* stream);

/// Breaks lines longer than `width` after spaces, words longer than that after commas or anywhere.
/// What continues a line that begins with a space is indented by so many.
std::string wrapped(std::string_view text, size_t width, size_t indent);
/// The text, or its beginning and ".." where it has more characters.
std::string cut(const std::string& text, size_t width);

}  // namespace regraft
