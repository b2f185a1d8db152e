#pragma once
// What may be said of the kernel's integers, without quantifiers.
#include <string>
#include <string_view>
#include <vector>

#include "verify/kernel/list.h"
#include "verify/kernel/poly.h"

namespace regraft::kernel {

/// A fact; negations stand nowhere: negated() pushes them down to p >= 0 and p = 0. All of nothing
/// is true, any of nothing is false. Literals are kept as they are given.
struct Fact {
  enum Form : uint8_t { NonNegative, Zero, All, Any };
  Form form = All;
  Poly poly;                ///< NonNegative: poly >= 0. Zero: poly = 0.
  std::vector<Fact> parts;  ///< All, Any
  bool operator==(const Fact&) const = default;
};

Fact non_negative(Poly p);
Fact zero(Poly p);
Fact all(std::vector<Fact> parts);
Fact any(std::vector<Fact> parts);
/// Over the integers: of p >= 0 it is -p - 1 >= 0, of p = 0 it is p - 1 >= 0 or -p - 1 >= 0.
Fact negated(const Fact& f);

bool mentions(const Symbols& symbols, const Fact& f, Symbol s);
Fact substitute(Symbols& symbols, const Fact& f, const std::map<Symbol, Poly>& values);

/// Words with one space between them: "ge POLY", "eq POLY", "all N FACT ... FACT", "any N ...".
std::string text(const Symbols& symbols, const Fact& f);

/// The words of a text: what stands between spaces. Does not own the text.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) { skip(); }
  bool empty() const { return rest_.empty(); }
  /// Refused when there is none.
  std::string_view next();

 private:
  void skip();
  std::string_view rest_;
};

/// The fact that begins here; Refused if that is not the text of a fact.
Fact read_fact(Symbols& symbols, Words& words);

}  // namespace regraft::kernel
