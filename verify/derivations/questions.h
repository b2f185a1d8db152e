#pragma once
// Questions about sizes in the kernel's words, and certificates for the answers.
#include <optional>
#include <string>
#include <vector>

#include "ir/algebra/symbolic.h"
#include "verify/arithmetic/solver.h"
#include "verify/kernel/term.h"
#include "verify/kernel/translation.h"

namespace regraft::verify {

/// Asks the arithmetic solver first, which remembers what it was asked, and looks for a certificate
/// only where it says yes. Not thread-safe.
class Questions {
 public:
  Questions(kernel::Translation& translation, SymbolPool& pool, ArithmeticSolver& solver)
      : translation_(translation), pool_(pool), solver_(solver) {}

  /// The facts cannot all hold.
  std::optional<std::string> refuted(const std::vector<kernel::Fact>& facts);
  /// They imply f; a text that is empty where the kernel needs no certificate.
  std::optional<std::string> implied(const std::vector<kernel::Fact>& facts, const kernel::Fact& f);
  /// Without a certificate.
  bool says_refuted(const std::vector<kernel::Fact>& facts);
  bool says_implied(const std::vector<kernel::Fact>& facts, const kernel::Fact& f);

  /// The same in the words of the provers.
  Var symbol(kernel::Symbol s);
  Poly poly(const kernel::Poly& p);
  Formula formula(const kernel::Fact& f);
  Conjunction conjunction(const std::vector<kernel::Fact>& facts);
  /// The factor, with its argument, without its reals.
  Atom atom(const kernel::Atom& a);
  Sum sum(const kernel::Sum& s);
  kernel::Poly kernel_poly(const Poly& p) { return translation_.of(p); }
  kernel::Symbols& symbols() { return translation_.symbols(); }
  /// Where a certificate was not found for what the solver says.
  const std::string& missed() const { return missed_; }

 private:
  kernel::Translation& translation_;
  SymbolPool& pool_;
  ArithmeticSolver& solver_;
  std::map<kernel::Symbol, Var> known_;
  size_t leaves_ = 0;
  std::string missed_;
  std::map<std::string, std::optional<std::string>> remembered_;
};

}  // namespace regraft::verify
