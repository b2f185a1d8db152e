// The algebras over integer indices agree with each other where they must.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "ir/algebra/concrete.h"

namespace regraft {
namespace {

/// Equal in both moduli; the doubles up to rounding.
void expect_same(Residue a, Residue b) {
  EXPECT_EQ(a.v, b.v);
  EXPECT_EQ(a.w, b.w);
  EXPECT_NEAR(a.r, b.r, 1e-6 * (1 + std::abs(a.r)));
}

TEST(Residue, OfRoundedDoublesAreThoseOfTheNumber) {
  const double third = 1.0 / 3, ten = std::exp(std::log(10.7));
  EXPECT_EQ(residue_of_rounded(0.5), residue_of(0.5));
  EXPECT_EQ(residue_of_rounded(-3 + 1e-13), residue_of(int64_t{-3}));
  EXPECT_EQ(residue_of_rounded(ten), residue_of_rounded(10.7));
  EXPECT_EQ(residue_of_rounded(third) + residue_of_rounded(-third), residue_of(int64_t{0}));
  EXPECT_FALSE(residue_of_rounded(third) == residue_of_rounded(third + 1e-6));
  EXPECT_FALSE(residue_of_rounded(third) == residue_of_rounded(third * 1024));
  EXPECT_TRUE(nearly_equal(ten, 10.7));
  EXPECT_FALSE(nearly_equal(10.7, 10.7001));
}

TEST(Residues, ManyReciprocalsAreThoseOfEach) {
  Rng rng(11);
  std::vector<Residue> all;
  for (int k = 0; k < 9; ++k) all.push_back(random_residue(rng));
  all[2].v = 0;  // no reciprocal
  all[5].w = 0;
  all[7] = residue_of(int64_t{-3});
  std::vector<Residue> inverted = all;
  invert(inverted);
  for (size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(is_defined(inverted[k]), k != 2 && k != 5) << k;
    if (!is_defined(inverted[k])) continue;
    Residue one = all[k] * inverted[k], alone = inverse(all[k]);
    EXPECT_EQ(one.v, 1u);
    EXPECT_EQ(one.w, 1u);
    EXPECT_EQ(alone.v, inverted[k].v);
    EXPECT_EQ(alone.w, inverted[k].w);
    EXPECT_EQ(alone.v, Residue::ModPrime::inverse(all[k].v));
    Residue root = square_root(all[k]);
    EXPECT_EQ(root.v, Residue::ModPrime::power(all[k].v, (Residue::kPrime + 1) / 4));
    EXPECT_EQ(root.w, Residue::ModOrder::power(all[k].w, (Residue::kOrder + 1) / 4));
  }
  invert({});
}

TEST(Field, IsAFieldInEveryChannel) {
  Rng rng(1);
  for (int k = 0; k < 500; ++k) {
    Residue a = random_residue(rng), b = random_residue(rng), c = random_residue(rng);
    expect_same((a + b) * c, a * c + b * c);
    expect_same((a * b) * c, a * (b * c));
    expect_same(a * inverse(a), residue_of(int64_t{1}));
    expect_same(a + a * residue_of(int64_t{-1}), Residue{});
    for (uint64_t x : {a.v, a.w}) EXPECT_LT(x, Residue::kPrime);
    EXPECT_LT((a * b).w, Residue::kOrder);
  }
  EXPECT_EQ(inverse(residue_of(int64_t{0})).v, 0u);
}

TEST(Field, MultipliesTheLargestNumbers) {
  constexpr uint64_t kP = Residue::kPrime, kQ = Residue::kOrder;
  for (uint64_t d : {1, 2, 3153, 5000}) {
    Residue x{kP - d, kQ - d, 0};
    EXPECT_EQ((x * x).v, d * d);
    EXPECT_EQ((x * x).w, d * d);
    EXPECT_EQ((x + x).v, kP - 2 * d);
  }
}

TEST(Field, ReadsIntegersAndDyadicDoublesExactly) {
  Rng rng(2);
  for (int k = 0; k < 500; ++k) {
    int64_t a = rng.between(-1000000, 1000000), b = rng.between(-1000000, 1000000);
    expect_same(residue_of(a) * residue_of(b), residue_of(a * b));
    expect_same(residue_of(a) + residue_of(b), residue_of(a + b));
    expect_same(residue_of(static_cast<double>(a)), residue_of(a));
    expect_same(residue_of(static_cast<double>(a) / 64) * residue_of(int64_t{64}), residue_of(a));
    expect_same(residue_of(std::ldexp(static_cast<double>(a), 70)) * residue_of(0x1p-70),
                residue_of(a));
    if (a != 0) expect_same(inverse(residue_of(a)) * residue_of(a), residue_of(int64_t{1}));
  }
  for (int64_t n = 1; n < 70; ++n)
    expect_same(inverse(residue_of(n)) * residue_of(n), residue_of(int64_t{1}));
}

TEST(Field, FunctionsKeepTheirFacts) {
  for (uint64_t key : {1, 2, 3}) {
    Field f(key);
    Rng rng(key);
    for (Fn fn : kAllFunctions) {
      if (facts(fn).zero_at_zero) {
        EXPECT_EQ(f.apply(fn, Residue{}).v, 0u) << facts(fn).name;
      }
      Residue x = random_residue(rng), y = random_residue(rng);
      x.r = std::abs(x.r);
      EXPECT_EQ(f.apply(fn, x), f.apply(fn, x));
      EXPECT_TRUE(facts(fn).jumps || !(f.apply(fn, x) == f.apply(fn, y))) << facts(fn).name;
      if (facts(fn).idempotent) {
        EXPECT_EQ(f.apply(fn, f.apply(fn, x)), f.apply(fn, x));
      }
    }
  }
}

TEST(Field, TheDoubleIsTheRealFunction) {
  Field f;
  Reals r;
  Rng rng(5);
  for (int k = 0; k < 100; ++k) {
    Residue x = random_residue(rng);
    x.r = std::abs(x.r);
    for (Fn fn : kAllFunctions)
      EXPECT_NEAR(f.apply(fn, x).r, r.apply(fn, x.r), 1e-9 * (1 + std::abs(r.apply(fn, x.r))))
          << facts(fn).name;
    EXPECT_EQ(f.clip(x, Real{1, nullptr}, Real{2, nullptr}).r,
              r.clip(x.r, Real{1, nullptr}, Real{2, nullptr}));
  }
}

TEST(Field, ExpTurnsSumsIntoProducts) {
  for (uint64_t key : {1, 2, 3}) {
    Field f(key);
    Rng rng(key);
    Residue one = residue_of(int64_t{1}), minus_one = residue_of(int64_t{-1});
    for (int k = 0; k < 50; ++k) {
      Residue x = random_residue(rng), y = random_residue(rng);
      Residue e = f.apply(Fn::Exp, x);
      EXPECT_EQ(f.apply(Fn::Exp, x + y), e * f.apply(Fn::Exp, y));
      EXPECT_EQ(f.apply(Fn::Exp, x * minus_one), f.apply(Fn::Recip, e));
      EXPECT_EQ(f.apply(Fn::Sigmoid, x) * (e + one), e);
      EXPECT_EQ(f.apply(Fn::Tanh, x) * (e * e + one), e * e + minus_one);
      EXPECT_FALSE(f.apply(Fn::Exp, x * y) == e * f.apply(Fn::Exp, y));
    }
    EXPECT_EQ(f.apply(Fn::Exp, Residue{}), one);
    EXPECT_EQ(f.apply(Fn::Sigmoid, Residue{}), f.constant(1, 2));
    EXPECT_FALSE(f.apply(Fn::Exp, one) == Field(key + 9).apply(Fn::Exp, one));
  }
}

TEST(Field, RootsAreMultiplicative) {
  Field f;
  Rng rng(4);
  for (int k = 0; k < 50; ++k) {
    Residue x = random_residue(rng), y = random_residue(rng);
    Residue root = f.apply(Fn::Sqrt, x);
    EXPECT_EQ(f.apply(Fn::Sqrt, x * y), root * f.apply(Fn::Sqrt, y));
    EXPECT_TRUE(root * root == x || root * root == x * residue_of(int64_t{-1}));
  }
}

TEST(Field, ChoosesByTheDoubleAndTakesAllChannels) {
  Field f;
  Residue a{11, 1, -2}, b{22, 2, 0.5}, c{33, 3, 4};
  EXPECT_EQ(f.maximum({a, b, c}), c);
  EXPECT_EQ(f.maximum({c, a, b}), c);
  EXPECT_EQ(f.maximum({a, b}).w, 2u);
  EXPECT_EQ(f.maximum({a}), a);
  EXPECT_EQ(f.apply(Fn::Relu, a), Residue{});
  EXPECT_EQ(f.apply(Fn::Relu, c), c);
  Real zero{0, nullptr}, three{3, nullptr};
  EXPECT_EQ(f.clip(a, zero, three), residue_of(int64_t{0}));
  EXPECT_EQ(f.clip(b, zero, three), b);
  EXPECT_EQ(f.clip(c, zero, three), residue_of(int64_t{3}));
}

TEST(Field, SaysWhereItHasNoValue) {
  Field f;
  Real half{0.5, nullptr}, one{1, nullptr};
  Residue a{11, 1, 0.5}, same_order{12, 2, 0.5}, huge{13, 3, 1e80};
  Residue nothing = f.apply(Fn::Recip, Residue{});
  for (Residue x : {nothing, f.recip(0), f.maximum({a, same_order}), f.maximum({a, huge}),
                    f.apply(Fn::Relu, huge), f.clip(same_order, half, one), nothing + a,
                    nothing * Residue{}, f.maximum({nothing, nothing}), f.maximum({nothing, a}),
                    f.maximum({a, nothing}), f.clip(nothing, half, one)})
    EXPECT_FALSE(is_defined(x));
  for (Fn fn : kAllFunctions) EXPECT_FALSE(is_defined(f.apply(fn, nothing))) << facts(fn).name;
  EXPECT_TRUE(is_defined(f.maximum({huge, huge})));
  EXPECT_TRUE(is_defined(f.apply(Fn::Exp, huge) * f.apply(Fn::Recip, f.apply(Fn::Exp, huge))));
  EXPECT_TRUE(f.ok);
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
  EXPECT_TRUE(std::isnan(r.maximum({1, std::nan(""), 2})));
  EXPECT_TRUE(std::isnan(r.maximum({std::nan(""), 1})));
  EXPECT_TRUE(std::isnan(r.maximum({1, std::nan("")})));
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
    Residue total;  // the term at the same numbers
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

TEST(Terms, MaximaOfMaximaAreMaximaOfAll) {
  TermStore store;
  Terms t(store);
  Term x = t.element(0, 0), y = t.element(0, 1), z = t.element(0, 2), none = t.maximum({});
  Term all = t.maximum({x, y, z});
  EXPECT_EQ(t.maximum({t.maximum({x, y}), t.maximum({y, z})}), all);
  EXPECT_EQ(t.maximum({t.maximum({z, y}), x}), all);
  EXPECT_EQ(t.maximum({t.maximum({x, y}), t.maximum({x, y})}), t.maximum({x, y}));
  EXPECT_NE(t.maximum({t.maximum({x, y}) + z, x}), all);
  EXPECT_NE(t.maximum({none, x}), x);  // which is not defined
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
    CountTensor t{{10}};
    std::vector<CountIndex> at = {k};
    return c.read(t, at) * c.read(t, at);
  });
  double flops = 0;
  for (const auto& [loops, work] : product.work) flops += work;
  EXPECT_DOUBLE_EQ(flops, 20);
}

}  // namespace
}  // namespace regraft
