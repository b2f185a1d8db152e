#include "verify/arithmetic/solver.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/rng.h"

namespace regraft::verify {
namespace {

TEST(ArithmeticSolver, KnowsWhatSizesAndQuotientsAre) {
  SymbolPool pool;
  Budget budget{Limits{}};
  ArithmeticSolver solver(budget);
  Poly n = Poly::symbol(pool.named("n")), d = Poly::symbol(pool.named("d"));
  Poly q = pool.floordiv(n, d);
  EXPECT_TRUE(solver.implies({}, Poly(1) <= n));
  EXPECT_TRUE(solver.implies({}, q * d <= n));
  EXPECT_TRUE(solver.implies({n < d}, q == Poly(0)));
  EXPECT_FALSE(solver.implies({}, q == Poly(0)));
  EXPECT_FALSE(solver.refuted({}));
}

TEST(ArithmeticSolver, QuotientWithDivisorBelowOneProvesNothing) {
  SymbolPool pool;
  Budget budget{Limits{}};
  ArithmeticSolver solver(budget);
  Poly n = Poly::symbol(pool.named("n", 0));
  Poly d = Poly::symbol(pool.fresh("d", SymbolKind::Size, -5));
  Conjunction facts{pool.floordiv(n, d) == Poly(7), d == Poly(0)};
  EXPECT_FALSE(solver.refuted(facts));
}

TEST(ArithmeticSolver, LookupStaysInItsRange) {
  SymbolPool pool;
  Budget budget{Limits{}};
  ArithmeticSolver solver(budget);
  Poly m = Poly::symbol(pool.named("m")), i = Poly::symbol(pool.named("i", 0));
  Poly t = pool.lookup(pool.table({m + Poly(-1), Poly(0), Poly(0)}), i, m);
  EXPECT_TRUE(solver.implies({}, Poly(0) <= t && t < m));
  EXPECT_FALSE(solver.implies({}, t == Poly(0)));
}

TEST(ArithmeticSolver, LookupOfEvenStepsIsAProduct) {
  SymbolPool pool;
  Budget budget{Limits{}};
  ArithmeticSolver solver(budget);
  Poly m = Poly::symbol(pool.named("m")), i = Poly::symbol(pool.named("i", 0));
  Poly t = pool.lookup(pool.table({Poly(0), m, m + m}), i, m + m + Poly(1));
  EXPECT_TRUE(solver.implies({}, t == m * i));
  EXPECT_FALSE(solver.implies({}, t == m));
}

TEST(ArithmeticSolver, BalancedCountsEveryCase) {
  SymbolPool pool;
  Budget budget{Limits{}};
  ArithmeticSolver solver(budget);
  Poly x = Poly::symbol(pool.named("x", 0));
  std::vector<ArithmeticSolver::Weighted> halves{
      {1, x < Poly(5)}, {1, Poly(5) <= x}, {-1, Formula{}}};
  EXPECT_TRUE(solver.balanced({}, halves));
  std::vector<ArithmeticSolver::Weighted> gap{{1, x < Poly(5)}, {1, Poly(6) <= x}, {-1, Formula{}}};
  EXPECT_FALSE(solver.balanced({}, gap));
}

TEST(ArithmeticSolver, StopsWhenTheBudgetIsUsedUp) {
  SymbolPool pool;
  Limits limits;
  limits.solver_runs = 1;
  Budget budget{limits};
  ArithmeticSolver solver(budget);
  Poly x = Poly::symbol(pool.named("x")), y = Poly::symbol(pool.named("y")),
       z = Poly::symbol(pool.named("z"));
  EXPECT_TRUE(solver.refuted({x + y < Poly(2)}));  // takes no solver
  auto cubes = [&](int64_t n) { return Conjunction{x * x * x + y * y * y == Poly(n) * z * z * z}; };
  static_cast<void>(solver.refuted(cubes(4)));
  EXPECT_THROW(static_cast<void>(solver.refuted(cubes(5))), OutOfBudget);
}

/// A run that its counted limit does not end is ended by the clock, and the solver goes on.
TEST(ArithmeticSolver, CutsOffWhatDoesNotEnd) {
  SymbolPool pool;
  Limits limits;
  limits.run_linear = limits.run_nonlinear = limits.solver_work = 2'000'000'000;
  limits.cut_off = 300;
  Budget budget{limits};
  ArithmeticSolver solver(budget);
  Poly x = Poly::symbol(pool.named("x")), y = Poly::symbol(pool.named("y")),
       z = Poly::symbol(pool.named("z"));
  auto start = std::chrono::steady_clock::now();
  Conjunction endless{x * x * x * x + y * y * y * y == z * z * z * z};  // has no solution
  EXPECT_FALSE(solver.refuted(endless));
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(seconds, 10);
  EXPECT_GE(solver.stats().undecided, 1u);
  EXPECT_TRUE(solver.refuted({x + y < Poly(2)}));
}

TEST(ArithmeticSolver, SaysWhatItDidNotDecide) {
  using Outcome = ArithmeticSolver::Outcome;
  SymbolPool pool;
  Limits limits;
  limits.run_nonlinear = 2'000;
  limits.open_ends = 1;
  Budget budget{limits};
  ArithmeticSolver solver(budget);
  Poly x = Poly::symbol(pool.named("x")), y = Poly::symbol(pool.named("y")),
       z = Poly::symbol(pool.named("z"));
  auto fourth_powers = [&](int64_t n) {
    return Conjunction{x * x * x * x + y * y * y * y == Poly(n) * z * z * z * z};
  };
  EXPECT_EQ(solver.outcome(fourth_powers(1)), Outcome::Undecided);
  EXPECT_EQ(solver.outcome(fourth_powers(1)), Outcome::Undecided);  // it remembers
  EXPECT_EQ(solver.outcome(fourth_powers(7)), Outcome::NotShown);   // it does not try any more
  EXPECT_EQ(solver.outcome({x < Poly(1)}), Outcome::Refuted);
  EXPECT_EQ(solver.outcome({x < Poly(2)}), Outcome::NotShown);
}

TEST(ArithmeticSolver, IsBriefWhereTheAnswerOnlyGuides) {
  SymbolPool pool;
  Limits limits;
  limits.run_brief = 1'000;
  limits.run_nonlinear = 10'000;
  Budget budget{limits};
  ArithmeticSolver solver(budget);
  Poly x = Poly::symbol(pool.named("x")), y = Poly::symbol(pool.named("y")),
       z = Poly::symbol(pool.named("z"));
  const Formula never = x * x * x * x + y * y * y * y == z * z * z * z;
  EXPECT_FALSE(solver.decides({}, never));
  const uint64_t brief = solver.stats().work;
  EXPECT_LT(brief, 5'000u);
  EXPECT_FALSE(solver.refuted({never}));  // asked again, for as long as a run may take
  EXPECT_GT(solver.stats().work, brief + 5'000);
  EXPECT_EQ(solver.stats().undecided, 2u);
  EXPECT_FALSE(solver.decides({}, never));  // that is remembered
  EXPECT_EQ(solver.stats().undecided, 2u);
}

/// A random polynomial of degree at most 2 in the symbols.
Poly random_poly(Rng& rng, const std::vector<Poly>& symbols) {
  Poly p(rng.between(-4, 4));
  for (int terms = 0; terms < 3; ++terms) {
    Poly t(rng.between(-3, 3));
    for (int factors = 0; factors < 1 + static_cast<int>(rng.below(2)); ++factors)
      t = t * symbols[rng.below(symbols.size())];
    p = p + t;
  }
  return p;
}

/// "Refuted" is never said of a conjunction that numbers satisfy.
TEST(ArithmeticSolver, AgreesWithBruteForceOnRandomConjunctions) {
  Rng rng(11);
  int refuted = 0, satisfiable = 0;
  for (int round = 0; round < 250; ++round) {
    Products products = round % 10 == 0 ? Products::Exact : Products::Opaque;
    SymbolPool pool;
    Limits limits;
    limits.run_nonlinear = 20'000;
    Budget budget{limits};
    ArithmeticSolver solver(budget);
    std::vector<Var> free{pool.named("x", 0), pool.named("y", 1), pool.named("z", 1)};
    std::vector<Poly> symbols;
    for (Var v : free) symbols.push_back(Poly::symbol(v));
    symbols.push_back(pool.floordiv(random_poly(rng, symbols), symbols[1 + rng.below(2)]));
    Conjunction facts;
    for (int k = 0; k < 2 + static_cast<int>(rng.below(4)); ++k) {
      Formula f = rng.below(4) ? non_negative(random_poly(rng, symbols))
                               : is_zero(random_poly(rng, symbols));
      if (rng.below(5) == 0) f = f || non_negative(random_poly(rng, symbols));
      add(facts, f);
    }
    bool found = false;
    for (int64_t x = 0; x < 9 && !found; ++x)
      for (int64_t y = 1; y < 9 && !found; ++y)
        for (int64_t z = 1; z < 9 && !found; ++z)
          found = evaluate(facts, {{free[0], x}, {free[1], y}, {free[2], z}});
    bool answer = solver.refuted(facts, products);
    EXPECT_EQ(answer, solver.refuted(facts, products)) << "the memory differs from the answer";
    EXPECT_FALSE(answer && found) << "round " << round;
    refuted += answer;
    satisfiable += found;
  }
  std::printf("refuted %d, satisfied by small numbers %d of 250\n", refuted, satisfiable);
  EXPECT_GT(refuted, 20);
  EXPECT_GT(satisfiable, 20);
}

}  // namespace
}  // namespace regraft::verify
