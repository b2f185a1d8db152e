#pragma once
// JSON that this program wrote, as it may be after someone altered it.
#include <concepts>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/files/input_file.h"
#include "base/nesting.h"
#include "base/result.h"
#include "ir/algebra/poly.h"

namespace regraft::cli {

/// The value that a text is; discarded when it is none, or nested without end.
inline nlohmann::json parse_json(std::string_view text) {
  if (nested_too_deep(text)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, false);
}

/// A whole number that is a T. Throws for anything else: the library's own access makes a T of any
/// number, also of a real one beyond 64 bits, which the language does not define.
template <std::integral T = uint64_t>
T whole_number(const nlohmann::json& j) {
  bool fits = j.is_number_unsigned() ? std::in_range<T>(j.get<uint64_t>())
                                     : j.is_number_integer() && std::in_range<T>(j.get<int64_t>());
  if (!fits) throw std::invalid_argument("a number that is not whole, or out of range");
  return static_cast<T>(j.get<uint64_t>());
}

/// What `read` makes of a text that is read as JSON. Whatever it throws on the way (a key that is
/// not there, a number of another kind, one beyond 64 bits) is an Error: "NAME: not WHAT: why", in
/// one line.
template <class Read>
auto read_json(std::string_view text, const std::string& name, const std::string& what, Read&& read)
    -> decltype(read(std::declval<const nlohmann::json&>())) {
  auto j = parse_json(text);
  if (j.is_discarded()) return error(name + ": not " + what);
  std::string why;
  try {
    return read(std::as_const(j));
  } catch (const std::bad_alloc&) {
    why = "a count that is too large";
  } catch (const std::exception& e) {
    why = e.what();
  } catch (const PolyOverflow&) {
    why = "a number that is too large";
  }
  return error(name + ": not " + what + ": " + why);
}

/// The same of a file.
template <class Read>
auto read_json_file(const std::string& path, const std::string& what, Read&& read)
    -> decltype(read(std::declval<const nlohmann::json&>())) {
  constexpr size_t kMostBytes = size_t{1} << 32;
  auto text = read_file(path, kMostBytes);
  if (!text) return text.error();
  return read_json(*text, path, what, std::forward<Read>(read));
}

}  // namespace regraft::cli
