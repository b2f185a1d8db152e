#pragma once
// The normal form of sums of guarded products: what is pinned is substituted, what is empty is
// dropped, what nothing reads is counted, and functions see arguments without foreign guards.
#include <optional>

#include "ir/algebra/symbolic.h"
#include "verify/normal/laws.h"

namespace regraft::verify {

/// Both, flat.
Conjunction both(Conjunction a, const Conjunction& b);

/// low <= v <= high from literals that bound v by numbers.
struct ConstantRange {
  int64_t low, high;
};
std::optional<ConstantRange> constant_range(const Conjunction& guard, Var v);

/// What to do with a loop over few numbers.
enum class SmallLoops : uint8_t { Keep, Unroll };

/// Rewrites sums into normal form by equalities that hold over the reals. Not thread-safe.
class Simplifier {
 public:
  Simplifier(ArithmeticSolver& solver, Budget& budget) : solver_(solver), budget_(budget) {}
  /// A sum that is equal to `sum` for all values of the symbols that satisfy `domain`.
  Sum normal_form(const Sum& sum, const Conjunction& domain);
  void set_small_loops(SmallLoops s) { loops_ = s; }
  /// How hard to think about what may be dropped or split.
  void set_products(Products p) { products_ = p; }
  /// Also use these laws (nullptr: functions are opaque but for a few facts).
  void set_laws(Laws* laws) { laws_ = laws; }
  uint64_t unrolled() const { return unrolled_; }

 private:
  Sum simplify(Product p, const Conjunction& domain);
  Sum simplify_all(const Sum& sum, const Conjunction& domain);
  std::optional<Sum> unroll(const Product& p);
  Var small_quotient(const Product& p, const Conjunction& context);
  bool cancel(Product& p, const Conjunction& context);
  bool split_loop(Product& p, const Conjunction& context);
  bool count_loop(Product& p, const Conjunction& domain);
  std::optional<Poly> loop_length(Product& p, Var v, const Conjunction& domain);
  std::optional<Formula> foreign_literal(const Atom& a, const Conjunction& context,
                                         std::vector<Var> inner);
  Sum simplify_argument(const Atom& a, const Conjunction& context);
  std::optional<Sum> simplify_atom(Product& p, size_t k, const Conjunction& context);

  ArithmeticSolver& solver_;
  Budget& budget_;
  SmallLoops loops_ = SmallLoops::Keep;
  Products products_ = Products::Exact;
  Laws* laws_ = nullptr;
  uint64_t unrolled_ = 0;
  int depth_ = 0;
};

}  // namespace regraft::verify
