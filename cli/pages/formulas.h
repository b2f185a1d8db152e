#pragma once
// What the prover compares, in the notation of mathematics, as plain text.
#include <string>
#include <vector>

#include "ir/algebra/symbolic.h"

namespace regraft::cli {

/// Formulas as text, with names for the variables that they bind: "k", "k₂", or with another letter
/// where a rule has a variable k.
class Notation {
 public:
  /// `variables`: names of the tensors that formulas read; `others`: of what else has a name.
  Notation(std::vector<std::string> variables, const std::vector<std::string>& others);
  /// The same names again: for a formula that is shown beside another.
  void restart();

  std::string text(const Poly& p);
  /// "a.1 = b.0", "k < a.1", with 'and' and 'or'.
  std::string text(const Formula& f);
  /// "Σ[0 ≤ k < a.1] a[i0, k] · b[k, i1]". Conditions on what is not summed over stand before a
  /// product in brackets: it counts where they hold.
  std::string text(const Sum& s);

 private:
  std::string name(Var v);
  std::string text(const Product& p);
  std::string text(const Atom& a);
  std::string ranges(const std::vector<Var>& bound, const Conjunction& guard, bool maximum);
  std::string list(const std::vector<Poly>& positions);
  std::string factor(Var v);
  std::string difference(const Poly& p, bool equal);

  std::vector<std::string> variables_;
  std::string letter_;                            ///< for what is bound
  std::map<Var, std::string, SymbolLess> names_;  ///< of what is bound
};

}  // namespace regraft::cli
