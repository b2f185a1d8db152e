#pragma once
// Questions about sizes in the kernel's words, and certificates for the answers.
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/algebra/symbolic.h"
#include "verify/arithmetic/solver.h"
#include "verify/derivations/keys.h"
#include "verify/kernel/term.h"
#include "verify/kernel/translation.h"

namespace regraft::verify {

/// Asks the arithmetic solver first, and looks for a certificate only where it does not say no.
/// Remembers what it was asked. Throws OutOfBudget at a limit. Not thread-safe.
class Questions {
 public:
  Questions(kernel::Translation& translation, SymbolPool& pool, ArithmeticSolver& solver)
      : translation_(translation), pool_(pool), solver_(solver), alike_(symbols()) {}

  /// At most so many more, those that are remembered too: a search that will fail repeats them.
  void limit(int64_t questions) { left_ = questions; }

  /// The facts cannot all hold.
  std::optional<std::string> refuted(const std::vector<kernel::Fact>& facts);
  /// The same where that is soon found, without a proof of the solver's. Remembers what it said,
  /// and after share() what it said of other claims.
  std::optional<std::string> readily_refuted(const std::vector<kernel::Fact>& facts);
  /// What readily_refuted() said, by the facts as texts.
  using Found = std::unordered_map<std::string, std::optional<std::string>>;
  /// From now on that is looked up there, and added. `found` must outlive this.
  void share(Found& found) { found_ = &found; }
  /// They imply f; a text that is empty where the kernel needs no certificate.
  std::optional<std::string> implied(const std::vector<kernel::Fact>& facts, const kernel::Fact& f);
  /// The same where that is known to be so: the solver is not asked.
  std::optional<std::string> certified(std::vector<kernel::Fact> facts, const kernel::Fact& f);
  /// The same of an equation where the facts say as much, or that neither side is larger.
  std::optional<std::string> as_said(const std::vector<kernel::Fact>& facts,
                                     const kernel::Fact& f) const;
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
  /// Which products read the same.
  AlikeKeys& alike() { return alike_; }
  /// What no certificate was found for, though the solver does not say no.
  const std::string& missed() const { return missed_; }

 private:
  /// A certificate was missed: what needs one seldom ends well, so nothing more is looked for.
  bool given_up() const { return !missed_.empty(); }
  Formula said(const kernel::Fact& f);
  kernel::Translation& translation_;
  SymbolPool& pool_;
  ArithmeticSolver& solver_;
  AlikeKeys alike_;
  std::map<kernel::Symbol, Var> known_;
  size_t leaves_ = 0;
  std::string missed_;
  int64_t left_ = std::numeric_limits<int64_t>::max();
  /// What is known of some facts together.
  struct Answer {
    std::optional<bool> refuted = {};  ///< by the solver
    bool sought = false;               ///< a certificate
    std::optional<std::string> certificate = {};
  };
  Answer& answer(const std::vector<kernel::Fact>& facts);
  /// A certificate, looked for once.
  const std::optional<std::string>& seek(Answer& a, const std::vector<kernel::Fact>& facts);
  std::unordered_map<std::string, Answer> answers_;
  Found own_, *found_ = &own_;
  std::unordered_map<std::string, Formula> formulas_;
};

}  // namespace regraft::verify
