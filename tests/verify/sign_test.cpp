// The lattice of signs: its laws, and each operation against numbers, the extreme ones included.
#include "verify/arithmetic/sign.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "ir/rule/text.h"
#include "verify/prove/prover.h"
#include "verify/refute/refute.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {
namespace {

using Number = long double;  // its range holds exp(-10000) and products of the numbers below

std::vector<Sign> all_signs() {
  std::vector<Sign> all;
  for (int m = 0; m < 8; ++m) all.emplace_back(m & 1, m & 2, m & 4);
  return all;
}
/// Ties, zeros of both signs, neighbours of 0 and 1, small, large; and where functions saturate.
const std::vector<Number> kNumbers = {
    0.0L,   -0.0L,   1.0L,     -1.0L,     1e-300L,       -1e-300L,
    1e300L, -1e300L, 0x1p-52L, -0x1p-52L, 1 - 0x1p-53L,  1 + 0x1p-52L,
    0.5L,   -0.5L,   6.0L,     -6.0L,     40.0L,         -40.0L,
    709.0L, -709.0L, 10000.0L, -10000.0L, 3.4028234e38L, -3.4028234e38L};

Sign sign_of(Number x) { return {x<0, x == 0, x> 0}; }

/// What the operation gives for numbers of these signs, joined.
template <class F>
Sign reached(Sign a, Sign b, F&& f) {
  Sign r = sign::kNone;
  for (Number x : kNumbers)
    for (Number y : kNumbers)
      if (implies(sign_of(x), a) && implies(sign_of(y), b)) r = join(r, sign_of(f(x, y)));
  return r;
}

TEST(SignLattice, JoinAndMeetAreThoseOfTheOrder) {
  for (Sign a : all_signs())
    for (Sign b : all_signs()) {
      EXPECT_EQ(implies(a, b), join(a, b) == b);
      EXPECT_EQ(implies(a, b), meet(a, b) == a);
      EXPECT_EQ(meet(a, join(a, b)), a);
      EXPECT_EQ(join(a, meet(a, b)), a);
      for (Sign c : all_signs()) {
        EXPECT_EQ(implies(a, c) && implies(b, c), implies(join(a, b), c));
        EXPECT_EQ(implies(c, a) && implies(c, b), implies(c, meet(a, b)));
      }
    }
}

TEST(SignLattice, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (Sign s : all_signs()) EXPECT_TRUE(names.insert(to_string(s)).second) << to_string(s);
  EXPECT_EQ(to_string(sign::kUnknown), "unknown");
  EXPECT_EQ(to_string(sign::kNotNegative), ">=0");
  EXPECT_EQ(to_string(sign::kNegative), "<0");
  EXPECT_EQ(to_string(sign::kNotZero), "!=0");
}

/// Sound and as sharp as can be: exactly what numbers reach. The sum of x and -x is one of these.
TEST(SignLattice, SumsAndProductsAreWhatNumbersReach) {
  for (Sign a : all_signs())
    for (Sign b : all_signs()) {
      EXPECT_EQ(sum(a, b), reached(a, b, [](Number x, Number y) { return x + y; }))
          << to_string(a) << " + " << to_string(b);
      EXPECT_EQ(product(a, b), reached(a, b, [](Number x, Number y) { return x * y; }))
          << to_string(a) << " * " << to_string(b);
    }
}

/// Strictness stays with its own summand: the sum of one that is not 0 and of one that is not
/// negative may be 0.
TEST(SignLattice, StrictnessOfASummandIsNotOfTheSum) {
  EXPECT_EQ(sum(sign::kNotZero, sign::kNotNegative), sign::kUnknown);
  EXPECT_EQ(sum(sign::kPositive, sign::kNegative), sign::kUnknown);
  EXPECT_EQ(sum(sign::kPositive, sign::kNotNegative), sign::kPositive);
  EXPECT_EQ(meet(sum(sign::kPositive, sign::kNegative), sign::kNotNegative), sign::kNotNegative);
}

TEST(SignLattice, UnaryOperationsAreWhatNumbersReach) {
  for (Sign a : all_signs()) {
    EXPECT_EQ(negated(a), reached(a, a, [](Number x, Number) { return -x; })) << to_string(a);
    EXPECT_EQ(total(a), reached(a, a, [](Number x, Number y) { return x + y; })) << to_string(a);
    EXPECT_EQ(reciprocal(a), meet(a, sign::kNotZero));
    EXPECT_EQ(negated(negated(a)), a);
  }
}

/// Where it is defined; a NaN elsewhere.
Number value(Fn f, Number x) {
  switch (f) {
    case Fn::Relu:
      return x > 0 ? x : 0;
    case Fn::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case Fn::Tanh:
      return std::tanh(x);
    case Fn::Exp:
      return std::exp(x);
    case Fn::Sqrt:
      return x < 0 ? std::numeric_limits<Number>::quiet_NaN() : std::sqrt(x);
    case Fn::Erf:
      return std::erf(x);
    case Fn::Recip:
      return x == 0 ? std::numeric_limits<Number>::quiet_NaN() : 1 / x;
    default:
      return facts(f).value(static_cast<double>(x));
  }
}

TEST(SignLattice, FunctionsMapSignsAsTheyMapNumbers) {
  for (Fn f : kAllFunctions)
    for (Sign a : all_signs()) {
      Sign r = sign::kNone;
      for (Number x : kNumbers) {
        bool small = std::abs(x) <= 10000;  // beyond, exp leaves the range of the numbers
        if (!small || !implies(sign_of(x), a) || !implies(sign_of(x), domain_sign(f))) continue;
        if (Number y = value(f, x); !std::isnan(y)) r = join(r, sign_of(y));
      }
      if (facts(f).sign == SignOf::Unknown) r = join(r, image(f, a));
      EXPECT_EQ(image(f, a), r) << facts(f).name << " of " << to_string(a);
    }
}

/// Bounds in either order, equal ones, ones that touch 0.
TEST(SignLattice, ClippedNumbersAreWithinTheSign) {
  std::vector<double> bounds = {
      -6, -1, -0.0, 0, 1, 6, -3.4028234663852886e38, 3.4028234663852886e38};
  for (double low : bounds)
    for (double high : bounds)
      for (Sign a : all_signs()) {
        Sign r = clipped(a, {low, nullptr}, {high, nullptr});
        for (Number x : kNumbers)
          if (implies(sign_of(x), a)) {
            Number y = std::min<Number>(std::max<Number>(x, low), high);
            EXPECT_TRUE(implies(sign_of(y), r))
                << static_cast<double>(x) << " in [" << low << "," << high << "]: " << to_string(r);
          }
      }
  EXPECT_EQ(clipped(sign::kUnknown, {0, nullptr}, {6, nullptr}), sign::kNotNegative);
  EXPECT_EQ(clipped(sign::kUnknown, {1, nullptr}, {6, nullptr}), sign::kPositive);
  EXPECT_EQ(clipped(sign::kUnknown, {6, nullptr}, {-1, nullptr}), sign::kNegative);
  EXPECT_EQ(clipped(sign::kPositive, {-1, nullptr}, {6, nullptr}), sign::kPositive);
  EXPECT_EQ(clipped(sign::kUnknown, {std::nan(""), nullptr}, {6, nullptr}), sign::kUnknown);
}

TEST(SignLattice, NumbersBetweenBoundsAreWithinTheSign) {
  for (Number low : kNumbers)
    for (Number high : kNumbers)
      for (bool open : {false, true}) {
        Sign r = between({sign_of(low), open}, {sign_of(high), open});
        for (Number x : kNumbers)
          if (open ? low < x && x < high : low <= x && x <= high) {
            EXPECT_TRUE(implies(sign_of(x), r)) << to_string(r);
          }
      }
  EXPECT_EQ(between({}, {}), sign::kUnknown);
  EXPECT_EQ(between({sign::kZero, true}, {}), sign::kPositive);
}

RuleInstance instance_of(const std::string& sides, const Signature& signature) {
  auto rule = parse_rule("r " + sides);
  EXPECT_TRUE(rule) << sides << ": " << (rule ? "" : rule.error().message);
  auto instance = instantiate(*rule, signature);
  EXPECT_TRUE(instance) << sides << ": " << (instance ? "" : instance.error().message);
  return *std::move(instance);
}

/// A maximum is not less than a mean of the same positive numbers, and equal to it where they are
/// all the same. The two rules below divide by the difference, which the left sides do not.
TEST(Signs, AMaximumMayBeEqualToItsMean) {
  const std::string c = "(exp (concat ?x (full value=1.375 shape=1,1) axis=1))";
  const std::string s =
      "(sub (reduce-max " + c + " axes=1 keepdims=1) (reduce-mean " + c + " axes=1 keepdims=1))";
  for (const Signature& at : {Signature{"11", "11"}, Signature{"11", "1n"}}) {
    auto divided =
        instance_of("(mul ?a " + s + ") => (div (mul ?a (mul " + s + " " + s + ")) " + s + ")", at);
    EXPECT_EQ(SymbolicProver().prove(divided).kind, VerdictKind::Unknown);
    NumericCheck numbers = check_numbers(divided, sample_sizes(divided, 7, 10), 7);
    EXPECT_TRUE(numbers.counterexample);  // at x = 1.375 everywhere
  }
  const std::string m =
      "(sub (reduce-max ?x axes=1 keepdims=1) (reduce-mean ?x axes=1 keepdims=1))";
  auto kept = instance_of("(relu " + m + ") => " + m, {"nn"});
  EXPECT_EQ(SymbolicProver().prove(kept).kind, VerdictKind::ProvedSolver);
}

/// What is not 0 alone may be 0 together; each claim divides by such a sum.
TEST(Signs, SumsOfWhatIsNotZeroMayBeZero) {
  for (const char* e :
       {"(sub (exp ?x) (exp ?y))", "(sub (reduce-max (exp ?x) axes=-1 keepdims=1) (exp ?x))",
        "(sub (sigmoid ?x) (sigmoid ?y))", "(sub (reduce-max ?x axes=-1 keepdims=1) ?x)",
        "(sub (exp ?x) (full value=1 shape=1,1))", "(add (tanh ?x) (relu ?x))",
        "(sub (reduce-max (relu ?x) axes=-1 keepdims=1) (reduce-mean (relu ?x) axes=-1 "
        "keepdims=1))"}) {
    std::string text = std::string(e).find("?y") == std::string::npos
                           ? std::string("(add (mul ?y ") + e + ") (sub ?y ?y))"
                           : std::string("(mul (add ?x ?y) ") + e + ")";
    std::string s = text;
    auto claim = instance_of(s + " => (div (mul " + s + " " + e + ") " + e + ")", {"nn", "nn"});
    EXPECT_EQ(SymbolicProver().prove(claim).kind, VerdictKind::Unknown) << e;
    EXPECT_TRUE(check_numbers(claim, sample_sizes(claim, 7, 10), 7).counterexample) << e;
  }
  for (const char* e : {"(add (exp ?x) (relu ?y))", "(add (exp ?x) (mul ?y ?y))",
                        "(sub (exp ?x) (neg (sigmoid ?y)))"}) {
    std::string s = std::string("(mul (add ?x ?y) ") + e + ")";
    auto claim = instance_of(s + " => (div (mul " + s + " " + e + ") " + e + ")", {"nn", "nn"});
    EXPECT_EQ(SymbolicProver().prove(claim).kind, VerdictKind::ProvedSolver) << e;
  }
}

}  // namespace
}  // namespace regraft::verify
