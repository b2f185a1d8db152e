// Each part of verify/normal by itself, asked under a context made by hand.
#include "verify/normal/context.h"

#include <gtest/gtest.h>

#include "verify/normal/laws.h"
#include "verify/normal/match.h"
#include "verify/normal/signs.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

class ContextTest : public testing::Test {
 protected:
  Sum input(int tensor, const Poly& at) { return algebra.element(tensor, {&at, 1}); }
  /// Sum of the products of two inputs over n, or n - 1, positions.
  Sum inner_product(const Poly& length) {
    return algebra.sum(length, [&](const Poly& k) { return input(0, k) * input(1, k); });
  }

  SymbolPool pool;
  Symbolic algebra{pool};
  Poly n = Poly::symbol(pool.named("n"));
  Budget budget{Limits{}};
  ArithmeticSolver solver{budget};
  Context empty{solver, budget, {}};
  Sum x = input(0, Poly(0)), y = input(1, Poly(0));
};

TEST_F(ContextTest, WhatIsLearntInABranchStaysThere) {
  Context positive = learn(empty, {x, {}, {}, sign::kPositive});
  Context negative = learn(empty, {x, {}, {}, sign::kNegative});
  Context both_signs = learn(positive, {y, {}, {}, sign::kNegative});
  EXPECT_EQ(sign_of(x, positive), sign::kPositive);
  EXPECT_EQ(sign_of(x, negative), sign::kNegative);
  EXPECT_EQ(sign_of(x * y, both_signs), sign::kNegative);
  EXPECT_EQ(sign_of(y, positive), sign::kUnknown);
  EXPECT_EQ(sign_of(x, empty), sign::kUnknown);
  EXPECT_TRUE(empty.facts.empty());
}

TEST_F(ContextTest, WhatIsAssumedInABranchStaysThere) {
  Context large = empty.where(Poly(5) <= n), small = empty.where(n <= Poly(4));
  EXPECT_TRUE(large.implies(Poly(3) <= n));
  EXPECT_FALSE(small.implies(Poly(3) <= n));
  EXPECT_FALSE(empty.implies(Poly(3) <= n));
  EXPECT_TRUE(large.where(n <= Poly(4)).refuted());
  EXPECT_FALSE(large.only(small.domain()).implies(Poly(3) <= n));
}

TEST_F(ContextTest, SumsAreMatchedWithoutLaws) {
  EXPECT_TRUE(same_value(inner_product(n), inner_product(n), empty));
  EXPECT_FALSE(same_value(inner_product(n), inner_product(n + Poly(1)), empty));
  EXPECT_TRUE(is_zero(difference(x * y, y * x), empty));
  EXPECT_FALSE(is_zero(difference(x * x, x * y), empty));
}

TEST_F(ContextTest, LawsAreInUseWhereTheContextSaysSo) {
  Sum product = function_of(Fn::Exp, x) * function_of(Fn::Exp, y);
  Sum claim = difference(function_of(Fn::Exp, x + y), product);
  Context lawful = empty;
  lawful.laws = Laws::Plain;
  EXPECT_FALSE(is_zero(claim, empty));
  EXPECT_TRUE(is_zero(claim, lawful));
  Sum relu = function_of(Fn::Relu, x);
  EXPECT_FALSE(rewritten(*only_atom(relu), lawful));
  auto value = rewritten(*only_atom(relu), learn(lawful, {x, {}, {}, sign::kNotNegative}));
  ASSERT_TRUE(value);
  EXPECT_TRUE(same_value(*value, x, empty));
}

TEST_F(ContextTest, NestingEnds) {
  Context c = empty;
  EXPECT_THROW(for (int k = 0; k < 1000; ++k) c = c.deeper(), OutOfBudget);
  EXPECT_EQ(empty.depth.sums, 0);
}

}  // namespace
}  // namespace regraft::verify
