#pragma once
// Quantifier-free formulas over symbolic integers: guards, shape requirements, side conditions.
#include <string>
#include <vector>

#include "ir/algebra/poly.h"

namespace regraft {

/// A formula with negation pushed to the leaves. Conjunctions and disjunctions are flat, sorted,
/// unique.
struct Formula {
  enum Kind : uint8_t { True, False, NonNegative, Zero, And, Or } kind = True;
  Poly poly;                   ///< NonNegative: poly >= 0. Zero: poly == 0.
  std::vector<Formula> parts;  ///< And, Or
  friend Formula operator&&(const Formula& a, const Formula& b);
  friend Formula operator||(const Formula& a, const Formula& b);
};

int compare(const Formula& a, const Formula& b);
Formula non_negative(Poly p);
Formula is_zero(Poly p);  ///< without factors that cannot be zero
Formula junction(Formula::Kind kind, std::vector<Formula> parts);
Formula negate(const Formula& f);
Formula substitute(const Formula& f, const Substitution& s);
bool mentions(const Formula& f, Var v);
bool evaluate(const Formula& f, const Valuation& values);
std::string to_string(const Formula& f);

/// A conjunction: sorted, unique, without nested And.
using Conjunction = std::vector<Formula>;
void add(Conjunction& c, const Formula& f);
Conjunction substitute(const Conjunction& c, const Substitution& s);
bool evaluate(const Conjunction& c, const Valuation& values);
/// Sound and cheap, not complete: two literals contradict each other, or one is False.
bool plainly_false(const Conjunction& c);
/// Sound and cheap, not complete: f is a literal of h or weaker than one by a constant.
bool plainly_implies(const Conjunction& h, const Formula& f);

}  // namespace regraft
