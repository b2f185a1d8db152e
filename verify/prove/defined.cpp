// Is the right side of an equality defined where the left one is?
#include <algorithm>

#include "verify/normal/alike.h"
#include "verify/normal/laws.h"
#include "verify/normal/match.h"
#include "verify/normal/ranges.h"
#include "verify/normal/signs.h"
#include "verify/normal/simplify.h"
#include "verify/normal/sums.h"
#include "verify/prove/equality.h"

namespace regraft::verify {
namespace {

/// A maximum in a formula, and when it is evaluated.
struct Maximum {
  const Atom* atom = nullptr;
  std::vector<Var> bound;
  Conjunction guard;
};

/// The maxima of a sum outside of other maxima, with their ranges in the guards.
std::vector<Maximum> maxima_of(const Sum& s, const Maximum& at = {}) {
  std::vector<Maximum> all;
  for (const auto& p : s.products)
    for (const auto& a : p.atoms) {
      if (!a.argument) continue;
      Maximum inner = at;
      inner.bound.insert(inner.bound.end(), p.bound.begin(), p.bound.end());
      inner.guard = both(inner.guard, p.guard);
      if (a.kind == Atom::Max) {
        all.push_back(inner);
        all.back().atom = &a;
        inner.bound.insert(inner.bound.end(), a.bound.begin(), a.bound.end());
        inner.guard = both(inner.guard, a.guard);
      }
      std::ranges::move(maxima_of(*a.argument, inner), std::back_inserter(all));
    }
  return all;
}

/// The same argument under the same conditions.
bool same_partial(const Partial& a, const Partial& b) {
  if (a.function != b.function) return false;
  auto as_product = [](const Partial& x) {
    Product p;
    p.bound = x.bound;
    p.guard = x.guard;
    Atom f;
    f.kind = Atom::Apply;
    f.head = static_cast<int>(x.function);
    f.argument = std::make_shared<Sum>(x.argument);
    p.atoms.push_back(std::move(f));
    return p;
  };
  return alike(as_product(a), as_product(b));
}

/// The sign of s is as needed, perhaps by that of s times a positive denominator.
bool has_sign(const Sum& s, Sign needed, const Context& context, int depth = 0) {
  constexpr int kDeepest = 3;
  if (implies(sign_of(s, context), needed)) return true;
  if (depth == kDeepest || context.facts.empty()) return false;
  for (const Product& p : s.products)
    for (const Atom& d : p.atoms) {
      if (!is_function(d, Fn::Recip) || mentions_any(d, p.bound)) continue;
      if (!sign_of(d, context).positive()) continue;
      Sum times = without_denominator(s.products, d, [&](const Atom& a, const Product&) {
        return is_function(a, Fn::Recip) && same_atom(a, d, context);
      });
      return has_sign(merged(normal_form(times, context), context), needed, context, depth + 1);
    }
  return false;
}

/// Why 1/s or the root of s may be undefined; nullopt: it is not.
std::optional<std::string> why_undefined(Fn f, const Sum& argument, const Context& context) {
  if (context.refuted(Products::Opaque)) return std::nullopt;
  Sum s = normal_form(argument, context);
  for (const auto& p : s.products)
    for (const auto& g : p.guard) {
      if (mentions_any(g, p.bound) || context.decides(g) || !context.budget().split()) continue;
      if (auto why = why_undefined(f, s, context.where(g))) return why;
      return why_undefined(f, s, context.where(negate(g)));
    }
  Sign needed = domain_sign(f);
  if (needed == sign::kNotZero ? not_zero(s, context) : has_sign(s, needed, context))
    return std::nullopt;
  std::string_view outside = needed.may_be_zero()       ? "negative"
                             : needed.may_be_negative() ? "zero"
                                                        : "negative or zero";
  return " possibly " + std::string(outside) + ":" + to_string(s);
}

}  // namespace

Context where_defined(const Side& left, const Context& context) {
  Context r = context;
  for (const Partial& x : left.partial) {
    if (x.function != Fn::Recip || !x.bound.empty() || !r.implies(x.guard)) continue;
    Sum count = rename_bound(normal_form(x.argument, r));
    bool plain = count.products.size() == 1 && count.products[0].atoms.empty();
    if (plain) r = r.where(count.products[0].guard);
  }
  return r;
}

Context learn_from(const Side& left, const Context& context) {
  Context r = context;
  r.laws = Laws::Plain;
  // What one says of a factor, the others may need: once more.
  for (size_t k = 0; k < 2 * left.partial.size(); ++k) {
    const Partial& x = left.partial[k % left.partial.size()];
    Sum argument = normal_form(x.argument, r.where(x.guard));
    bool quotient = x.function == Fn::Recip;
    r = learn(r, {argument, x.bound, x.guard, domain_sign(x.function)});
    const Atom* root = only_atom(argument);
    if (quotient && root && is_function(*root, Fn::Sqrt))
      r = learn(r, {*root->argument, x.bound, x.guard, sign::kPositive});
  }
  return r;
}

std::vector<const Partial*> open_partials(const Side& left, const Side& right,
                                          const Context& context) {
  std::vector<const Partial*> seen, open;
  for (const Partial& y : left.partial) seen.push_back(&y);
  for (const Partial& x : right.partial) {
    if (std::ranges::any_of(seen, [&](const Partial* y) { return same_partial(x, *y); })) continue;
    seen.push_back(&x);  // if it is not defined, the answer is no
    Sign plain = sign_of(x.argument, context.where(x.guard));
    if (!implies(plain, domain_sign(x.function))) open.push_back(&x);
  }
  return open;
}

std::optional<std::string> why_undefined(const Partial& x, Context context) {
  context.thorough = true;
  return why_undefined(x.function, x.argument, context.where(x.guard));
}

bool has_maxima(const Sum& left, const Sum& right, const Context& context) {
  std::vector<Maximum> given = maxima_of(left), wanted = maxima_of(right);
  return std::all_of(wanted.begin(), wanted.end(), [&](const Maximum& x) {
    const Atom& m = *x.atom;
    const Context where = context.where(x.guard);
    if (has_element(m, where)) return true;
    return std::any_of(given.begin(), given.end(), [&](const Maximum& y) {
      const Atom& n = *y.atom;
      if (!y.bound.empty() || n.bound.size() != m.bound.size()) return false;
      Substitution s;  // an element of the range on the left is one on the right
      for (size_t i = 0; i < m.bound.size(); ++i) s[m.bound[i]] = Poly::symbol(n.bound[i]);
      return where.implies(y.guard, Products::Opaque) &&
             where.where(n.guard).implies(substitute(m.guard, s), Products::Opaque);
    });
  });
}

bool keeps_maxima(const Side& left, const Side& right, const Context& context) {
  std::vector<Maximum> kept = maxima_of(right.value);
  return std::all_of(right.maxima.begin(), right.maxima.end(), [&](const Product& x) {
    const Atom& m = x.atoms[0];
    auto same = [&](const Product& y) { return alike(x, y); };
    if (std::any_of(left.maxima.begin(), left.maxima.end(), same)) return true;
    const Context where = context.where(x.guard);
    bool in_formula = std::any_of(kept.begin(), kept.end(), [&](const Maximum& y) {
      return y.atom->bound == m.bound && where.implies(y.guard, Products::Opaque);
    });
    return in_formula || has_element(m, where);
  });
}

}  // namespace regraft::verify
