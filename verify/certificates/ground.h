#pragma once
// What is known at a place of an argument, and how to show more of it.
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "verify/certificates/farkas.h"

namespace regraft::verify {

/// A symbol that equals a polynomial.
struct Replacement {
  kernel::Poly value;
  FactId equal;  ///< symbol - value = 0
};

/// What is known at a place. A value: whoever knows more inside a case has one of his own.
struct Ground {
  Argument::Place* at = nullptr;
  std::vector<FactId> literals;
  std::vector<FactId> choices;                       ///< facts `any`
  std::vector<FactId> shown;                         ///< literals shown on the way
  std::vector<Product> products;                     ///< of literals
  std::map<kernel::Symbol, FactId> least, positive;  ///< s - its least value >= 0, s >= 0
  std::map<kernel::Symbol, FactId> defined;          ///< quotients, lookups: the first of two facts
  std::map<kernel::Symbol, Replacement> replaced;
  std::set<kernel::Symbol> bounded;  ///< quotients between small numbers, where these were found
  std::set<kernel::Symbol> tried;    ///< to say in simpler words
  std::set<kernel::Symbol> stated;   ///< the literals say what they are
};

/// Functions that add steps to an argument where it is known what `known` says. What they return is
/// visible there; those that end the place with a distinction move `known.at` into its last case.
/// Throw kernel::Refused where numbers are too large.
class Steps {
 public:
  explicit Steps(Argument& argument) : argument_(argument) {}
  Argument& argument() const { return argument_; }
  kernel::Symbols& symbols() const { return argument_.symbols(); }
  const kernel::Poly& poly(FactId f) const { return argument_.fact(f).poly; }

  /// Literals and choices, as they are.
  void learn(Ground& known, const std::vector<FactId>& facts) const;
  FactId least(Ground& known, kernel::Symbol s) const;
  /// s - c >= 0 for some number c: its least value, or a literal.
  std::optional<FactId> bound_of(Ground& known, kernel::Symbol s) const;
  /// s >= 0, from its least value or a literal.
  std::optional<FactId> not_negative(Ground& known, kernel::Symbol s) const;
  /// A fact that shows p >= 0 to the kernel: from least values, or a literal.
  std::optional<FactId> plainly(Ground& known, const kernel::Poly& p) const;
  /// The same, also by elimination from the literals, which makes a distinction.
  std::optional<FactId> show(Ground& known, const kernel::Poly& p) const;
  /// From facts alone, and multipliers times p's opposite.
  std::optional<FactId> show_from(Ground& known, const kernel::Poly& p,
                                  const std::vector<Product>& facts,
                                  const std::vector<Product>& multipliers) const;
  /// Facts about sizes that stand beside p in a product.
  std::vector<Product> multipliers_of(const Ground& known, const kernel::Poly& p) const;
  /// What q is, once: the first of two facts. nullopt: its denominator or bound may be below 1.
  std::optional<FactId> define(Ground& known, kernel::Symbol made) const;
  /// Says in the literals what the symbols in literals and choices are.
  void state(Ground& known) const;
  /// p = 0, from p >= 0 and -p >= 0, each by elimination from the products given and what is
  /// assumed. Distinctions are made; nullopt leaves `known` and the argument as they were.
  std::optional<FactId> equal(Ground& known, const kernel::Poly& p,
                              const std::vector<Product>& facts,
                              const std::vector<Product>& multipliers) const;
  /// Each literal by itself, and the products.
  std::vector<Product> rows(const Ground& known) const;

 private:
  Argument& argument_;
};

}  // namespace regraft::verify
