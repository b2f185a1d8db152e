// Laws of functions that round: to integers, to floats, to 0 and 1.
#include <algorithm>

#include "verify/normal/laws.h"
#include "verify/normal/signs.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

/// Rounding to floats of one format.
bool rounds(const Atom& a) {
  return is_function(a, Fn::Half) || is_function(a, Fn::Brain) || is_function(a, Fn::Single);
}

/// Its values are 0 and 1.
bool is_truth(const Sum& s) {
  return s.products.size() == 1 && s.products[0].bound.empty() &&
         s.products[0].coefficient == Rational{1, 1} &&
         std::ranges::all_of(s.products[0].atoms,
                             [](const Atom& a) { return is_function(a, Fn::Step); });
}

/// Its values are integers.
bool is_whole(const Sum& s) {
  return std::ranges::all_of(s.products, [](const Product& p) {
    return p.coefficient.d == 1 && std::ranges::all_of(p.atoms, [](const Atom& a) {
             const FnFacts* f = function_facts(a);
             bool kept = is_function(a, Fn::Relu) || a.kind == Atom::Max;
             return a.kind == Atom::Number || (f && f->jumps) || (kept && is_whole(*a.argument));
           });
  });
}

/// A clip to whole numbers, the lower one first, or a relu.
bool keeps_whole(const Atom& a) {
  if (is_function(a, Fn::Relu)) return true;
  if (a.kind != Atom::Clip) return false;
  auto low = rational_of(a.reals[0]), high = rational_of(a.reals[1]);
  return low && high && low->d == 1 && high->d == 1 && low->n <= high->n;
}

}  // namespace

/// A function that rounds leaves what is rounded so already: whole numbers, floats of its format,
/// 0 and 1. Floats of 16 bits are floats of 32.
std::optional<Sum> whole(const Atom& a) {
  const Sum& x = *a.argument;
  bool to_integers = function_facts(a)->jumps && !is_function(a, Fn::Step);
  if (to_integers && is_whole(x)) return x;
  if (!rounds(a)) return std::nullopt;
  const Atom* inner = only_atom(x);
  bool rounded = inner && rounds(*inner) && (inner->head == a.head || is_function(a, Fn::Single));
  return rounded || is_truth(x) ? std::optional(x) : std::nullopt;
}

/// What rounds to integers rises and leaves whole bounds, so it passes them: round(clip(x)) =
/// clip(round(x)). The value at a number; floor(x + n) = floor(x) + n; step(x) is 1 or 0 where the
/// sign is known, step(c x) = step(x) for c > 0.
std::optional<Sum> jumping(const Atom& a, const Context& context) {
  const Sum& x = *a.argument;
  auto f = static_cast<Fn>(a.head);
  if (is_number(x))
    if (auto n = integer_value(f, x.products[0].coefficient)) return number({*n, 1});
  if (const Atom* bound = f == Fn::Step ? nullptr : only_atom(x); bound && keeps_whole(*bound)) {
    Atom outside = *bound;
    outside.argument = std::make_shared<Sum>(function_of(f, *bound->argument));
    return sum_of(std::move(outside));
  }
  if (f == Fn::Floor)
    for (size_t k = 0; k < x.products.size() && x.products.size() > 1; ++k) {
      Sum summand = single(x.products[k]), rest = x;
      if (!is_number(summand) || summand.products[0].coefficient.d != 1) continue;
      drop(rest.products, k);
      return function_of(f, std::move(rest)) + summand;
    }
  if (f != Fn::Step || x.products.empty()) return std::nullopt;
  Sign known = sign_of(x, context);
  if (implies(known, sign::kPositive)) return number({1, 1});
  if (known.not_positive()) return Sum{};
  Rational c = leading(x);
  if (c.n < 0) c.n = -c.n;
  if (c == Rational{1, 1}) return std::nullopt;
  return function_of(f, scaled(x, inverse_of(c)));
}

}  // namespace regraft::verify
