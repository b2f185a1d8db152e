#pragma once
// What a question about sums is asked under. It is passed down as a value, and answers come up:
// whoever assumes or learns more hands a Context of his own to what he calls.
#include <memory>
#include <vector>

#include "ir/algebra/symbolic.h"
#include "verify/arithmetic/sign.h"
#include "verify/arithmetic/solver.h"

namespace regraft::verify {

/// Something known of a value, for all values of its bound variables that satisfy `guard`.
struct Known {
  Sum value;
  std::vector<Var> bound;
  Conjunction guard;
  Sign sign;
};

/// Facts in the order in which they were learnt. A copy shares them and never sees what is learnt
/// from another one.
class Facts {
 public:
  bool empty() const { return !all_; }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }
  /// These and one more.
  Facts with(Known fact) const;

 private:
  const std::vector<Known>& all() const;
  std::shared_ptr<const std::vector<Known>> all_;
};

/// What the simplifier may use of the laws of functions, each with what stands before it: nothing,
/// the laws, clip by relu, sigmoid and tanh by exp.
enum class Laws : uint8_t { None, Plain, Clips, All };

/// What to do with a loop over few numbers.
enum class SmallLoops : uint8_t { Keep, Unroll };

/// How deep in questions about others a question is.
struct Depth {
  int sums = 0;      ///< that are to be zero
  int products = 0;  ///< that are simplified
  int facts = 0;     ///< that are compared with a value
};

/// Cheap to copy. Threads: one proof's Contexts share its solver, so they are of one thread.
class Context {
 public:
  /// Both must outlive the Context and what is made from it.
  Context(ArithmeticSolver& solver, Budget& budget, Conjunction domain)
      : solver_(&solver),
        budget_(&budget),
        domain_(std::make_shared<const Conjunction>(std::move(domain))) {}

  Facts facts;
  Laws laws = Laws::None;
  SmallLoops loops = SmallLoops::Keep;
  Products products = Products::Exact;  ///< how hard to think about what is dropped or split
  bool maxima_defined = false;          ///< every maximum is known to be one of something
  bool thorough = false;  ///< sums of different outlines are compared with what is known
  Depth depth;

  /// What is assumed of the symbols.
  const Conjunction& domain() const { return *domain_; }
  Budget& budget() const { return *budget_; }
  ArithmeticSolver& solver() const { return *solver_; }

  /// The same where this holds too, and where this alone is assumed.
  Context where(const Conjunction& guard) const;
  Context where(const Formula& f) const;
  Context only(Conjunction domain) const;
  /// For what a sum that is to be zero leads to. Throws OutOfBudget when that is too deep.
  Context deeper() const;

  /// These ask the solver, and are as sound as its answers.
  bool implies(const Formula& f, Products p = Products::Exact) const {
    return solver_->implies(*domain_, f, p);
  }
  bool implies(const Conjunction& all, Products p = Products::Exact) const {
    return solver_->implies(*domain_, all, p);
  }
  bool decides(const Formula& f, Products p = Products::Brief) const {
    return solver_->decides(*domain_, f, p);
  }
  bool refuted(Products p = Products::Exact) const { return solver_->refuted(*domain_, p); }

 private:
  ArithmeticSolver* solver_;
  Budget* budget_;
  std::shared_ptr<const Conjunction> domain_;
};

}  // namespace regraft::verify
