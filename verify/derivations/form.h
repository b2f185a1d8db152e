#pragma once
// What the kernel's terms look like.
#include <algorithm>

#include "verify/kernel/derivation.h"

namespace regraft::verify {

constexpr kernel::Signs kNotPositive = kernel::kNegative | kernel::kZero;

inline bool is(const kernel::Atom& a, Fn f) {
  return a.kind == kernel::Atom::Apply && a.head == static_cast<int>(f);
}
inline bool bare(const kernel::Product& p) { return p.bound.empty() && p.guard.empty(); }
/// The only product of a sum, if it adds nothing up.
inline const kernel::Product* single(const kernel::Sum& s) {
  return s.products.size() == 1 && bare(s.products[0]) ? &s.products[0] : nullptr;
}
inline bool is_number(const kernel::Sum& s) {
  return s.products.empty() || (single(s) && s.products[0].atoms.empty());
}
inline bool jumps(const kernel::Atom& a) { return is(a, Fn::Relu) || is(a, Fn::Step); }

/// A factor of this kind within the sum.
template <class F>
bool any_factor(const kernel::Sum& s, F f) {
  return std::any_of(s.products.begin(), s.products.end(), [&](const kernel::Product& p) {
    return std::any_of(p.atoms.begin(), p.atoms.end(), [&](const kernel::Atom& a) {
      return f(a) || (a.argument && any_factor(*a.argument, f));
    });
  });
}

inline bool is_one(const kernel::Fraction& c) { return c == kernel::Fraction{1, 1}; }

}  // namespace regraft::verify
