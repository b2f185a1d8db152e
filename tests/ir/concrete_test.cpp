// The algebras over integer indices agree with each other where they must.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "ir/concrete.h"

namespace regraft {
namespace {

TEST(Field, IsAField) {
  Rng rng(1);
  for (int k = 0; k < 500; ++k) {
    Residue a{rng.below(Residue::kPrime)}, b{rng.below(Residue::kPrime)},
        c{rng.below(Residue::kPrime)};
    EXPECT_EQ((a + b) * c, a * c + b * c);
    EXPECT_EQ((a * b) * c, a * (b * c));
    if (a.v != 0) {
      EXPECT_EQ(a * inverse(a), residue_of(int64_t{1}));
    }
  }
  EXPECT_EQ(inverse(residue_of(int64_t{0})).v, 0u);
}

TEST(Field, ReadsIntegersAndDyadicDoublesExactly) {
  Rng rng(2);
  for (int k = 0; k < 500; ++k) {
    int64_t a = rng.between(-1000000, 1000000), b = rng.between(-1000000, 1000000);
    EXPECT_EQ(residue_of(a) * residue_of(b), residue_of(a * b));
    EXPECT_EQ(residue_of(a) + residue_of(b), residue_of(a + b));
    EXPECT_EQ(residue_of(static_cast<double>(a)), residue_of(a));
    EXPECT_EQ(residue_of(static_cast<double>(a) / 64) * residue_of(int64_t{64}), residue_of(a));
  }
}

TEST(Field, FunctionsKeepTheirFacts) {
  for (uint64_t key : {1, 2, 3}) {
    Field f(key);
    Rng rng(key);
    for (Fn fn : {Fn::Relu, Fn::Sigmoid, Fn::Tanh, Fn::Exp, Fn::Sqrt, Fn::Erf, Fn::Recip}) {
      if (facts(fn).zero_at_zero) {
        EXPECT_EQ(f.apply(fn, Residue{0}).v, 0u) << facts(fn).name;
      }
      Residue x{rng.below(Residue::kPrime)}, y{rng.below(Residue::kPrime)};
      EXPECT_EQ(f.apply(fn, x), f.apply(fn, x));
      if (!facts(fn).idempotent) {
        EXPECT_NE(f.apply(fn, x), f.apply(fn, y)) << facts(fn).name;
      }
      if (facts(fn).idempotent) {
        EXPECT_EQ(f.apply(fn, f.apply(fn, x)), f.apply(fn, x));
      }
    }
    Residue a{11}, b{22}, c{33};
    EXPECT_EQ(f.maximum({a, b, c}), f.maximum({c, a, b}));
    EXPECT_EQ(f.maximum({a, a, b}), f.maximum({a, b}));
    EXPECT_NE(f.maximum({a, b}), f.maximum({a, c}));
    EXPECT_EQ(f.maximum({a}), a);
  }
}

TEST(Reals, FunctionsAreTheUsualOnes) {
  Reals r;
  for (double x : {-3.0, -0.5, 0.0, 0.25, 2.0}) {
    EXPECT_DOUBLE_EQ(r.apply(Fn::Relu, x), x > 0 ? x : 0);
    EXPECT_DOUBLE_EQ(r.apply(Fn::Sigmoid, x), 1 / (1 + std::exp(-x)));
    EXPECT_DOUBLE_EQ(r.apply(Fn::Tanh, x), std::tanh(x));
    EXPECT_DOUBLE_EQ(r.clip(x, Real{-1, nullptr}, Real{1, nullptr}), x < -1 ? -1 : x > 1 ? 1 : x);
  }
  EXPECT_TRUE(std::isnan(r.apply(Fn::Relu, std::nan(""))));
  EXPECT_DOUBLE_EQ(r.maximum({1, 5, -2}), 5);
}

/// The same random polynomial expression in three algebras.
template <class A>
typename A::Scalar random_value(A& alg, Rng& rng, const std::vector<typename A::Scalar>& atoms,
                                int depth) {
  if (depth == 0)
    return rng.below(3) == 0 ? alg.constant(rng.between(-4, 4)) : atoms[rng.below(atoms.size())];
  auto x = random_value(alg, rng, atoms, depth - 1), y = random_value(alg, rng, atoms, depth - 1);
  return rng.below(2) ? x + y : x * y;
}

TEST(Algebras, AgreeOnPolynomials) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Reals reals;
    Field field;
    TermStore store;
    Terms terms(store);
    std::vector<double> a = {2, -3, 5};
    std::vector<Residue> b;
    std::vector<Term> c;
    for (size_t k = 0; k < a.size(); ++k) {
      b.push_back(residue_of(a[k]));
      c.push_back(terms.element(0, static_cast<int64_t>(k)));
    }
    Rng r1(seed), r2(seed), r3(seed);
    double x = random_value(reals, r1, a, 3);
    Residue y = random_value(field, r2, b, 3);
    Term z = random_value(terms, r3, c, 3);
    EXPECT_EQ(residue_of(x), y);
    Residue total{0};  // the term at the same numbers
    for (const auto& [mono, coefficient] : store.body(z)) {
      Residue product = residue_of(coefficient.n) * inverse(residue_of(coefficient.d));
      for (int32_t atom : mono)
        for (size_t k = 0; k < c.size(); ++k)
          if (store.body(c[k]).begin()->first[0] == atom) product = product * b[k];
      total = total + product;
    }
    EXPECT_EQ(total, y);
  }
}

