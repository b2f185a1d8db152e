#pragma once
// The only door to Z3: "is this conjunction unsatisfiable over the integers?"
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "ir/algebra/formula.h"
#include "verify/arithmetic/budget.h"

namespace regraft::verify {

struct OracleStats {
  uint64_t asked = 0;         ///< questions
  uint64_t plain = 0;         ///< answered by looking at the literals
  uint64_t remembered = 0;    ///< asked before
  uint64_t eliminations = 0;  ///< decided by elimination, or tried to
  uint64_t linear = 0;        ///< solver runs with each product of symbols as one integer
  uint64_t nonlinear = 0;     ///< solver runs with true products
  uint64_t undecided = 0;     ///< runs that ended without an answer
  uint64_t work = 0;          ///< rlimit units of all runs
  OracleStats& operator+=(const OracleStats& o);
};

/// How hard to think: with a product of symbols as one more integer, which is linear arithmetic,
/// or, where that shows nothing, with what products are: briefly, or as long as a run may take.
enum class Products : uint8_t { Opaque, Brief, Exact };

/// Answers are sound in one direction: true is a proof, false means "not shown". Knows that a Size
/// is >= its minimum, what a Quotient is (when its denominator is >= 1; nothing otherwise) and the
/// range of a Lookup. Deterministic. All symbols must be of one pool that outlives the solver.
/// Throws OutOfBudget when the budget is used up. Not thread-safe: one for each proof.
class ArithmeticSolver {
 public:
  explicit ArithmeticSolver(Budget& budget);
  ~ArithmeticSolver();
  ArithmeticSolver(const ArithmeticSolver&) = delete;
  ArithmeticSolver& operator=(const ArithmeticSolver&) = delete;

  /// Undecided: a run with products ended without an answer.
  enum class Outcome : uint8_t { Refuted, NotShown, Undecided };
  /// Refuted: no integers satisfy all of `facts`.
  Outcome outcome(const Conjunction& facts, Products products = Products::Exact);
  bool refuted(const Conjunction& facts, Products products = Products::Exact) {
    return outcome(facts, products) == Outcome::Refuted;
  }
  /// Integers that satisfy all of `facts` are known, or soon found. False says nothing.
  bool satisfied(const Conjunction& facts);
  /// Whatever satisfies `facts` satisfies `f`.
  bool implies(const Conjunction& facts, const Formula& f, Products products = Products::Exact);
  bool implies(const Conjunction& facts, const Conjunction& all,
               Products products = Products::Exact);
  /// Whatever satisfies `facts` satisfies `f`, or nothing of it does. Never more than briefly: who
  /// asks distinguishes the two cases where neither is shown, which costs less than a long run.
  bool decides(const Conjunction& facts, const Formula& f, Products products = Products::Brief);
  /// A coefficient that counts where its formula holds.
  using Weighted = std::pair<int64_t, Formula>;
  /// The coefficients whose formulas hold add up to 0 wherever `facts` hold.
  bool balanced(const Conjunction& facts, std::span<const Weighted> terms);
  const OracleStats& stats() const { return stats_; }
  /// Called with facts that were shown to be unsatisfiable, each time that somebody asks.
  std::function<void(const Conjunction&)> on_refuted;

 private:
  struct Solver;
  using Symbols = std::set<Var, SymbolLess>;
  /// What earlier questions showed of a conjunction.
  enum class Known : uint8_t {
    Nothing,
    NotShownLinear,
    UndecidedBrief,
    Undecided,
    NotShown,
    Refuted
  };
  /// Whether a question that thinks so hard has its answer in what is known.
  static bool answers(Known known, Products products);
  static Outcome said(Known known);
  Known decide(const Conjunction& facts, Products products);
  Known without_products(const Conjunction& all, const Symbols& symbols, bool has_products);
  Known with_true_products(const Conjunction& all, const Symbols& symbols, Products products);
  Known ask(const Conjunction& all, const Symbols& symbols, Products products);
  bool balanced_from(const Conjunction& facts, std::span<const Weighted> terms, int64_t sum);
  Budget& budget_;
  OracleStats stats_;
  std::unique_ptr<Solver> solver_;
};

/// "z3 4.8.12".
std::string solver_version();

}  // namespace regraft::verify
