#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/host.h"

namespace regraft {
namespace {

constexpr size_t kLeast = 20, kUsual = 80, kMost = 10000;

std::string_view set(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

/// -1: it is no file.
int number_of(std::FILE* stream) { return stream ? fileno(stream) : -1; }

bool is_terminal(std::FILE* stream) {
  int number = number_of(stream);
  return !hosted() && number >= 0 && isatty(number) != 0;
}

/// Does this byte of UTF-8 begin a character?
bool begins(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

size_t length(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, begins));
}

/// The bytes of the first so many characters.
size_t bytes_of(std::string_view text, size_t characters) {
  size_t k = 0;
  for (; k < text.size(); ++k)
    if (begins(text[k]) && characters-- == 0) break;
  return k;
}

/// Where a line of `room` characters may end: behind a space, or a comma where that leaves much
/// less room unused, else anywhere.
size_t break_in(std::string_view line, size_t room, size_t lead) {
  size_t most = bytes_of(line, room);
  auto behind = [&](size_t at) { return at != std::string_view::npos && at > lead ? at + 1 : 0; };
  size_t space = behind(line.substr(0, std::min(line.size(), most + 1)).rfind(' '));
  size_t comma = behind(line.substr(0, most).rfind(','));
  if (space > 0 && (2 * space > most || comma < space)) return space;
  return comma > 0 ? comma : space > 0 ? space : std::max<size_t>(most, 1);
}

std::string wrapped_line(std::string_view line, size_t width, size_t indent) {
  std::string text;
  size_t lead = std::min(line.find_first_not_of(' '), line.size());
  const std::string before(lead > 0 ? std::min(indent, width / 2) : 0, ' ');
  for (size_t room = width; length(line) > room; room = width - before.size()) {
    size_t end = break_in(line, room, lead);
    std::string_view part = line.substr(0, end);
    text += std::string(part.substr(0, part.find_last_not_of(' ') + 1)) + "\n" + before;
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    lead = 0;
  }
  return text + std::string(line);
}

}  // namespace

std::optional<size_t> width_of(std::FILE* stream) {
  winsize size{};
  if (is_terminal(stream) && ioctl(number_of(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<size_t>(size.ws_col, kLeast);
  size_t said = std::strtoul(std::string(set("COLUMNS")).c_str(), nullptr, 10);
  if (hosted() || said == 0) return std::nullopt;
  return std::clamp(said, kLeast, kMost);
}

size_t columns(std::FILE* stream) { return width_of(stream).value_or(kUsual); }

bool redraws(std::FILE* stream) { return is_terminal(stream) && set("TERM") != "dumb"; }

bool in_colour(std::FILE* stream) {
  if (hosted() || !set("NO_COLOR").empty()) return false;
  std::string_view force = set("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return redraws(stream) && set("CLICOLOR") != "0";
}

std::string painted(const std::string& text, Colour colour, std::FILE* stream) {
  if (text.empty() || !in_colour(stream)) return text;
  const char* code = colour == Colour::Red ? "31" : colour == Colour::Green ? "32" : "33";
  return "\033[" + std::string(code) + "m" + text + "\033[0m";
}

std::string cut(const std::string& text, size_t width) {
  if (length(text) <= width || width < 2) return text;
  return text.substr(0, bytes_of(text, width - 2)) + "..";
}

std::string wrapped(std::string_view text, size_t width, size_t indent) {
  std::string all;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    all += wrapped_line(text.substr(0, end), width, indent);
    if (end < text.size()) all += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace regraft
