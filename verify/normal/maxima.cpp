// Laws of maxima over index ranges.
#include "verify/normal/factors.h"
#include "verify/normal/laws.h"
#include "verify/normal/ranges.h"
#include "verify/normal/signs.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

/// A maximum over a range that a literal of its argument cuts: max(x, y) = x + relu(y - x).
std::optional<Sum> split_maximum(const Atom& a, const Context& context) {
  Context within = context.where(a.guard);
  for (const auto& p : a.argument->products)
    for (const auto& g : p.guard) {
      bool cuts = mentions_any(g, a.bound) && !mentions_any(g, p.bound);
      if (!cuts || within.decides(g, Products::Opaque)) continue;
      Atom yes = a, no = a;
      add(yes.guard, g);
      add(no.guard, negate(g));
      if (!has_element(yes, context) || !has_element(no, context)) return std::nullopt;
      Sum x = sum_of(yes), y = sum_of(no);
      return x + function_of(Fn::Relu, difference(y, x));
    }
  return std::nullopt;
}

/// max(f + c relu(g)) = max(x, y) = x + relu(y - x) with x = max f, y = max(f + c g), for c > 0.
std::optional<Sum> split_rectified(const Atom& a) {
  const auto& products = a.argument->products;
  auto rectified = [](const Product& p) {
    return bare(p) && p.coefficient.n > 0 && p.atoms.size() == 1 &&
           is_function(p.atoms[0], Fn::Relu);
  };
  auto at = std::find_if(products.begin(), products.end(), rectified);
  if (at == products.end()) return std::nullopt;
  Sum without = *a.argument;
  without.products.erase(without.products.begin() + (at - products.begin()));
  Sum x = maximum_of(a, without);
  Sum y = maximum_of(a, without + scaled(rename_bound(*at->atoms[0].argument), at->coefficient));
  return x + function_of(Fn::Relu, difference(y, x));
}

}  // namespace

/// max(f + c) = max(f) + c, max(c f) = c max(f), max max f = max f, max(g(f)) = g(max f).
std::optional<Sum> maximum(const Atom& a, const Context& context) {
  const Sum& s = *a.argument;
  Context within = context.where(a.guard);
  if (context.laws >= Laws::Clips)
    if (auto two = split_maximum(a, context)) return two;
  if (std::any_of(s.products.begin(), s.products.end(),
                  [](auto& p) { return !p.guard.empty() && p.bound.empty(); }))
    return std::nullopt;
  Sum varying, constant;
  for (const auto& p : s.products)
    (mentions_any(p, a.bound) ? varying : constant).products.push_back(p);
  bool nonempty = context.maxima_defined || has_element(a, context);
  if (varying.products.empty()) return nonempty ? std::optional(s) : std::nullopt;
  if (!constant.products.empty()) return maximum_of(a, varying) + constant;
  if (const Atom* inner = only_atom(s)) {
    if (inner->kind == Atom::Max) {
      Atom m = *inner;
      m.bound.insert(m.bound.end(), a.bound.begin(), a.bound.end());
      m.guard = both(m.guard, a.guard);
      m.head = static_cast<int>(m.bound.size());
      return sum_of(std::move(m));
    }
    if (increases(*inner) && nonempty) {
      Atom f = *inner;
      f.argument = std::make_shared<Sum>(maximum_of(a, *inner->argument));
      return sum_of(std::move(f));
    }
  }
  if (nonempty)
    if (auto m = through_monotone(a, within)) return m;
  if (auto factor = positive_factor(s, a.bound, within, context))
    return factor->outside * maximum_of(a, std::move(factor->inside));
  return context.laws >= Laws::Clips && nonempty ? split_rectified(a) : std::nullopt;
}

}  // namespace regraft::verify
