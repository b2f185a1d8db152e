#include "verify/replay/notation.h"

#include <bit>
#include <charconv>

#include "ir/algebra/function.h"

namespace regraft::verify {
namespace {

/// The terms with coefficients of one sign, which they lose.
kernel::Poly part(const kernel::Poly& p, int sign) {
  kernel::Poly r;
  for (const auto& [monomial, c] : p.terms()) {
    if ((c > 0) != (sign > 0)) continue;
    kernel::Poly term(sign * c);
    for (kernel::Symbol s : monomial) term = term * kernel::Poly::symbol(s);
    r = r + term;
  }
  return r;
}

std::string fraction_text(kernel::Fraction c) {
  return std::to_string(c.n) + (c.d == 1 ? "" : "/" + std::to_string(c.d));
}

/// A variable without what tells it from others of its name, or a double.
std::string real_name(const std::string& text) {
  if (!text.starts_with('#')) return text.substr(0, text.find('#'));
  int64_t bits = 0;
  std::from_chars(text.data() + 1, text.data() + text.size(), bits);
  constexpr size_t kDigits = 32;
  char digits[kDigits];
  auto end = std::to_chars(digits, digits + kDigits, std::bit_cast<double>(bits)).ptr;
  return {digits, end};
}

}  // namespace

std::string KernelNotation::text(const kernel::Fact& f) const {
  if (f.form == kernel::Fact::NonNegative || f.form == kernel::Fact::Zero) {
    const char* relation = f.form == kernel::Fact::Zero ? " = " : " <= ";
    return symbols_.text(part(f.poly, -1)) + relation + symbols_.text(part(f.poly, 1));
  }
  bool all = f.form == kernel::Fact::All;
  if (f.parts.empty()) return all ? "true" : "false";
  std::string s;
  for (const kernel::Fact& p : f.parts) s += (s.empty() ? "" : all ? " and " : " or ") + text(p);
  return "(" + s + ")";
}

std::string KernelNotation::text(const std::vector<kernel::Fact>& facts) const {
  std::string s;
  for (const kernel::Fact& f : facts) s += (s.empty() ? "" : ", ") + text(f);
  return s;
}

std::string KernelNotation::range(const char* name, const std::vector<kernel::Symbol>& bound,
                                  const std::vector<kernel::Fact>& guard) const {
  std::string s;
  for (kernel::Symbol b : bound) s += (s.empty() ? "" : ",") + symbols_[b].name;
  if (!guard.empty()) s += (s.empty() ? "" : ": ") + text(guard);
  return std::string(name) + "[" + s + "]";
}

std::string KernelNotation::text(const kernel::Atom& a) const {
  std::string positions;
  for (const kernel::Poly& p : a.positions)
    positions += (positions.empty() ? "" : ",") + symbols_.text(p);
  switch (a.kind) {
    case kernel::Atom::Read:
      return inputs_.at(static_cast<size_t>(a.head)) + "[" + positions + "]";
    case kernel::Atom::Recip:
      return "1/(" + positions + ")";
    case kernel::Atom::Number:
      return "(" + positions + ")";
    case kernel::Atom::Apply:
      return std::string(facts(static_cast<Fn>(a.head)).name) + "(" + text(*a.argument) + ")";
    case kernel::Atom::Max:
      return range("largest", a.bound, a.guard) + "(" + text(*a.argument) + ")";
    case kernel::Atom::Unknown:
      break;
  }
  return real_name(a.real);
}

std::string KernelNotation::text(const kernel::Product& p) const {
  std::string s;
  if (p.coefficient != kernel::Fraction{1, 1} || p.atoms.empty()) s = fraction_text(p.coefficient);
  if (p.coefficient == kernel::Fraction{-1, 1} && !p.atoms.empty()) s = "-";
  if (!p.bound.empty() || !p.guard.empty()) {
    s += s.empty() || s == "-" ? "" : " ";
    s += range(p.bound.empty() ? "if" : "sum", p.bound, p.guard);
  }
  for (const kernel::Atom& a : p.atoms)
    s += (s.empty() || s == "-"                   ? ""
          : s.ends_with("]") && &a == &p.atoms[0] ? " "
                                                  : " * ") +
         text(a);
  return s;
}

std::string KernelNotation::text(const kernel::Sum& s) const {
  std::string all;
  for (const kernel::Product& p : s.products) {
    std::string one = text(p);
    if (all.empty())
      all = one;
    else
      all += one.starts_with('-') ? " - " + one.substr(1) : " + " + one;
  }
  return all.empty() ? "0" : all;
}

std::string KernelNotation::fact(const std::string& words) const {
  kernel::Symbols copy = symbols_;
  kernel::Words rest(words);
  try {
    return KernelNotation(copy, inputs_).text(kernel::read_fact(copy, rest));
  } catch (const kernel::Refused&) {  // it names what a step within others makes
    return words;
  }
}

}  // namespace regraft::verify
