#pragma once
// From a rule's symbols to a model's sizes. The two live in different pools.
#include <optional>

#include "ir/rule/rule.h"

namespace regraft::rewrite {

/// What the symbols of one rule instance stand for in a model.
struct Binding {
  Substitution sizes;           ///< rule symbol -> polynomial over the model's symbols
  std::map<Var, double> reals;  ///< rule symbol of a real attribute -> its value

  /// Binds v, or compares with what it is bound to already. False when they differ.
  bool bind(Var v, const Poly& p);
  bool bind(Var v, double x);
  /// The same; of an expression of numbers x is to be the double or the float next to its value.
  bool bind_rounded(Var v, double x);
  /// What a real attribute's symbol stands for, or an expression over the symbols of the pool;
  /// nullopt: not known, or no finite number.
  std::optional<double> real(Var v) const;
  std::optional<double> real(const std::string& expression, SymbolPool& pool) const;
};

/// `p` over the model's symbols, made in `target`. nullopt: a symbol is not bound, or a divisor is
/// below 1. Throws PolyOverflow.
std::optional<Poly> translate(const Poly& p, const Substitution& s, SymbolPool& target);
std::optional<Formula> translate(const Formula& f, const Substitution& s, SymbolPool& target);
std::optional<Attrs<Poly>> translate(const Attrs<Poly>& at, const Binding& b, SymbolPool& target);

/// The integer attribute with axes counted from the front.
std::vector<Poly> normal_axes(const IntAttr& attr, std::vector<Poly> numbers, int rank);

/// Sound, not complete: f holds for all sizes >= their minimum.
bool holds(const Formula& f);

}  // namespace regraft::rewrite
