// What the rows of functions.def claim, against the values of the functions.
#include <algorithm>
#include "ir/algebra/function.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace regraft {
namespace {

/// Points of both signs, dense around 0 and 1 and far out.
std::vector<double> points() {
  std::vector<double> all{0};
  for (double x = 1e-8; x < 40; x *= 1.37)
    for (double y : {x, 1 + x, 1 - x}) all.insert(all.end(), {y, -y});
  std::sort(all.begin(), all.end());
  return all;
}

bool inside(Domain d, double x) {
  switch (d) {
    case Domain::Everywhere:
      return true;
    case Domain::NotZero:
      return x != 0;
    case Domain::NotNegative:
      return x >= 0;
    case Domain::Positive:
      return x > 0;
  }
  return false;
}

class Functions : public testing::TestWithParam<Fn> {
 protected:
  const FnFacts& f = facts(GetParam());
  /// Equal up to rounding.
  static bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * (1 + std::abs(a)); }
};

TEST_P(Functions, AreDefinedOnTheirDomainOnly) {
  for (double x : points())
    EXPECT_EQ(std::isfinite(f.value(x)), inside(f.domain, x)) << f.name << " at " << x;
}

TEST_P(Functions, HaveTheValuesOfTheirFacts) {
  if (f.zero_at_zero) {
    EXPECT_EQ(f.value(0), 0);
  }
  if (f.one_at_one) {
    EXPECT_EQ(f.value(1), 1);
  }
  for (double x : points()) {
    if (!inside(f.domain, x)) continue;
    double y = f.value(x);
    if (f.idempotent) {
      EXPECT_EQ(f.value(y), y) << f.name << " at " << x;
    }
    if (f.odd && inside(f.domain, -x)) {
      EXPECT_TRUE(near(f.value(-x), -y)) << f.name << " at " << x;
    }
    if (f.range) {
      EXPECT_GE(y, f.range->low) << f.name << " at " << x;
      EXPECT_LE(y, f.range->high) << f.name << " at " << x;
    }
  }
}

TEST_P(Functions, IncreaseIfTheySaySo) {
  if (f.beyond_reals) return;
  double before = -std::numeric_limits<double>::infinity();
  bool increases = true;
  for (double x : points()) {
    if (!inside(f.domain, x)) continue;
    double y = f.value(x);
    increases = increases && (y >= before || near(y, before));
    before = y;
  }
  EXPECT_EQ(increases, f.increasing) << f.name;
}

TEST_P(Functions, HaveTheSignOfTheirFacts) {
  auto sign = [](double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; };
  for (double x : points()) {
    if (!inside(f.domain, x)) continue;
    double y = f.value(x);
    if (f.sign == SignOf::Argument) {
      EXPECT_EQ(sign(y), sign(x)) << f.name << " at " << x;
    }
    if (f.sign == SignOf::PositivePart) {
      EXPECT_EQ(sign(y), std::max(sign(x), 0)) << f.name << " at " << x;
    }
    if (f.sign == SignOf::Positive) {
      EXPECT_EQ(sign(y), 1) << f.name << " at " << x;
    }
    if (f.sign == SignOf::TowardsZero) {
      EXPECT_TRUE(y == 0 || sign(y) == sign(x)) << f.name << " at " << x;
    }
    if (f.sign == SignOf::FromBelow) {
      EXPECT_TRUE((y == 0 && x >= 0) || sign(y) == sign(x)) << f.name << " at " << x;
    }
  }
}

TEST_P(Functions, SpreadNoMoreThanTheySay) {
  if (!f.spread) return;
  for (double x : points())
    for (double e : {0.0, 1e-9, 1e-3, 0.3}) {
      if (!inside(f.domain, x - e) || !inside(f.domain, x + e)) continue;
      double y = f.value(x), room = f.spread(x, y, e) + f.units * 0x1p-52 * std::abs(y) + 1e-300;
      for (double t : {x - e, x - e / 2, x + e / 2, x + e}) {
        double moved = t < x ? x - t : t - x;  // t is rounded, too
        if (moved <= e) EXPECT_LE(std::abs(f.value(t) - y), room) << f.name << " at " << x;
      }
    }
}

/// Of what is beyond the reals a row may claim nothing.
TEST_P(Functions, ClaimNothingBeyondTheReals) {
  if (!f.beyond_reals) return;
  EXPECT_FALSE(f.zero_at_zero || f.one_at_one || f.idempotent || f.odd || f.increasing || f.jumps);
  EXPECT_EQ(f.sign, SignOf::Unknown);
  EXPECT_FALSE(f.range);
  for (double x : points()) EXPECT_EQ(f.value(x), 0) << f.name << " at " << x;
}

TEST_P(Functions, HaveIntegersForValuesIfTheyJump) {
  bool integers = !f.beyond_reals;
  for (double x : points())
    for (double y : {x, x / 3})
      if (inside(f.domain, y)) integers = integers && f.value(y) == std::floor(f.value(y));
  EXPECT_EQ(integers, f.jumps) << f.name;
}

TEST_P(Functions, AreWrittenInC) { EXPECT_NE(f.code.find('$'), std::string_view::npos); }

INSTANTIATE_TEST_SUITE_P(Rows, Functions, testing::ValuesIn(kAllFunctions),
                         [](const auto& info) {
                           std::string name(facts(info.param).name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace regraft
