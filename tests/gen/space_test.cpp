// Points that satisfy conditions.
#include "gen/generalise/space.h"

#include <gtest/gtest.h>

#include <set>

namespace regraft::gen {
namespace {

struct Sizes {
  SymbolPool pool;
  std::vector<SpaceSymbol> symbols;
  Poly extent(const char* name, size_t axis) {
    Var v = pool.named(name);
    symbols.push_back(extent_symbol(v, 2, axis));
    return Poly::symbol(v);
  }
  Poly number(const char* name, int64_t min) {
    Var v = pool.named(name, min);
    symbols.push_back({v});
    return Poly::symbol(v);
  }
};

TEST(Space, DrawsSatisfyTheConditions) {
  Sizes s;
  Poly x = s.extent("x", 0), y = s.extent("y", 1), g = s.number("g", 1);
  Conjunction c;
  add(c, x == g * y);                      // solved
  add(c, y == g * s.pool.floordiv(y, g));  // a multiple
  add(c, Poly(7) <= x);
  Space space(s.symbols, c);
  Rng rng(5);
  int found = 0;
  for (int k = 0; k < 20; ++k) {
    auto p = space.draw(rng, Extents::Apart, 50);
    if (!p) continue;
    ++found;
    EXPECT_EQ((*p)[0], (*p)[2] * (*p)[1]);
    EXPECT_EQ((*p)[1] % (*p)[2], 0);
    EXPECT_GE((*p)[0], 7);
    EXPECT_TRUE(space.contains(*p));
  }
  EXPECT_GE(found, 15);
}

TEST(Space, ProductsAreDivided) {
  Sizes s;
  Poly a = s.extent("a", 0), b = s.extent("b", 1), m = s.number("m", 1), n = s.number("n", 1);
  Conjunction c;
  add(c, a * b == m * n);
  Space space(s.symbols, c);
  Rng rng(1);
  for (int k = 0; k < 10; ++k) {
    auto p = space.draw(rng, Extents::Apart, 100);
    ASSERT_TRUE(p);
    EXPECT_EQ((*p)[0] * (*p)[1], (*p)[2] * (*p)[3]);
  }
}

TEST(Space, DivisorsAreFoundWhateverIsDrawn) {
  Sizes s;
  Poly a = s.extent("a", 0), b = s.extent("b", 1), l = s.number("l", 1), m = s.number("m", 1),
       n = s.number("n", 1), o = s.number("o", 1), p = s.number("p", 1);
  Conjunction c;
  add(c, a * b == l * m * n);
  add(c, l * m * n == o * p);  // of what the first equation determines
  Space space(s.symbols, c);
  Rng rng(1);
  std::set<int64_t> products;
  for (int k = 0; k < 40; ++k) {
    auto x = space.draw(rng, Extents::Apart, 4);
    if (!x) continue;
    const Point& v = *x;
    products.insert(v[0] * v[1]);
    EXPECT_EQ(v[0] * v[1], v[2] * v[3] * v[4]);
    EXPECT_EQ(v[0] * v[1], v[5] * v[6]);
  }
  EXPECT_GE(products.size(), 10u);
}

TEST(Space, WhatIsGivenIsKept) {
  Sizes s;
  Poly a = s.extent("a", 0), b = s.extent("b", 1);
  Space space(s.symbols, {}, {{s.symbols[0].symbol, b + Poly(2)}});
  Rng rng(1);
  auto p = space.draw(rng, Extents::Apart, 1);
  ASSERT_TRUE(p);
  EXPECT_EQ((*p)[0], (*p)[1] + 2);
  EXPECT_EQ(space.free(), std::vector<int>{1});
  EXPECT_FALSE(space.contains({3, 3}));
}

TEST(Space, AContradictionHasNoPoints) {
  Sizes s;
  Poly a = s.extent("a", 0);
  Conjunction c;
  add(c, a + Poly(1) <= a);
  Rng rng(1);
  EXPECT_FALSE(Space(s.symbols, c).draw(rng, Extents::Apart, 100));
}

}  // namespace
}  // namespace regraft::gen
