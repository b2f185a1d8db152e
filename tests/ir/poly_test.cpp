// Polynomials and formulas against plain integer arithmetic on random values.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "ir/algebra/formula.h"

namespace regraft {
namespace {

struct World {
  SymbolPool pool;
  std::vector<Var> symbols;
  Rng rng{42};
  World() {
    for (int k = 0; k < 4; ++k) symbols.push_back(pool.named("s" + std::to_string(k)));
  }
  Valuation values(int64_t low, int64_t high) {
    Valuation v;
    for (Var s : symbols) v[s] = rng.between(low, high);
    return v;
  }
};

/// A random expression together with how plain integers compute it.
struct Expression {
  Poly poly;
  std::function<int64_t(const Valuation&)> value;
};
Expression random_expression(World& w, int depth) {
  if (depth == 0 || w.rng.below(5) == 0) {
    if (w.rng.below(3) == 0) {
      int64_t c = w.rng.between(-5, 5);
      return {Poly(c), [c](const Valuation&) { return c; }};
    }
    Var s = w.symbols[w.rng.below(w.symbols.size())];
    return {Poly::symbol(s), [s](const Valuation& v) { return v.at(s); }};
  }
  Expression a = random_expression(w, depth - 1), b = random_expression(w, depth - 1);
  switch (w.rng.below(4)) {
    case 0:
      return {a.poly + b.poly, [=](const Valuation& v) { return a.value(v) + b.value(v); }};
    case 1:
      return {a.poly - b.poly, [=](const Valuation& v) { return a.value(v) - b.value(v); }};
    case 2:
      return {a.poly * b.poly, [=](const Valuation& v) { return a.value(v) * b.value(v); }};
    default:
      break;
  }
  Var s = w.symbols[w.rng.below(w.symbols.size())];
  int64_t scale = w.rng.between(1, 3);
  Poly divisor = w.rng.below(2) ? Poly(scale) : Poly(scale) * Poly::symbol(s);
  bool fixed = divisor.is_constant();
  return {w.pool.floordiv(a.poly, divisor), [=](const Valuation& v) {
            return floordiv(a.value(v), fixed ? scale : scale * v.at(s));
          }};
}

TEST(Poly, AgreesWithIntegers) {
  World w;
  for (int round = 0; round < 2000; ++round) {
    Expression e = random_expression(w, 3);
    for (int k = 0; k < 4; ++k) {
      Valuation v = w.values(1, 9);
      ASSERT_EQ(evaluate(e.poly, v), e.value(v)) << to_string(e.poly);
    }
  }
}

TEST(Poly, NormalFormIsUnique) {
  World w;
  for (int round = 0; round < 500; ++round) {
    Poly a = random_expression(w, 2).poly, b = random_expression(w, 2).poly,
         c = random_expression(w, 2).poly;
    EXPECT_TRUE(same((a + b) * c, c * b + a * c));
    EXPECT_TRUE(same(a - a, Poly(0)));
    EXPECT_EQ(hash((a + b) * c), hash(c * b + a * c));
    EXPECT_EQ(compare(a, b), -compare(b, a));
  }
}

TEST(Poly, SubstitutesSimultaneously) {
  World w;
  for (int round = 0; round < 500; ++round) {
    Expression e = random_expression(w, 3), x = random_expression(w, 1),
               y = random_expression(w, 1);
    Poly positive = x.poly * x.poly + Poly(1);
    Substitution s{{w.symbols[0], positive}, {w.symbols[1], Poly::symbol(w.symbols[0])}};
    Valuation v = w.values(1, 5), moved = v;
    moved[w.symbols[0]] = evaluate(positive, v);
    moved[w.symbols[1]] = v[w.symbols[0]];
    ASSERT_EQ(evaluate(substitute(e.poly, s), v), evaluate(e.poly, moved)) << to_string(e.poly);
  }
}

TEST(Poly, FloorDivisionSimplifies) {
  World w;
  Poly n = Poly::symbol(w.symbols[0]), m = Poly::symbol(w.symbols[1]);
  EXPECT_TRUE(same(w.pool.floordiv(Poly(6) * n * m, Poly(2) * m), Poly(3) * n));
  EXPECT_TRUE(same(w.pool.floordiv(Poly(4) * n + Poly(7), Poly(4)), n + Poly(1)));
  Poly rows = n * m - n, both = n + m;
  EXPECT_TRUE(same(w.pool.floordiv(Poly(4) * rows, rows), Poly(4)));
  EXPECT_TRUE(same(w.pool.floordiv(both * both - both, both), both - Poly(1)));
  EXPECT_FALSE(same(w.pool.floordiv(both * both + Poly(1), both), both));
  EXPECT_TRUE(same(w.pool.floordiv(n, m), w.pool.floordiv(n, m)));
  EXPECT_FALSE(same(w.pool.floordiv(n, m), w.pool.floordiv(n + Poly(1), m)));
}

TEST(Poly, QuotientsAreOfWhatIsPositive) {
  World w;
  Poly n = Poly::symbol(w.symbols[0]);
  Poly up = Poly(-1) * w.pool.floordiv(Poly(-1) * n, Poly(7));  // rounded up
  EXPECT_TRUE(same(up, w.pool.floordiv(n + Poly(6), Poly(7))));
  for (int64_t value = 0; value < 30; ++value)
    EXPECT_EQ(evaluate(up, {{w.symbols[0], value}}), (value + 6) / 7);
}

TEST(Poly, LowerBoundsOfQuotients) {
  World w;
  Poly n = Poly::symbol(w.pool.named("n")), seven(7);  // at least 1
  Poly rest = n - seven * w.pool.floordiv(n, seven);
  EXPECT_EQ(lower_bound(rest), 0);
  EXPECT_EQ(lower_bound(Poly(6) - rest), 0);
  EXPECT_EQ(lower_bound(w.pool.floordiv(n + Poly(1), Poly(2))), 1);
  EXPECT_EQ(lower_bound(n - w.pool.floordiv(n, Poly(2))), 1);
  EXPECT_EQ(lower_bound(Poly(1) - n), std::nullopt);
  EXPECT_EQ(lower_bound(w.pool.floordiv(n, seven) - n), std::nullopt);
}

TEST(Poly, AssumptionsRaiseLeastValues) {
  SymbolPool pool;
  Poly n = Poly::symbol(pool.named("n"));
  Poly halves = pool.floordiv(n - Poly(3), Poly(2));
  pool.assume_non_negative(Poly(2) * n - Poly(7));
  EXPECT_EQ(lower_bound(n), 4);
  pool.assume_non_negative(halves - Poly(2));  // n >= 7
  EXPECT_EQ(lower_bound(n), 7);
  EXPECT_EQ(lower_bound(halves), 2);
  pool.assume_non_negative(n - Poly(5));
  pool.assume_non_negative(Poly(20) - n);
  EXPECT_EQ(lower_bound(n), 7);
}

TEST(Poly, LowerBoundsAreNeverAboveAValue) {
  World w;
  int found = 0;
  for (int round = 0; round < 2000; ++round) {
    Poly p(w.rng.between(-3, 3));
    for (Var v : w.symbols) {
      Poly inner = Poly::symbol(v) + Poly(w.rng.between(0, 4));
      p = p + Poly(w.rng.between(-4, 4)) * w.pool.floordiv(inner, Poly(w.rng.between(1, 4))) +
          Poly(w.rng.between(-2, 2)) * Poly::symbol(v);
    }
    auto bound = lower_bound(p);
    found += bound ? 1 : 0;
    for (int k = 0; bound && k < 20; ++k)
      ASSERT_GE(evaluate(p, w.values(1, 12)), *bound) << to_string(p);
  }
  EXPECT_GT(found, 20);
}

TEST(Poly, SolvesForAUnitOccurrence) {
  World w;
  Poly x = Poly::symbol(w.symbols[0]), y = Poly::symbol(w.symbols[1]), solution;
  ASSERT_TRUE(solve_for(x - Poly(2) * y + Poly(3), w.symbols[0], solution));
  EXPECT_TRUE(same(solution, Poly(2) * y - Poly(3)));
  EXPECT_FALSE(solve_for(x - Poly(2) * y, w.symbols[1], solution));
  EXPECT_FALSE(solve_for(x * x - x, w.symbols[0], solution));
}

TEST(Poly, OverflowThrows) {
  World w;
  Poly big = Poly(INT64_MAX) * Poly::symbol(w.symbols[0]);
  EXPECT_THROW(big + big, PolyOverflow);
  EXPECT_THROW(big * Poly(2), PolyOverflow);
}

Formula random_formula(World& w, int depth) {
  if (depth == 0) {
    Poly p = random_expression(w, 2).poly;
    return w.rng.below(3) == 0 ? is_zero(p) : non_negative(p);
  }
  Formula a = random_formula(w, depth - 1), b = random_formula(w, depth - 1);
  return w.rng.below(2) ? a && b : a || b;
}

TEST(Formula, ConnectivesAgreeWithBooleans) {
  World w;
  for (int round = 0; round < 500; ++round) {
    Formula a = random_formula(w, 1), b = random_formula(w, 1);
    Valuation v = w.values(1, 4);
    bool x = evaluate(a, v), y = evaluate(b, v);
    ASSERT_EQ(evaluate(a && b, v), x && y);
    ASSERT_EQ(evaluate(a || b, v), x || y);
    ASSERT_EQ(evaluate(negate(a), v), !x) << to_string(a);
    Conjunction c;
    add(c, a);
    add(c, b);
    ASSERT_EQ(evaluate(c, v), x && y);
    if (plainly_false(c)) {
      ASSERT_FALSE(x && y);
    }
    if (plainly_implies({a}, b) && x) {
      ASSERT_TRUE(y) << to_string(a) << " => " << to_string(b);
    }
  }
}

TEST(Formula, EquationsLoseFactorsThatAreNotZero) {
  SymbolPool pool;
  Poly x = Poly::symbol(pool.named("x", 1)), y = Poly::symbol(pool.named("y", 1)),
       z = Poly::symbol(pool.named("z", 0));
  EXPECT_EQ(compare(x * y * Poly(2) == x * Poly(4), y == Poly(2)), 0);
  EXPECT_EQ(compare(x * x * y == x * x, y == Poly(1)), 0);
  EXPECT_NE(compare(z * y == z, y == Poly(1)), 0);  // z may be 0
  EXPECT_EQ((x * Poly(2) == Poly(3)).kind, Formula::False);
  EXPECT_EQ((x * y == Poly(0)).kind, Formula::False);
}

TEST(Formula, ComparisonsFoldOnNumbers) {
  EXPECT_EQ((Poly(2) < Poly(3)).kind, Formula::True);
  EXPECT_EQ((Poly(3) <= Poly(2)).kind, Formula::False);
  World w;
  Poly x = Poly::symbol(w.symbols[0]);
  EXPECT_EQ((x == x).kind, Formula::True);
  EXPECT_TRUE(plainly_false({x < Poly(3), Poly(3) <= x}));
  EXPECT_EQ(compare(Poly(2) * x < Poly(7), x <= Poly(3)), 0);  // tightened to integers
}

/// What mix makes of x, undone.
uint64_t unmixed(uint64_t x) {
  auto inverse = [](uint64_t odd) {
    uint64_t y = odd;
    for (int k = 0; k < 6; ++k) y *= 2 - odd * y;
    return y;
  };
  x ^= x >> 31 ^ x >> 62;
  x *= inverse(0x94d049bb133111ebULL);
  x ^= x >> 27 ^ x >> 54;
  x *= inverse(0xbf58476d1ce4e5b9ULL);
  x ^= x >> 30 ^ x >> 60;
  return x - 0x9e3779b97f4a7c15ULL;
}

/// The hash by which tables were once told apart.
uint64_t hash_of(const std::vector<Poly>& table) {
  uint64_t h = table.size();
  for (const Poly& p : table) h = combine(h, hash(p));
  return h;
}

TEST(Poly, TablesAreWhatIsInThem) {
  SymbolPool pool;
  Poly n = Poly::symbol(pool.named("n")), i = Poly::symbol(pool.named("i"));
  std::vector<Poly> a = {Poly(1), n, Poly(3)}, b = {Poly(1), n, Poly(4)};
  EXPECT_EQ(pool.table(a), pool.table(a));
  EXPECT_NE(pool.table(a), pool.table(b));
  EXPECT_TRUE(same(pool.lookup(pool.table(a), Poly(1), n), n));
  EXPECT_TRUE(same(pool.lookup(pool.table(a), i, n), pool.lookup(pool.table(a), i, n)));
  EXPECT_FALSE(same(pool.lookup(pool.table(a), i, n), pool.lookup(pool.table(b), i, n)));
  // Made to collide: what the first entry changes, the second changes back.
  constexpr uint64_t kOdd = 0x632be59bd9b4e019ULL;
  std::vector<Poly> c = {Poly(5), Poly(6)};
  auto after = [&](int64_t first) { return std::rotl(combine(2, hash(Poly(first))), 23) * kOdd; };
  uint64_t back = unmixed(after(5) + hash(Poly(6)) - after(7));
  std::vector<Poly> d = {Poly(7), Poly(static_cast<int64_t>(back))};
  ASSERT_EQ(hash_of(c), hash_of(d));
  EXPECT_NE(pool.table(c), pool.table(d));
  EXPECT_FALSE(same(pool.lookup(pool.table(c), i, n), pool.lookup(pool.table(d), i, n)));
}

}  // namespace
}  // namespace regraft