TEST(Terms, EqualPolynomialsAreOneTerm) {
  TermStore store;
  Terms t(store);
  Term x = t.element(0, 0), y = t.element(0, 1);
  EXPECT_EQ((x + y) * (x + y), x * x + t.constant(2) * x * y + y * y);
  EXPECT_NE(x * y, x + y);
  EXPECT_EQ(t.apply(Fn::Exp, x + y), t.apply(Fn::Exp, y + x));
  EXPECT_EQ(t.constant(1, 2) + t.constant(1, 2), t.constant(1));
}

TEST(Terms, FunctionsOfWhatIsKnownAreFolded) {
  TermStore store;
  Terms t(store);
  Term x = store.atom({0, 7}), positive = t.apply(Fn::Relu, x);
  EXPECT_EQ(t.apply(Fn::Sqrt, t.constant(1)).id, t.constant(1).id);
  EXPECT_NE(t.apply(Fn::Sqrt, t.constant(4)).id, t.constant(4).id);
  Real zero{0, nullptr}, eight{8, nullptr}, below{-1, nullptr};
  EXPECT_EQ(t.clip(positive, zero, eight).id, t.clip(x, zero, eight).id);
  EXPECT_NE(t.clip(positive, below, eight).id, t.clip(x, below, eight).id);
  Term clipped = t.clip(x, zero, eight), signed_clip = t.clip(x, below, eight);
  EXPECT_EQ(t.apply(Fn::Relu, clipped).id, clipped.id);
  EXPECT_NE(t.apply(Fn::Relu, signed_clip).id, signed_clip.id);
}

TEST(Rational, IsReducedAndExact) {
  EXPECT_EQ(Rational::make(6, -4), Rational::make(-3, 2));
  EXPECT_EQ(Rational::make(1, 3) + Rational::make(1, 6), Rational::make(1, 2));
  EXPECT_EQ(Rational::make(2, 3) * Rational::make(3, 4), Rational::make(1, 2));
  EXPECT_THROW(Rational::make(INT64_MAX, 1) * Rational::make(INT64_MAX, 1), PolyOverflow);
}

TEST(Concrete, RecordsViolations) {
  Reals r;
  EXPECT_EQ(r.floordiv(7, 2), 3);
  EXPECT_EQ(r.floordiv(-7, 2), -4);
  EXPECT_TRUE(r.ok);
  r.floordiv(7, 0);
  EXPECT_FALSE(r.ok);
  Reals s;
  EXPECT_EQ(s.lookup({4, 2}, 1, 3), 2);
  EXPECT_TRUE(s.ok);
  s.lookup({4, 2}, 0, 3);
  EXPECT_FALSE(s.ok);
}

TEST(Counting, ChargesALoopForWhatDependsOnIt) {
  Counting c;
  auto product = c.sum(10, [&](CountIndex k) {
    Counting::Tensor t{{10}};
    std::vector<CountIndex> at = {k};
    return c.read(t, at) * c.read(t, at);
  });
  double flops = 0;
  for (const auto& [loops, work] : product.work) flops += work;
  EXPECT_DOUBLE_EQ(flops, 20);
}

}  // namespace
}  // namespace regraft
