// Is the right side defined where the left one is? The part of Matcher that answers it.
#include <algorithm>

#include "verify/normal/alike.h"
#include "verify/normal/sums.h"
#include "verify/prove/matching.h"

namespace regraft::verify {

/// The domain, and what it takes for counts that the left side divides by not to be 0: some element
/// is counted.
Conjunction Matcher::where_defined(const Side& left, Conjunction domain) {
  for (const Partial& x : left.partial) {
    bool always = x.function == Fn::Recip && x.bound.empty() && solver_.implies(domain, x.guard);
    if (!always) continue;
    Sum count = rename_bound(simplifier_.normal_form(x.argument, domain));
    bool plain = count.products.size() == 1 && count.products[0].atoms.empty();
    if (plain) domain = both(std::move(domain), count.products[0].guard);
  }
  return domain;
}

/// Denominators of the left side are not 0, and what stands under a root is not negative.
void Matcher::assume_defined(const Side& left, const Conjunction& domain) {
  if (std::exchange(assumed_, true)) return;
  simplifier_.set_laws(&laws_);
  // What one says of a factor, the others may need: once more.
  for (size_t k = 0; k < 2 * left.partial.size(); ++k) {
    const Partial& x = left.partial[k % left.partial.size()];
    Sum argument = simplifier_.normal_form(x.argument, both(domain, x.guard));
    bool quotient = x.function == Fn::Recip;
    laws_.learn(argument, domain_sign(x.function), x.bound, x.guard);
    const Atom* root = only_atom(argument);
    if (quotient && root && is_function(*root, Fn::Sqrt))
      laws_.learn(*root->argument, sign::kPositive, x.bound, x.guard);
  }
  simplifier_.set_laws(nullptr);
}

bool Matcher::is_defined(const Side& left, const Side& right, const Conjunction& domain) {
  std::vector<const Partial*> seen;
  for (const Partial& y : left.partial) seen.push_back(&y);
  return std::all_of(right.partial.begin(), right.partial.end(), [&](const Partial& x) {
    if (std::any_of(seen.begin(), seen.end(),
                    [&](const Partial* y) { return same_partial(x, *y); }))
      return true;
    seen.push_back(&x);  // if it is not defined, the answer is no
    Sign plain = laws_.sign(x.argument, both(domain, x.guard));
    if (implies(plain, domain_sign(x.function))) return true;
    assume_defined(left, domain);
    simplifier_.set_laws(&laws_);
    thorough_ = true;
    bool defined = is_defined(x.function, x.argument, both(domain, x.guard));
    thorough_ = false;
    simplifier_.set_laws(nullptr);
    return defined;
  });
}

/// The maxima of a sum outside of other maxima, with their ranges in the guards.
void Matcher::collect_maxima(const Sum& s, const Maximum& at, std::vector<Maximum>& out) {
  for (const auto& p : s.products)
    for (const auto& a : p.atoms) {
      if (!a.argument) continue;
      Maximum inner = at;
      inner.bound.insert(inner.bound.end(), p.bound.begin(), p.bound.end());
      inner.guard = both(inner.guard, p.guard);
      if (a.kind == Atom::Max) {
        out.push_back(inner);
        out.back().atom = &a;
        inner.bound.insert(inner.bound.end(), a.bound.begin(), a.bound.end());
        inner.guard = both(inner.guard, a.guard);
      }
      collect_maxima(*a.argument, inner, out);
    }
}

/// Where the maxima of the left side are of something, those of the right side are.
bool Matcher::has_maxima(const Sum& left, const Sum& right, const Conjunction& domain) {
  std::vector<Maximum> given, wanted;
  collect_maxima(left, {}, given);
  collect_maxima(right, {}, wanted);
  return std::all_of(wanted.begin(), wanted.end(), [&](const Maximum& x) {
    const Atom& m = *x.atom;
    if (laws_.has_element(m, both(domain, x.guard))) return true;
    return std::any_of(given.begin(), given.end(), [&](const Maximum& y) {
      const Atom& n = *y.atom;
      if (!y.bound.empty() || n.bound.size() != m.bound.size()) return false;
      Substitution s;  // an element of the range on the left is one on the right
      for (size_t i = 0; i < m.bound.size(); ++i) s[m.bound[i]] = Poly::symbol(n.bound[i]);
      return solver_.implies(both(domain, x.guard), y.guard, Products::Opaque) &&
             solver_.implies(both(both(domain, x.guard), n.guard), substitute(m.guard, s),
                             Products::Opaque);
    });
  });
}

/// Each maximum that is evaluated on the right is one of the left's, of something, or in the
/// formula wherever it is evaluated; then what is shown of the formula shows that it is of
/// something.
bool Matcher::keeps_maxima(const Side& left, const Side& right, const Conjunction& domain) {
  std::vector<Maximum> kept;
  collect_maxima(right.value, {}, kept);
  return std::all_of(right.maxima.begin(), right.maxima.end(), [&](const Product& x) {
    const Atom& m = x.atoms[0];
    auto same = [&](const Product& y) { return alike(x, y); };
    if (std::any_of(left.maxima.begin(), left.maxima.end(), same)) return true;
    Conjunction where = both(domain, x.guard);
    bool in_formula = std::any_of(kept.begin(), kept.end(), [&](const Maximum& y) {
      return y.atom->bound == m.bound && solver_.implies(where, y.guard, Products::Opaque);
    });
    return in_formula || laws_.has_element(m, where);
  });
}

/// The same argument under the same conditions.
bool Matcher::same_partial(const Partial& a, const Partial& b) {
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

bool Matcher::is_defined(Fn f, const Sum& argument, const Conjunction& context) {
  if (solver_.refuted(context, Products::Opaque)) return true;
  Sum s = simplifier_.normal_form(argument, context);
  for (const auto& p : s.products)
    for (const auto& g : p.guard) {
      if (mentions_any(g, p.bound) || solver_.decides(context, g) || !budget_.split()) continue;
      return is_defined(f, s, both(context, {g})) && is_defined(f, s, both(context, {negate(g)}));
    }
  Sign needed = domain_sign(f);
  if (needed == sign::kNotZero ? laws_.not_zero(s, context)
                               : implies(laws_.sign(s, context), needed))
    return true;
  std::string_view outside = needed.may_be_zero()       ? "negative"
                             : needed.may_be_negative() ? "zero"
                                                        : "negative or zero";
  stuck_at_ = " possibly " + std::string(outside) + ":" + to_string(s);
  return false;
}

}  // namespace regraft::verify
