#include "cli/pages/formulas.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/algebra/scan.h"

namespace regraft::cli {
namespace {

std::string subscript(int n) {
  std::string s;
  for (char c : std::to_string(n)) s += std::string("\xe2\x82") + static_cast<char>(0x80 + c - '0');
  return s;
}

bool is_bound(Var v) { return v->kind == SymbolKind::Bound; }

/// v is in p once, with this coefficient and no other factor, and in no quotient.
bool bounded(const Poly& p, Var v, int64_t coefficient) {
  bool found = false;
  for (const auto& t : p.terms())
    found = found || (t.coefficient == coefficient && t.monomial.size() == 1 && t.monomial[0] == v);
  return found && !mentions(p + Poly(-coefficient) * Poly::symbol(v), v);
}

}  // namespace

Notation::Notation(std::vector<std::string> variables, const std::vector<std::string>& others)
    : variables_(std::move(variables)) {
  auto taken = [&](const std::string& letter) {
    return std::ranges::find(variables_, letter) != variables_.end() ||
           std::ranges::find(others, letter) != others.end();
  };
  for (const char* letter : {"k", "j", "l", "u", "κ"})
    if (letter_.empty() && !taken(letter)) letter_ = letter;
}

void Notation::restart() { names_.clear(); }

std::string Notation::name(Var v) {
  if (v->kind == SymbolKind::Position) return v->name;
  if (!is_bound(v)) return text::symbol_text(v);
  auto [it, fresh] = names_.try_emplace(v);
  if (fresh)
    it->second =
        names_.size() == 1 ? letter_ : letter_ + subscript(static_cast<int>(names_.size()));
  return it->second;
}

std::string Notation::factor(Var v) {
  if (!v->numerator) return name(v);
  auto inner = [this](const Poly& p) {
    bool one = p.is_constant() || (p.terms().size() == 1 && p.constant() == 0);
    return one ? text(p) : "(" + text(p) + ")";
  };
  if (v->kind == SymbolKind::Lookup)
    return fmt::format("table{}[{}]", v->table, text(*v->numerator));
  return "⌊" + inner(*v->numerator) + " / " + inner(*v->denominator) + "⌋";
}

/// What is added stands first.
std::string Notation::text(const Poly& p) {
  std::string plus, minus;
  for (const auto& t : p.terms()) {
    int64_t n = std::abs(t.coefficient);
    std::string s = n == 1 ? "" : std::to_string(n);
    for (Var v : t.monomial) s += (s.empty() ? "" : "·") + factor(v);
    if (t.coefficient > 0)
      plus += (plus.empty() ? "" : " + ") + s;
    else
      minus += (minus.empty() ? "" : " − ") + s;
  }
  int64_t c = p.constant();
  if (c > 0) plus += (plus.empty() ? "" : " + ") + std::to_string(c);
  if (c < 0) minus += (minus.empty() ? "" : " − ") + std::to_string(-c);
  if (minus.empty()) return plus.empty() ? "0" : plus;
  return plus.empty() ? "−" + minus : plus + " − " + minus;
}

/// p >= 0, or p == 0, with what is subtracted on the other side.
std::string Notation::difference(const Poly& p, bool equal) {
  Poly left, right;
  for (const auto& t : p.terms()) {
    Poly term = Poly::product(t.monomial, std::abs(t.coefficient));
    (t.coefficient > 0 ? left : right) = (t.coefficient > 0 ? left : right) + term;
  }
  bool strict = !equal && p.constant() == -1;
  if (!strict)
    (p.constant() > 0 ? left : right) =
        (p.constant() > 0 ? left : right) + Poly(std::abs(p.constant()));
  const char* sign = equal ? " = " : strict ? " > " : " ≥ ";
  if (!left.is_constant()) return text(left) + sign + text(right);
  return text(right) + (equal ? " = " : strict ? " < " : " ≤ ") + text(left);
}

std::string Notation::text(const Formula& f) {
  switch (f.kind) {
    case Formula::True:
      return "true";
    case Formula::False:
      return "false";
    case Formula::NonNegative:
    case Formula::Zero:
      return difference(f.poly, f.kind == Formula::Zero);
    case Formula::And:
    case Formula::Or:
      break;
  }
  std::string s;
  for (const Formula& part : f.parts) {
    bool nested = !part.parts.empty();
    s += (s.empty() ? "" : f.kind == Formula::And ? " and " : " or ");
    s += nested ? "(" + text(part) + ")" : text(part);
  }
  return s;
}

/// "Σ[0 ≤ k < n, c] " or "max[..] ": the ranges of the bound variables, then the other conditions.
std::string Notation::ranges(const std::vector<Var>& bound, const Conjunction& guard,
                             bool maximum) {
  std::vector<char> said(guard.size(), 0);
  std::string s;
  auto add = [&](const std::string& part) { s += (s.empty() ? "" : ", ") + part; };
  for (Var v : bound) {
    std::string low, high;
    for (size_t k = 0; k < guard.size(); ++k) {
      const Formula& f = guard[k];
      if (said[k] || f.kind != Formula::NonNegative) continue;
      if (low.empty() && bounded(f.poly, v, 1) && f.poly.terms().size() == 1) {
        low = text(Poly(-f.poly.constant())) + " ≤ ";
        said[k] = 1;
      } else if (high.empty() && bounded(f.poly, v, -1)) {
        high = " < " + text(f.poly + Poly::symbol(v) + Poly(1));
        said[k] = 1;
      }
    }
    add(low + name(v) + high);
  }
  for (size_t k = 0; k < guard.size(); ++k)
    if (!said[k]) add(text(guard[k]));
  if (s.empty()) return maximum ? "max" : "";
  return (maximum ? "max[" : bound.empty() ? "[" : "Σ[") + s + "] ";
}

std::string Notation::list(const std::vector<Poly>& positions) {
  std::string s;
  for (const Poly& p : positions) s += (s.empty() ? "" : ", ") + text(p);
  return s;
}

std::string Notation::text(const Atom& a) {
  auto real = [](const Real& r) {
    return r.symbol ? r.symbol->name : regraft::text::print(r.value);
  };
  auto inner = [&] { return a.argument ? text(*a.argument) : list(a.positions); };
  switch (a.kind) {
    case Atom::Read: {
      std::string tensor = variables_.at(static_cast<size_t>(a.head));
      return a.positions.empty() ? tensor : tensor + "[" + list(a.positions) + "]";
    }
    case Atom::Recip:
      return "1/(" + list(a.positions) + ")";
    case Atom::Number:
      return "(" + list(a.positions) + ")";
    case Atom::Apply:
      return std::string(facts(static_cast<Fn>(a.head)).name) + "(" + inner() + ")";
    case Atom::Clip:
      return "clip(" + inner() + ", " + real(a.reals[0]) + ", " + real(a.reals[1]) + ")";
    case Atom::Max:
      return "(" + ranges(a.bound, a.guard, true) + inner() + ")";
    case Atom::Opaque:
      return real(a.reals[0]);
  }
  return {};
}

std::string Notation::text(const Product& p) {
  std::string s = ranges(p.bound, p.guard, false), factors;
  Rational c = p.coefficient;
  int64_t n = std::abs(c.n);
  if (n != 1 || c.d != 1 || p.atoms.empty())
    factors = c.d == 1 ? std::to_string(n) : fmt::format("{}/{}", n, c.d);
  for (const Atom& a : p.atoms) factors += (factors.empty() ? "" : " · ") + text(a);
  return s + factors;
}

std::string Notation::text(const Sum& s) {
  if (s.products.empty()) return "0";
  std::string all;
  for (const Product& p : s.products) {
    bool negative = p.coefficient.n < 0;
    all += all.empty() ? (negative ? "−" : "") : (negative ? " − " : " + ");
    all += text(p);
  }
  return all;
}

}  // namespace regraft::cli
