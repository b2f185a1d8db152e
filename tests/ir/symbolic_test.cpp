#include "ir/algebra/symbolic.h"

#include "tests/ir/graphs.h"
#include "tests/ir/sum_value.h"

namespace regraft {
namespace {

struct SymbolicTest : ::testing::Test {
  SymbolPool pool;
  Symbolic alg{pool};
  Var n = pool.named("n");
  std::vector<Array<Residue>> tensors = {random_residues(0, {4}, 1), random_residues(1, {4}, 1)};
  Field field;
  Residue value(const Sum& s) { return SumValue{field, tensors, 6}.of(s, {{n, 4}}); }
  Sum read(int tensor, const Poly& i) { return alg.element(tensor, std::vector<Poly>{i}); }
};

TEST_F(SymbolicTest, SumsRunOverTheirRange) {
  Residue expected{0};
  for (const Residue& x : tensors[0].data) expected = expected + x;
  EXPECT_EQ(value(alg.sum(Poly::symbol(n), [&](const Poly& k) { return read(0, k); })), expected);
}

TEST_F(SymbolicTest, ProductsOfSumsRenameTheirVariables) {
  Sum x = alg.sum(Poly::symbol(n), [&](const Poly& k) { return read(0, k); });
  EXPECT_EQ(value(x * x), value(x) * value(x));
  EXPECT_EQ(value(x * x * x), value(x) * value(x) * value(x));
}

TEST_F(SymbolicTest, SelectSplitsByItsCondition) {
  auto chosen = [&](const Poly& at) {
    return alg.select(
        at < Poly::symbol(n) - Poly(2), [&] { return read(0, at); }, [&] { return read(1, at); });
  };
  EXPECT_EQ(value(chosen(1)), tensors[0].data[1]);
  EXPECT_EQ(value(chosen(2)), tensors[1].data[2]);
  EXPECT_EQ(alg.select(
                   Poly(1) < Poly(0), [&] { return read(0, 0); }, [&] { return Sum{}; })
                .products.size(),
            0u);
}

TEST_F(SymbolicTest, SubstitutionReachesEveryPart) {
  Var i = pool.fresh("i", SymbolKind::Position);
  Sum s = alg.apply(Fn::Exp, alg.sum(Poly::symbol(i) + Poly(1), [&](const Poly& k) {
    return read(0, k) * alg.recip(Poly::symbol(i) + Poly(2));
  }));
  EXPECT_TRUE(mentions(s, i));
  Sum at2 = substitute(s, Substitution{{i, Poly(2)}});
  EXPECT_FALSE(mentions(at2, i));
  const auto& t = tensors[0].data;
  EXPECT_EQ(value(at2), field.apply(Fn::Exp, (t[0] + t[1] + t[2]) * field.recip(4)));
}

TEST_F(SymbolicTest, NumbersBecomeScalars) {
  Poly p = Poly(3) * Poly::symbol(n) * Poly::symbol(n) - Poly(5);
  EXPECT_EQ(value(alg.to_scalar(p)), residue_of(int64_t{43}));
  EXPECT_EQ(value(alg.real(Real{0.375, nullptr})), residue_of(0.375));
  EXPECT_EQ(value(alg.real(Real{1e-5, nullptr})), residue_of(1e-5));
  EXPECT_EQ(value(alg.recip(Poly::symbol(n))), field.recip(4));
}

TEST_F(SymbolicTest, FunctionsOfWhatIsKnownAreFolded) {
  auto same = [](const Sum& a, const Sum& b) { return to_string(a) == to_string(b); };
  EXPECT_TRUE(same(alg.apply(Fn::Sqrt, alg.constant(1)), alg.constant(1)));
  EXPECT_FALSE(same(alg.apply(Fn::Sqrt, alg.constant(4)), alg.constant(4)));
  EXPECT_FALSE(same(alg.apply(Fn::Exp, alg.constant(1)), alg.constant(1)));
  Sum x = read(0, 1), positive = alg.apply(Fn::Relu, x);
  Real zero{0, nullptr}, eight{8, nullptr}, below{-1, nullptr};
  EXPECT_TRUE(same(alg.clip(positive, zero, eight), alg.clip(x, zero, eight)));
  EXPECT_FALSE(same(alg.clip(positive, below, eight), alg.clip(x, below, eight)));
  Sum clipped = alg.clip(x, zero, eight), signed_clip = alg.clip(x, below, eight);
  EXPECT_TRUE(same(alg.apply(Fn::Relu, clipped), clipped));
  EXPECT_FALSE(same(alg.apply(Fn::Relu, signed_clip), signed_clip));
}

TEST_F(SymbolicTest, LooksUpNumbersAndKeepsOpenPositions) {
  std::vector<Poly> table = {Poly(2), Poly(0), Poly(1)};
  EXPECT_TRUE(same(alg.lookup(table, Poly(0), Poly(3)), Poly(2)));
  Var i = pool.fresh("i", SymbolKind::Position);
  Poly open = alg.lookup(table, Poly::symbol(i), Poly(3));
  EXPECT_TRUE(same(open, alg.lookup(table, Poly::symbol(i), Poly(3))));
  EXPECT_FALSE(same(open, alg.lookup({Poly(2), Poly(1), Poly(0)}, Poly::symbol(i), Poly(3))));
  bool possible = true;
  alg.on_require = [&](const Formula& f) { possible = possible && f.kind != Formula::False; };
  alg.lookup({Poly(3)}, Poly(0), Poly(3));
  EXPECT_FALSE(possible);
}

TEST_F(SymbolicTest, DivisionRequiresAPositiveDivisor) {
  std::vector<Formula> required;
  alg.on_require = [&](const Formula& f) {
    if (f.kind != Formula::True) required.push_back(f);
  };
  alg.floordiv(Poly::symbol(n), Poly(2));
  EXPECT_TRUE(required.empty());
  alg.floordiv(Poly(1), Poly::symbol(n) - Poly(1));
  ASSERT_EQ(required.size(), 1u);
  EXPECT_FALSE(evaluate(required[0], {{n, 1}}));
  EXPECT_TRUE(evaluate(required[0], {{n, 2}}));
}

}  // namespace
}  // namespace regraft
