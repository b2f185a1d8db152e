// What is learnt of values, and what follows for their factors.
#include "verify/normal/alike.h"
#include "verify/normal/factors.h"
#include "verify/normal/laws.h"
#include "verify/normal/match.h"
#include "verify/normal/signs.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

/// a is the same fact as b, or a stronger one of the same value.
bool says(const Known& a, const Known& b) {
  return a.bound == b.bound && implies(a.sign, b.sign) && same_conditions(a.guard, b.guard) &&
         alike(a.value, b.value);
}

/// Of a product the sign of the one factor that has none yet.
std::optional<Known> open_factor(const Known& k, const Context& context) {
  const auto& products = k.value.products;
  if (products.size() != 1 || !bare(products[0]) || products[0].atoms.size() < 2)
    return std::nullopt;
  Sign others = sign_of(products[0].coefficient);
  const Atom* open = nullptr;
  for (const Atom& a : products[0].atoms) {
    Sign x = sign_of(a, context);
    if (x.strict()) {
      others = product(others, x);
      continue;
    }
    if (open) return std::nullopt;
    open = &a;
  }
  if (!open) return std::nullopt;
  return Known{sum_of(*open), k.bound, k.guard, product(k.sign, others)};
}

/// A sum that is not 0, nor is a denominator of one of its products: times that it is not 0.
std::optional<Sum> cleared(const Sum& s, const Context& context) {
  if (s.products.size() < 2 || !std::all_of(s.products.begin(), s.products.end(), bare))
    return std::nullopt;
  for (const Product& p : s.products)
    for (const Atom& d : p.atoms) {
      if (!is_function(d, Fn::Recip)) continue;
      Sum times = without_denominator(s.products, d, [&](const Atom& a, const Product&) {
        return is_function(a, Fn::Recip) && same_atom(a, d, context);
      });
      return merged(std::move(times), context);
    }
  return std::nullopt;
}

}  // namespace

Context learn(Context context, const Known& k) {
  const Sum& s = k.value;
  if (s.products.empty()) return context;
  auto note = [&](const Sum& value, Sign sign) {
    Rational c = leading(value);
    return Known{scaled(value, inverse_of(c)), k.bound, k.guard, product(sign, sign_of(c))};
  };
  Known fact = note(s, k.sign);
  if (std::none_of(context.facts.begin(), context.facts.end(),
                   [&](const Known& old) { return says(old, fact); }))
    context.facts = context.facts.with(std::move(fact));
  const Atom* alone = only_atom(s);
  const FnFacts* f = alone ? function_facts(*alone) : nullptr;
  if (f && f->sign == SignOf::Argument)
    context = learn(std::move(context), {*alone->argument, k.bound, k.guard, k.sign});
  if (auto factor = open_factor(k, context.only(k.guard)))
    context = learn(std::move(context), *factor);
  if (!k.sign.not_zero()) return context;
  const Context there = context.only(k.guard);
  auto [factors, rest] = common_factors(s, {}, there);
  bool nothing_left = is_number(rest);
  if (nothing_left && factors.size() < 2) factors.clear();
  for (const Atom& a : factors) context.facts = context.facts.with(note(sum_of(a), sign::kNotZero));
  if (!factors.empty() && !nothing_left)
    context.facts = context.facts.with(note(rest, sign::kNotZero));
  if (auto product = cleared(rest, context.only(k.guard)))
    context = learn(std::move(context), {*std::move(product), k.bound, k.guard, sign::kNotZero});
  return context;
}

}  // namespace regraft::verify
