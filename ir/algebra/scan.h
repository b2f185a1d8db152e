#pragma once
// What the text forms of rules and graphs share: a scanner with columns, polynomials, attributes.
#include <charconv>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/algebra/poly.h"

namespace regraft::text {

/// Reads one line from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view line) : line_(line) {}

  void skip_space();
  bool at_end();
  /// The next character, or 0 at the end.
  char peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  /// Consumes `token` when it comes next.
  bool eat(std::string_view token);
  /// Consumes the longest run of letters, digits, '_' and `extra`; may be empty.
  std::string_view word(std::string_view extra = {});
  /// A letter or '_' followed by letters, digits and '_'; empty when there is none.
  std::string_view identifier();
  Result<int64_t> integer();
  Result<double> real();
  /// A text in double quotes with the escapes that `quoted` makes.
  Result<std::string> quoted_text();
  size_t position() const { return at_; }
  void rewind(size_t position) { at_ = position; }
  /// "column 12: <message>", at the current place or at an earlier position.
  Error error_here(std::string_view message) const { return error_at(at_, message); }
  static Error error_at(size_t position, std::string_view message);

 private:
  std::string_view line_;
  size_t at_ = 0;
};

/// Text in double quotes; quotes, backslashes and line ends are escaped.
std::string quoted(std::string_view s);
/// The shortest text that reads back as the same double.
std::string print(double x);

/// The name under which a symbol is printed; the Symbol's own name by default.
using SymbolName = std::function<std::string(Var)>;
std::string symbol_text(Var v);
/// Text of a polynomial that depends on the names of its symbols only, not on their ids.
std::string print(const Poly& p, const SymbolName& name = symbol_text);
std::string print(const std::vector<Poly>& list, const SymbolName& name = symbol_text);

/// Makes the symbol of that name, whose text starts at `position`.
using SymbolMaker = std::function<Result<Var>(const std::string& name, size_t position)>;
/// Reads a sum of products of numbers, symbols and floor(p/q).
Result<Poly> read_poly(Scanner& in, SymbolPool& pool, const SymbolMaker& symbol);
Result<std::vector<Poly>> read_polys(Scanner& in, SymbolPool& pool, const SymbolMaker& symbol);

}  // namespace regraft::text
