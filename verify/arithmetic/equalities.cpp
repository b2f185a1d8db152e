#include "verify/arithmetic/equalities.h"

#include <algorithm>
#include <optional>

#include "verify/arithmetic/walk.h"

namespace regraft::verify {
namespace {

/// What is 0 where all of `facts` hold, as far as a look at them shows.
std::vector<Poly> zeros(const Conjunction& facts) {
  std::vector<Poly> found;
  for (const Formula& f : facts) {
    if (f.kind == Formula::Zero) found.push_back(f.poly);
    if (f.kind != Formula::NonNegative) continue;
    Formula opposite = non_negative(Poly(-1) * f.poly);
    auto less = [](const Formula& a, const Formula& b) { return compare(a, b) < 0; };
    if (std::binary_search(facts.begin(), facts.end(), opposite, less)) found.push_back(f.poly);
  }
  return found;
}

/// A denominator in p becomes a number below 1, for which quotients say nothing.
bool spoils(const Poly& p, const Substitution& s) {
  return any_symbol(p, [&](Var v) {
    if (!v->numerator) return false;
    Poly d = substitute(*v->denominator, s);
    return d.is_constant() && d.constant() < 1;
  });
}
bool spoils(const Formula& f, const Substitution& s) {
  return spoils(f.poly, s) ||
         std::any_of(f.parts.begin(), f.parts.end(), [&](auto& part) { return spoils(part, s); });
}

/// c * s * t * ... = c for sizes s, t, ...: each is 1.
bool ones(const Poly& zero, Substitution& s) {
  if (zero.terms().size() != 1 || zero.terms()[0].coefficient != -zero.constant()) return false;
  const Monomial& m = zero.terms()[0].monomial;
  if (!std::all_of(m.begin(), m.end(),
                   [](Var v) { return v->kind == SymbolKind::Size && v->min >= 0; }))
    return false;
  for (Var v : m) s[v] = Poly(1);
  return true;
}

/// A replacement that one of the equalities allows.
std::optional<Substitution> replacement(const Conjunction& facts) {
  for (const Poly& zero : zeros(facts)) {
    Substitution s;
    if (!ones(zero, s)) {
      Poly e;
      for (const auto& t : zero.terms())
        if (s.empty() && t.monomial.size() == 1 && !t.monomial[0]->numerator &&
            solve_for(zero, t.monomial[0], e))
          s[t.monomial[0]] = e;
    }
    bool usable = !s.empty() && std::none_of(facts.begin(), facts.end(),
                                             [&](const Formula& f) { return spoils(f, s); });
    if (usable) return s;
  }
  return std::nullopt;
}

}  // namespace

Conjunction without_equalities(Conjunction facts) {
  while (auto s = replacement(facts)) {
    Conjunction rest = substitute(facts, *s);
    for (const auto& [v, e] : *s)
      if (v->kind == SymbolKind::Size) add(rest, Poly(v->min) <= e);
    facts = std::move(rest);
  }
  return facts;
}

}  // namespace regraft::verify
