#include "verify/prove/branches.h"

#include "verify/normal/laws.h"
#include "verify/normal/signs.h"
#include "verify/normal/simplify.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

/// Numbers and symbols of real attributes, and what relu makes of them.
bool is_of_numbers(const Sum& s) {
  return std::ranges::all_of(s.products, [](const Product& p) {
    return p.bound.empty() && p.guard.empty() && std::ranges::all_of(p.atoms, [](const Atom& a) {
             return a.kind == Atom::Opaque ||
                    (is_function(a, Fn::Relu) && is_of_numbers(*a.argument));
           });
  });
}

}  // namespace

Sum by_laws(const Sum& s, Context context) {
  context.laws = Laws::Plain;
  return merged(normal_form(s, context), context);
}

std::optional<bool> truth_of(const Sum& condition, const Context& context) {
  Sum s = by_laws(condition, context);
  if (s.products.empty()) return false;
  bool one = is_number(s) && s.products[0].coefficient == Rational{1, 1};
  return one ? std::optional(true) : std::nullopt;
}

std::optional<Sum> open_step(const Sum& condition, const Context& context) {
  for (const Product& p : by_laws(condition, context).products) {
    if (!p.bound.empty() || !p.guard.empty()) continue;
    for (const Atom& a : p.atoms)
      if (is_function(a, Fn::Step)) return *a.argument;
  }
  return std::nullopt;
}

std::optional<Sum> open_number(const Sum& s, const Context& context) {
  for (const Product& p : s.products)
    for (const Atom& a : p.atoms) {
      if (!a.argument) continue;
      if (auto inner = open_number(*a.argument, context)) return inner;
      if (!is_function(a, Fn::Relu) || !is_of_numbers(*a.argument)) continue;
      Sum x = by_laws(*a.argument, context);
      if (!sign_of(x, context).one_sided()) return x;
    }
  return std::nullopt;
}

bool is_total(const Sum& s) {
  return !any_atom(s, [](const Atom& a) {
    const FnFacts* f = function_facts(a);
    return (f && f->domain != Domain::Everywhere) || a.kind == Atom::Recip || a.kind == Atom::Max;
  });
}

bool is_void(const Side& side, const Context& context) {
  if (context.refuted(Products::Opaque)) return true;
  return std::ranges::any_of(side.partial, [&](const Partial& x) {
    if (!x.bound.empty() || !context.implies(x.guard)) return false;
    Sign s = sign_of(by_laws(x.argument, context), context);
    return meet(s, domain_sign(x.function)) == sign::kNone;
  });
}

}  // namespace regraft::verify
