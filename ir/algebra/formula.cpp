#include "ir/algebra/formula.h"

#include <algorithm>
#include <numeric>

namespace regraft {

int compare(const Formula& a, const Formula& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (int c = compare(a.poly, b.poly)) return c;
  if (a.parts.size() != b.parts.size()) return a.parts.size() < b.parts.size() ? -1 : 1;
  for (size_t i = 0; i < a.parts.size(); ++i)
    if (int c = compare(a.parts[i], b.parts[i])) return c;
  return 0;
}

Formula non_negative(Poly p) {
  if (p.is_constant()) return {p.constant() >= 0 ? Formula::True : Formula::False, {}, {}};
  int64_t g = content(p);
  if (g > 1) p = divided(p, g);  // tightens the constant
  return {Formula::NonNegative, std::move(p), {}};
}

namespace {

/// p without one factor v. REQUIRES: every term has it.
Poly divided(const Poly& p, Var v) {
  Poly r;
  for (auto [monomial, coefficient] : p.terms()) {
    monomial.erase(std::find(monomial.begin(), monomial.end(), v));
    r = r + Poly::product(std::move(monomial), coefficient);
  }
  return r;
}

/// A symbol that all terms share and that is not zero; nullptr when there is none.
Var shared_factor(const Poly& p) {
  if (p.constant() != 0) return nullptr;
  for (Var v : p.terms()[0].monomial)
    if (v->min >= 1 && std::all_of(p.terms().begin(), p.terms().end(), [&](const Poly::Term& t) {
          return std::find(t.monomial.begin(), t.monomial.end(), v) != t.monomial.end();
        }))
      return v;
  return nullptr;
}

}  // namespace

Formula is_zero(Poly p) {
  while (!p.is_constant()) {
    Var v = shared_factor(p);
    if (!v) break;
    p = divided(p, v);
  }
  if (p.is_constant()) return {p.is_zero() ? Formula::True : Formula::False, {}, {}};
  int64_t g = content(p);
  if (p.constant() % g != 0) return {Formula::False, {}, {}};
  p = divided(p, g);
  if (p.terms().back().coefficient < 0) p = Poly(-1) * p;
  return {Formula::Zero, std::move(p), {}};
}

Formula junction(Formula::Kind kind, std::vector<Formula> parts) {
  auto absorbing = kind == Formula::And ? Formula::False : Formula::True;
  auto neutral = kind == Formula::And ? Formula::True : Formula::False;
  std::vector<Formula> flat;
  for (auto& f : parts) {
    if (f.kind == absorbing) return f;
    if (f.kind == neutral) continue;
    if (f.kind == kind)
      flat.insert(flat.end(), f.parts.begin(), f.parts.end());
    else
      flat.push_back(std::move(f));
  }
  std::sort(flat.begin(), flat.end(), [](auto& a, auto& b) { return compare(a, b) < 0; });
  flat.erase(
      std::unique(flat.begin(), flat.end(), [](auto& a, auto& b) { return compare(a, b) == 0; }),
      flat.end());
  if (flat.empty()) return {neutral, {}, {}};
  if (flat.size() == 1) return flat[0];
  return {kind, {}, std::move(flat)};
}

Formula operator&&(const Formula& a, const Formula& b) { return junction(Formula::And, {a, b}); }
Formula operator||(const Formula& a, const Formula& b) { return junction(Formula::Or, {a, b}); }

Formula negate(const Formula& f) {
  switch (f.kind) {
    case Formula::True:
      return {Formula::False, {}, {}};
    case Formula::False:
      return {};
    case Formula::NonNegative:
      return non_negative(Poly(-1) * f.poly - Poly(1));
    case Formula::Zero:
      return non_negative(f.poly - Poly(1)) || non_negative(Poly(-1) * f.poly - Poly(1));
    case Formula::And:
    case Formula::Or:
      break;
  }
  std::vector<Formula> parts;
  for (const auto& p : f.parts) parts.push_back(negate(p));
  return junction(f.kind == Formula::And ? Formula::Or : Formula::And, std::move(parts));
}

Formula operator<=(const Poly& a, const Poly& b) { return non_negative(b - a); }
Formula operator<(const Poly& a, const Poly& b) { return non_negative(b - a - Poly(1)); }
Formula operator==(const Poly& a, const Poly& b) { return is_zero(a - b); }

Formula substitute(const Formula& f, const Substitution& s) {
  if (f.kind == Formula::NonNegative) return non_negative(substitute(f.poly, s));
  if (f.kind == Formula::Zero) return is_zero(substitute(f.poly, s));
  if (f.parts.empty()) return f;
  std::vector<Formula> parts;
  for (const auto& p : f.parts) parts.push_back(substitute(p, s));
  return junction(f.kind, std::move(parts));
}

bool mentions(const Formula& f, Var v) {
  if (mentions(f.poly, v)) return true;
  return std::any_of(f.parts.begin(), f.parts.end(), [&](auto& p) { return mentions(p, v); });
}

bool evaluate(const Formula& f, const Valuation& values) {
  auto holds = [&](const Formula& p) { return evaluate(p, values); };
  switch (f.kind) {
    case Formula::True:
      return true;
    case Formula::False:
      return false;
    case Formula::NonNegative:
      return evaluate(f.poly, values) >= 0;
    case Formula::Zero:
      return evaluate(f.poly, values) == 0;
    case Formula::And:
      return std::all_of(f.parts.begin(), f.parts.end(), holds);
    case Formula::Or:
      return std::any_of(f.parts.begin(), f.parts.end(), holds);
  }
  return false;
}

std::string to_string(const Formula& f) {
  switch (f.kind) {
    case Formula::True:
      return "true";
    case Formula::False:
      return "false";
    case Formula::NonNegative:
      return to_string(f.poly) + ">=0";
    case Formula::Zero:
      return to_string(f.poly) + "==0";
    case Formula::And:
    case Formula::Or:
      break;
  }
  std::string s = "(";
  for (const auto& p : f.parts)
    s += (s.size() > 1 ? (f.kind == Formula::And ? " & " : " | ") : "") + to_string(p);
  return s + ")";
}

void add(Conjunction& c, const Formula& f) {
  if (f.kind == Formula::True) return;
  if (f.kind == Formula::And) {
    for (const auto& p : f.parts) add(c, p);
    return;
  }
  auto it =
      std::lower_bound(c.begin(), c.end(), f, [](auto& a, auto& b) { return compare(a, b) < 0; });
  if (it == c.end() || compare(*it, f) != 0) c.insert(it, f);
}

Conjunction substitute(const Conjunction& c, const Substitution& s) {
  Conjunction r;
  for (const auto& f : c) add(r, substitute(f, s));
  return r;
}

bool evaluate(const Conjunction& c, const Valuation& values) {
  return std::all_of(c.begin(), c.end(), [&](auto& f) { return evaluate(f, values); });
}

namespace {

/// a is sign * b but for the constant.
bool same_terms(const Poly& a, const Poly& b, int64_t sign) {
  if (sign == 1 && a.shares_terms(b)) return true;
  return std::equal(a.terms().begin(), a.terms().end(), b.terms().begin(), b.terms().end(),
                    [&](const Poly::Term& x, const Poly::Term& y) {
                      return x.coefficient == sign * y.coefficient &&
                             std::equal(x.monomial.begin(), x.monomial.end(), y.monomial.begin(),
                                        y.monomial.end());
                    });
}

}  // namespace

bool plainly_false(const Conjunction& c) {
  for (size_t i = 0; i < c.size(); ++i) {
    if (c[i].kind == Formula::False) return true;
    if (c[i].kind != Formula::NonNegative) continue;
    for (size_t j = 0; j < i; ++j) {
      if (c[j].kind != Formula::NonNegative) continue;
      if (!same_terms(c[i].poly, c[j].poly, -1)) continue;
      if ((c[i].poly + c[j].poly).constant() < 0) return true;
    }
  }
  return false;
}

bool plainly_implies(const Conjunction& h, const Formula& f) {
  if (f.kind == Formula::True) return true;
  for (const auto& x : h) {
    if (compare(x, f) == 0) return true;
    if (f.kind != Formula::NonNegative) continue;
    bool says = x.kind == Formula::NonNegative || x.kind == Formula::Zero;
    if (says && same_terms(f.poly, x.poly, 1) && (f.poly - x.poly).constant() >= 0) return true;
    if (x.kind == Formula::Zero && same_terms(f.poly, x.poly, -1) &&
        (f.poly + x.poly).constant() >= 0)
      return true;
  }
  return false;
}

}  // namespace regraft
