#include "verify/prove/equality.h"

#include <set>

#include "verify/normal/match.h"
#include "verify/normal/ranges.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

/// A table of numbers says what is read.
bool looks_up(const Sum& s) {
  return any_atom(s, [](const Atom& a) {
    return std::any_of(a.positions.begin(), a.positions.end(), [](const Poly& x) {
      return any_symbol(x, [](Var v) { return v->kind == SymbolKind::Lookup; });
    });
  });
}

bool has_functions(const Sum& s) {
  return any_atom(s, [](const Atom& a) { return a.argument || a.kind == Atom::Recip; });
}

/// Loops over few numbers as sums.
bool zero_unrolled(const Sum& sum, Context context) {
  context.loops = SmallLoops::Unroll;
  return is_zero(sum, context);
}

/// Positions of few numbers one after the other: tables are looked up there.
bool zero_at_each_position(const Sum& sum, const Context& context) {
  constexpr int64_t kFew = 8;
  for (const Formula& f : context.domain())
    for (const auto& t : f.poly.terms()) {
      Var v = t.monomial[0];
      auto range =
          v->kind == SymbolKind::Position ? constant_range(context.domain(), v) : std::nullopt;
      if (!range || range->high - range->low >= kFew) continue;
      for (int64_t k = range->low; k <= range->high; ++k) {
        if (!context.budget().split()) return false;
        Substitution there{{v, Poly(k)}};
        if (!zero_at_each_position(substitute(sum, there),
                                   context.only(substitute(context.domain(), there))))
          return false;
      }
      return true;
    }
  return zero_unrolled(sum, context);
}

/// A quotient of a sum that has few values where the context holds, and how many.
struct FewValues {
  Var quotient = nullptr;
  int64_t count = 0;
};

std::optional<FewValues> few_values(const Sum& s, const Context& context, std::set<Var>& seen) {
  constexpr int64_t kMost = 4;
  std::optional<FewValues> found;
  auto visit = [&](auto& self, const Poly& e) -> void {
    for (const auto& t : e.terms())
      for (Var v : t.monomial) {
        if (found || v->kind != SymbolKind::Quotient || !seen.insert(v).second) continue;
        self(self, *v->numerator);
        const Poly &n = *v->numerator, &d = *v->denominator;
        auto bound = [](Var x) { return x->kind == SymbolKind::Bound; };
        if (found || any_symbol(n, bound) || any_symbol(d, bound)) continue;
        for (int64_t k = 1; k <= kMost && !found; ++k)
          if (context.implies(Poly(0) <= n && n < Poly(k) * d)) found = {v, k};
      }
  };
  for (const Product& p : s.products) {
    for_each_poly(p, [&](const Poly& e) { visit(visit, e); });
    for (const Atom& a : p.atoms)
      if (!found && a.argument) found = few_values(*a.argument, context, seen);
    if (found) return found;
  }
  return std::nullopt;
}

/// Values of quotients that have few one after the other: what lies in each of the parts that were
/// concatenated or tiled.
bool zero_at_each_quotient(const Sum& sum, const Context& context, int depth = 0) {
  constexpr int kDeepest = 4;
  std::set<Var> seen;
  auto few = depth < kDeepest ? few_values(sum, context, seen) : std::nullopt;
  if (!few) return depth > 0 && is_zero(sum, context);
  const Poly &n = *few->quotient->numerator, &d = *few->quotient->denominator;
  for (int64_t k = 0; k < few->count; ++k) {
    if (!context.budget().split()) return false;
    const Context part = context.where(Poly(k) * d <= n && n < Poly(k + 1) * d);
    if (part.refuted()) continue;
    if (!zero_at_each_quotient(substitute(sum, {{few->quotient, Poly(k)}}), part, depth + 1))
      return false;
  }
  return true;
}

/// A position of which something is divided by a small number, and that number.
struct DividedPosition {
  Var position = nullptr;
  int64_t by = 0;
};

std::optional<DividedPosition> divided_position(const Sum& s) {
  constexpr int64_t kMost = 4;
  std::optional<DividedPosition> found;
  auto visit = [&](auto& self, const Poly& e) -> void {
    for (const auto& t : e.terms())
      for (Var v : t.monomial) {
        if (found || v->kind != SymbolKind::Quotient) continue;
        self(self, *v->numerator);
        if (found || !v->denominator->is_constant() || v->denominator->constant() > kMost) continue;
        int64_t d = v->denominator->constant();
        for (const auto& n : v->numerator->terms())
          if (n.monomial.size() == 1 && n.monomial[0]->kind == SymbolKind::Position &&
              n.coefficient % d != 0)
            found = {n.monomial[0], d};
      }
  };
  for (const Product& p : s.products) {
    for_each_poly(p, [&](const Poly& e) { visit(visit, e); });
    for (const Atom& a : p.atoms)
      if (!found && a.argument) found = divided_position(*a.argument);
    if (found) return found;
  }
  return std::nullopt;
}

/// Positions by what remains when they are divided: what lies at each place of a block.
bool zero_at_each_remainder(const Sum& sum, const Context& context, int depth = 0) {
  constexpr int kDeepest = 3;
  auto divided = depth < kDeepest ? divided_position(sum) : std::nullopt;
  if (!divided) return depth > 0 && zero_unrolled(sum, context);
  const auto& [position, d] = *divided;
  for (int64_t r = 0; r < d; ++r) {
    if (!context.budget().split()) return false;
    Poly whole = Poly::symbol(position->pool->fresh(position->name, SymbolKind::Position));
    Substitution there{{position, Poly(d) * whole + Poly(r)}};
    Conjunction domain = substitute(context.domain(), there);
    add(domain, Poly(0) <= whole);
    if (!zero_at_each_remainder(substitute(sum, there), context.only(std::move(domain)), depth + 1))
      return false;
  }
  return true;
}

Verdict stuck_at(const std::string& place) {
  return {VerdictKind::Unknown, "stuck at" + place.substr(0, 200)};
}

}  // namespace

Verdict prove_equal(const Side& left, const Side& right, const Context& given) {
  const Verdict proved{VerdictKind::ProvedSolver, {}};
  const Sum sum = difference(left.value, right.value);
  bool functions =
      has_functions(sum) || !left.partial.empty() || !right.partial.empty() || !given.facts.empty();
  const Context context = functions ? where_defined(left, given) : given;
  std::optional<Context> learnt;  // what the left side says, when someone asks
  if (functions)
    for (const Partial* x : open_partials(left, right, context)) {
      if (!learnt) learnt = learn_from(left, context);
      if (auto why = why_undefined(*x, *learnt)) return stuck_at(*why);
    }
  if (!keeps_maxima(left, right, context))
    return stuck_at(" a maximum, perhaps of nothing, that a factor 0 takes out of the formula");
  std::optional<Product> open;
  for (Products p : {Products::Opaque, Products::Exact}) {
    Context attempt = context;
    attempt.products = p;
    open = remainder_of(sum, attempt).open;
    if (!open) return proved;
  }
  if (zero_unrolled(sum, context)) return proved;
  if (looks_up(sum) && zero_at_each_position(sum, context)) return proved;
  if (zero_at_each_quotient(sum, context)) return proved;
  if (zero_at_each_remainder(sum, context)) return proved;
  if (functions) {
    if (!learnt) learnt = learn_from(left, context);
    learnt->maxima_defined = has_maxima(left.value, right.value, context);
    if (zero_by_laws(sum, *learnt)) return proved;
  }
  return stuck_at(to_string(single(*open)));
}

}  // namespace regraft::verify
