// Questions about integers that need no solver, compared with trying all small numbers.
#include "verify/arithmetic/linear.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "verify/arithmetic/equalities.h"
#include "verify/arithmetic/models.h"

namespace regraft::verify {
namespace {

constexpr int64_t kLargest = 3;  // of each symbol, which a literal says

/// Random conjunctions over three sizes and a position in a box.
class Random {
 public:
  explicit Random(uint64_t seed) : rng_(seed) {
    for (const char* name : {"x", "y", "z"}) symbols_.push_back(pool_.named(name));
    symbols_.push_back(pool_.fresh("i", SymbolKind::Position));
  }
  Conjunction next(bool products) {
    Conjunction c;
    for (Var v : symbols_) {
      Poly p = Poly::symbol(v);
      add(c, Poly(v->min) <= p && p <= Poly(kLargest));
    }
    for (int k = 0; k < 3; ++k) {
      Formula f = literal(products);
      add(c, rng_.below(3) == 0 ? f || literal(products) : f);
    }
    return c;
  }
  /// Calls visit with all values in the box.
  template <class F>
  void for_each(F&& visit) const {
    Valuation values;
    auto from = [&](auto& self, size_t k) -> void {
      if (k == symbols_.size()) return visit(values);
      for (int64_t x = symbols_[k]->min; x <= kLargest; ++x) {
        values[symbols_[k]] = x;
        self(self, k + 1);
      }
    };
    from(from, 0);
  }
  bool satisfiable(const Conjunction& c) const {
    bool found = false;
    for_each([&](const Valuation& v) { found = found || evaluate(c, v); });
    return found;
  }
  Symbols symbols() const { return {symbols_.begin(), symbols_.end()}; }

 private:
  Poly monomial(bool products) {
    Poly p = Poly::symbol(symbols_[rng_.below(symbols_.size())]);
    return products && rng_.below(2) ? p * Poly::symbol(symbols_[rng_.below(symbols_.size())]) : p;
  }
  Formula literal(bool products) {
    Poly p(rng_.between(-4, 4));
    for (int k = 0; k < 3; ++k) p = p + Poly(rng_.between(-3, 3)) * monomial(products);
    return rng_.below(4) == 0 ? p == Poly(0) : Poly(0) <= p;
  }

  Rng rng_;
  SymbolPool pool_;
  std::vector<Var> symbols_;
};

TEST(Linear, DecidesWhatTryingAllNumbersDoes) {
  Random random(3);
  int refuted = 0, satisfiable = 0;
  for (int k = 0; k < 600; ++k) {
    Conjunction c = random.next(false);
    Decision d = decide_linear(c);
    refuted += d == Decision::Refuted;
    satisfiable += d == Decision::Satisfiable;
    if (d == Decision::Open) continue;
    EXPECT_EQ(d == Decision::Satisfiable, random.satisfiable(c)) << k;
  }
  EXPECT_GE(refuted, 100);
  EXPECT_GE(satisfiable, 100);
}

TEST(Linear, FactsOfProductsFollow) {
  Random random(5);
  int refuted = 0;
  for (int k = 0; k < 300; ++k) {
    Conjunction c = random.next(true), more = with_products(c);
    random.for_each(
        [&](const Valuation& v) { EXPECT_TRUE(!evaluate(c, v) || evaluate(more, v)) << k; });
    bool beyond = decide_linear(c) != Decision::Refuted && decide_linear(more) == Decision::Refuted;
    refuted += beyond;
    EXPECT_FALSE(beyond && random.satisfiable(c)) << k;
  }
  EXPECT_GE(refuted, 3);
}

TEST(Linear, EqualitiesAreUsedUpWithoutLoss) {
  Random random(7);
  for (int k = 0; k < 300; ++k) {
    Conjunction c = random.next(true);
    EXPECT_EQ(random.satisfiable(c), random.satisfiable(without_equalities(c))) << k;
  }
  SymbolPool pool;
  Poly n = Poly::symbol(pool.named("n")), m = Poly::symbol(pool.named("m")),
       d = Poly::symbol(pool.named("d"));
  Poly p = pool.floordiv(n + Poly(1), d), q = pool.floordiv(m, d);  // equal for m = n + 1
  EXPECT_EQ(decide_linear(without_equalities({m == n + Poly(1), p < q})), Decision::Refuted);
  EXPECT_EQ(decide_linear(without_equalities({n * m == Poly(1), Poly(3) <= n + m})),
            Decision::Refuted);
}

TEST(Models, OnlySayWhatIsSo) {
  Random random(11);
  Models models;
  int found = 0, all = 0;
  for (int k = 0; k < 300; ++k) {
    Conjunction c = random.next(true);
    bool some = random.satisfiable(c), says = models.satisfied(c, random.symbols());
    EXPECT_TRUE(some || !says) << k;
    found += says;
    all += some;
  }
  EXPECT_GE(found, all * 9 / 10);
}

TEST(Models, FurtherAttemptsStartFromOtherValues) {
  SymbolPool pool;
  Var first = pool.named("a"), last = pool.fresh("z", SymbolKind::Bound);
  Symbols symbols{first, last};
  for (int k = 0; k < 6; ++k) symbols.insert(pool.named("b" + std::to_string(k)));
  Poly a = Poly::symbol(first), z = Poly::symbol(last);
  Conjunction facts{Poly(1) <= a * z - z, z <= Poly(1)};  // not with the least a, 1
  for (Var v : symbols)
    if (v != first && v != last) add(facts, Poly(0) <= Poly::symbol(v) + z);
  EXPECT_FALSE(Models().satisfied(facts, symbols));
  EXPECT_TRUE(Models().satisfied(facts, symbols, 20));
  EXPECT_FALSE(Models().satisfied({Poly(1) <= a * z - z, z <= Poly(0)}, {first, last}, 20));
}

TEST(Linear, RealsAreNotRounded) {
  auto row = [](std::vector<int64_t> c, int64_t k, bool strict) {
    Inequality r{{}, k, strict};
    for (uint32_t column = 0; column < c.size(); ++column) r.c.push_back({column, c[column]});
    return r;
  };
  EXPECT_FALSE(no_reals({row({2}, -1, false), row({-2}, 1, false)}));  // x = 1/2
  EXPECT_TRUE(no_reals({row({2}, -1, true), row({-2}, 1, false)}));
  EXPECT_FALSE(no_reals({row({3}, -1, true), row({-3}, 2, true)}));  // 1/3 < x < 2/3
  EXPECT_TRUE(no_reals({row({1, -1}, 0, false), row({0, 1}, -1, false), row({-1, 0}, 0, true)}));
  EXPECT_FALSE(no_reals({}));
  const Inequality twice{{{1, 1}, {0, 0}, {1, 1}}, -1};  // 2 y >= 1, said in two terms
  EXPECT_TRUE(no_reals({twice, row({0, -1}, 0, false)}));
  EXPECT_FALSE(no_reals({twice, row({0, -2}, 1, false)}));
  EXPECT_FALSE(no_reals({Inequality{{{0, int64_t{1} << 40}}, -1}, row({-1}, 0, false)}));
}

}  // namespace
}  // namespace regraft::verify
