// Floating point: each verdict on rules whose numerics are known, and the parts it is made of.
#include "verify/numerics/numerics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/rule/text.h"
#include "verify/numerics/exact.h"
#include "verify/numerics/float_range.h"
#include "verify/numerics/points.h"
#include "verify/numerics/settings.h"

namespace regraft::verify {
namespace {

Rule rule_of(const std::string& text) {
  auto rule = parse_rule(text);
  EXPECT_TRUE(rule) << text << ": " << (rule ? "" : rule.error().message);
  return *rule;
}
NumericsReport judged(const std::string& text) { return judge_numerics(rule_of(text), 7); }

struct Case {
  std::string text;
  Numerics forward;
  Numerics backward = Numerics::Unknown;  // of a reversible rule
};

const std::string kEverywhere =
    "(softmax ?a axis=-1) <=> (div (exp ?a) (reduce-sum (exp ?a) axes=-1 keepdims=1))  for a:nn";

TEST(Numerics, JudgesEachDirection) {
  const std::vector<Case> cases = {
      // Data is moved.
      {"a  (transpose (transpose ?a perm=1,0) perm=1,0) => ?a  for a:nn", Numerics::Exact},
      {"a  (concat ?a ?b axis=0) <=> (concat ?a ?b axis=-2)  for a:nn b:nn", Numerics::Exact,
       Numerics::Exact},
      // The same operations in the same order.
      {"a  (matmul ?a (concat ?b ?c axis=1)) <=> (concat (matmul ?a ?b) (matmul ?a ?c) axis=1)  "
       "for a:nn b:nn c:nn",
       Numerics::Exact, Numerics::Exact},
      {"a  (relu (maxpool ?a kernel=2,2)) <=> (maxpool (relu ?a) kernel=2,2)  for a:nnnn",
       Numerics::Exact, Numerics::Exact},
      {"a  (softmax (transpose ?a perm=1,0) axis=0) <=> (transpose (softmax ?a axis=1) perm=1,0)  "
       "for a:nn",
       Numerics::Exact, Numerics::Exact},
      {"a  (relu (relu ?a)) => (relu ?a)  for a:n", Numerics::Exact},
      {"a  (neg (neg ?a)) => ?a  for a:n", Numerics::Exact},
      {"a  (max ?a ?b) => (max ?b ?a)  for a:n b:n", Numerics::Exact},
      {"a  (greater ?a ?b) <=> (less ?b ?a)  for a:n b:n", Numerics::Exact, Numerics::Exact},
      {"a  (transpose (where ?c ?a ?b) perm=1,0) => (where (transpose ?c perm=1,0) (transpose ?a "
       "perm=1,0) (transpose ?b perm=1,0))  for c:nn a:nn b:nn",
       Numerics::Exact},
      // The same numbers, chosen otherwise.
      {"a  (where (logical-not ?c) ?a ?b) <=> (where ?c ?b ?a)  for c:n a:n b:n",
       Numerics::Rounding, Numerics::Rounding},
      // What a choice leaves out may be infinite.
      {"a  (where ?c ?a ?b) => (add ?b (where ?c (sub ?a ?b) (full shape=a.0 value=0)))  for c:n "
       "a:n b:n",
       Numerics::Unsafe},
      // Sums in another order, one rounding less or more.
      {"a  (add (add ?a ?b) ?c) <=> (add ?a (add ?b ?c))  for a:n b:n c:n", Numerics::Rounding,
       Numerics::Rounding},
      {"a  (add (matmul ?a ?b) ?c) <=> (gemm ?a ?b ?c)  for a:nn b:nn c:nn", Numerics::Rounding,
       Numerics::Rounding},
      {"a  (reduce-mean ?a axes=1,2 keepdims=1) => (reduce-mean (reduce-mean ?a axes=1 "
       "keepdims=1) axes=2 keepdims=1)  for a:nnn",
       Numerics::Rounding},
      // Logits above 88: exp overflows where softmax does not.
      {"a  " + kEverywhere, Numerics::Unsafe, Numerics::Rounding},
      // exp(a) exp(b) is infinity times 0.
      {"a  (exp (add ?a ?b)) => (mul (exp ?a) (exp ?b))  for a:n b:n", Numerics::Unsafe},
      // The product of two small divisors is 0.
      {"a  (div (div ?a ?b) ?c) => (div ?a (mul ?b ?c))  for a:n b:n c:n", Numerics::Unsafe},
      // So is that of small factors; where a root is not defined, nothing is compared.
      {"a  (mul (sqrt ?a) (sqrt ?b)) => (sqrt (mul ?a ?b))  for a:n b:n", Numerics::Unsafe},
      {"a  (mul (mul (sqrt ?a) (sqrt ?a)) ?b) => (mul ?a ?b)  for a:n b:n", Numerics::Rounding},
      // b + c cancels exactly, a b + a c does not.
      {"a  (mul ?a (add ?b ?c)) <=> (add (mul ?a ?b) (mul ?a ?c))  for a:n b:n c:n",
       Numerics::Unsafe, Numerics::Rounding},
      // Mean of squares less square of mean.
      {"a  (reduce-mean (mul (sub ?a (reduce-mean ?a axes=-1 keepdims=1)) (sub ?a (reduce-mean ?a "
       "axes=-1 keepdims=1))) axes=-1 keepdims=1) => (sub (reduce-mean (mul ?a ?a) axes=-1 "
       "keepdims=1) (mul (reduce-mean ?a axes=-1 keepdims=1) (reduce-mean ?a axes=-1 "
       "keepdims=1)))  for a:nn",
       Numerics::Unsafe},
      // 1e2 * 1e2 * 1e2 is beyond 65504, and far below 3.4e38.
      {"a  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn",
       Numerics::RoundingF32},
  };
  for (const Case& c : cases) {
    NumericsReport r = judged(c.text);
    EXPECT_EQ(to_string(r.forward.kind), to_string(c.forward)) << c.text << r.forward.witness;
    EXPECT_EQ(to_string(r.backward.kind), to_string(c.backward)) << c.text << r.backward.witness;
    bool harmful = r.forward.kind < Numerics::Rounding;
    EXPECT_EQ(r.forward.witness.empty(), !harmful) << c.text;
  }
}

TEST(Numerics, NamesAWitness) {
  NumericVerdict v = judged("a  " + kEverywhere).forward;
  ASSERT_EQ(v.kind, Numerics::Unsafe);
  EXPECT_TRUE(v.witness.starts_with("float32 a=[")) << v.witness;
  EXPECT_NE(v.witness.find("before and"), std::string::npos) << v.witness;
  EXPECT_NE(v.witness.find("nan after"), std::string::npos) << v.witness;
}

TEST(Numerics, SayTheSameTwiceAndInBothReadings) {
  Rule r = rule_of("a  " + kEverywhere);
  NumericsReport one = judge_numerics(r, 7), two = judge_numerics(r, 7);
  EXPECT_EQ(one.forward.witness, two.forward.witness);
  NumericsReport other = judge_numerics(reversed(r), 7);
  EXPECT_EQ(one.forward.kind, other.backward.kind);
  EXPECT_EQ(one.backward.kind, other.forward.kind);
  Rule add = rule_of("a  (mul ?a (add ?b ?c)) <=> (add (mul ?a ?b) (mul ?a ?c))  for a:n b:n c:n");
  one = judge_numerics(add, 7);
  auto directed = directions(add);
  ASSERT_EQ(directed.size(), 2u);
  EXPECT_EQ(judge_numerics(directed[1], 7).forward.kind, one.backward.kind);
}

TEST(Numerics, RealAttributesAreDrawnToo) {
  // What alpha was, -1.7 say, shows; at 1 the sides are the same.
  EXPECT_EQ(judged("a  (gemm ?x ?y alpha=?a) => (gemm ?x ?y alpha=?a)  for x:nn y:nn").forward.kind,
            Numerics::Exact);
  EXPECT_LT(judged("a  (gemm (mul ?x (full value=3)) ?y alpha=?a) => (mul (gemm ?x ?y alpha=?a) "
                   "(full value=3))  for x:nn y:nn")
                .forward.kind,
            Numerics::Exact);
}

TEST(Numerics, IntervalsProveWhatCannotOverflow) {
  auto r = judged("a  (add (add ?a ?b) ?c) <=> (add ?a (add ?b ?c))  for a:n b:n c:n");
  EXPECT_TRUE(r.forward_range_proved && r.backward_range_proved);
  EXPECT_FALSE(
      judged("a  (exp (add ?a ?b)) <=> (mul (exp ?a) (exp ?b))  for a:n b:n").forward_range_proved);
}

TEST(FloatRun, RoundsToHalf) {
  const std::vector<std::pair<float, float>> cases = {{0, 0},
                                                      {1, 1},
                                                      {1.0004f, 1},
                                                      {1.0005f, 1.0009765625f},
                                                      {65504, 65504},
                                                      {65519, 65504},
                                                      {65520, INFINITY},
                                                      {-1e6f, -INFINITY},
                                                      {0x1p-14f, 0x1p-14f},
                                                      {0x1p-24f, 0x1p-24f},
                                                      {0x1p-25f, 0},
                                                      {0x1.8p-25f, 0x1p-24f},
                                                      {0x1.002p0f, 1},
                                                      {0x1.006p0f, 0x1.008p0f}};
  for (auto [x, y] : cases) EXPECT_EQ(rounded(x, Format::F16), y) << x;
  EXPECT_TRUE(std::isnan(rounded(NAN, Format::F16)));
  EXPECT_EQ(rounded(1.0001f, Format::F32), 1.0001f);
}

TEST(FloatRun, CountsBitsOfError) {
  EXPECT_EQ(bits_of_error(1, 1, Format::F32), 0);
  EXPECT_EQ(bits_of_error(std::nextafter(1.0f, 2.0f), 1, Format::F32), 1);
  EXPECT_EQ(bits_of_error(0x1.004p0f, 1, Format::F16), 1);
  EXPECT_EQ(bits_of_error(INFINITY, 1, Format::F32), 32);
  EXPECT_EQ(bits_of_error(NAN, 1, Format::F16), 16);
  EXPECT_GT(bits_of_error(-1, 1, Format::F32), 30);
  EXPECT_EQ(bits_of_error(0, 1e-80, Format::F32), 0);  // the nearest float
}

FloatProgram program_of(const std::string& text, RuleInstance& instance) {
  Rule r = rule_of(text);
  auto made = instantiate(r, r.domain[0]);
  EXPECT_TRUE(made);
  instance = *std::move(made);
  Valuation sizes;
  for (const auto& word : instance.sizes)
    for (const auto& v : word)
      if (v) sizes[*v] = 3;
  auto p = float_program(instance, sizes, {});
  EXPECT_TRUE(p);
  return *std::move(p);
}

// Where all digits cancel in doubles, multiprecision finds them.
TEST(Exact, FindsWhatCancels) {
  RuleInstance instance;
  FloatProgram p =
      program_of("a  (add (add ?a ?b) ?c) => (add ?a (add ?b ?c))  for a:n b:n c:n", instance);
  Points points;
  points.count = 1;
  points.inputs = {{1e30f, 1, 1e38f}, {-1e30f, 1e-30f, -1e38f}, {1e-20f, -1, 1e-40f}};
  ExactValues exact(p, points, std::nullopt);
  EXPECT_DOUBLE_EQ(*exact.value(p.elements[0], 0), 1e-20f);
  EXPECT_DOUBLE_EQ(*exact.value(p.elements[1], 0), 1e-30f);
  EXPECT_DOUBLE_EQ(*exact.value(p.elements[2], 0), 1e-40f);
  EXPECT_GT(exact.multiprecision_runs(), 0u);
}

// Sums, products and quotients of floats that are doubles have no error, so nothing cancels.
TEST(Exact, KnowsWhichDoublesAreExact) {
  RuleInstance instance;
  FloatProgram p = program_of(
      "a  (add (mul ?a ?b) (neg (mul ?a ?b))) => (sub (div ?a ?b) (div ?a ?b))  for a:n b:n",
      instance);
  Points points;
  points.count = 1;
  points.inputs = {{3, 0x1.fffffep1f, 7}, {0.5f, 0x1.fffffep2f, 8}};
  ExactValues exact(p, points, std::nullopt);
  for (size_t e = 0; e < 3; ++e) EXPECT_EQ(exact.value(p.elements[e], 0), 0);
  EXPECT_EQ(exact.multiprecision_runs(), 0u);
}

// 1 + erf(-8) is about 1e-29: no double, and 0 in float16, but not in float32.
TEST(Exact, LooksNoFurtherThanTheFormatShows) {
  RuleInstance instance;
  FloatProgram p = program_of(
      "a  (add (erf ?a) (full value=1)) => (add (full value=1) (erf ?a))  for a:n", instance);
  Points points;
  points.count = 1;
  points.inputs = {{-8, -8, -8}};
  ExactValues half(p, points, Format::F16), single(p, points, Format::F32);
  EXPECT_EQ(static_cast<float>(*half.value(p.elements[0], 0)), 0);
  EXPECT_EQ(half.multiprecision_runs(), 0u);
  EXPECT_NEAR(*single.value(p.elements[0], 0) / std::erfc(8.0), 1, 1e-6);
  EXPECT_EQ(single.multiprecision_runs(), 1u);
}

TEST(Exact, SaysNothingWhereNothingIsDefined) {
  RuleInstance instance;
  FloatProgram p = program_of("a  (div ?a ?b) => (div ?a ?b)  for a:n b:n", instance);
  Points points;
  points.count = 1;
  points.inputs = {{1, 0, 6}, {0, 0, 3}};
  ExactValues exact(p, points, std::nullopt);
  EXPECT_FALSE(exact.value(p.elements[0], 0));
  EXPECT_FALSE(exact.value(p.elements[1], 0));
  EXPECT_EQ(exact.value(p.elements[2], 0), 2);
}

// exp(1000) is no double; of exp(1000) / exp(1000 + 3) multiprecision finds the value.
TEST(Exact, GoesBeyondTheRangeOfDoubles) {
  RuleInstance instance;
  FloatProgram p =
      program_of("a  (div (exp ?a) (exp ?b)) => (exp (sub ?a ?b))  for a:n b:n", instance);
  Points points;
  points.count = 1;
  points.inputs = {{1000, -1000, 0}, {1003, -998, 0}};
  ExactValues exact(p, points, std::nullopt);
  for (size_t e = 0; e < 3; ++e) p.elements[e].right = p.elements[e].left;
  EXPECT_NEAR(*exact.value(p.elements[0], 0), std::exp(-3.0), 1e-12);
  EXPECT_NEAR(*exact.value(p.elements[1], 0), std::exp(-2.0), 1e-12);
  EXPECT_EQ(*exact.value(p.elements[2], 0), 1);
}

TEST(Points, KeepToTheLimit) {
  for (Format format : {Format::F32, Format::F16}) {
    Points p = draw_limited_points({{3, 4}, {2}}, format, 7, 500);
    for (const auto& input : p.inputs)
      for (float x : input) {
        EXPECT_LE(std::abs(x), magnitude_limit(format));
        EXPECT_EQ(x, rounded(x, format));
      }
    Points all = draw_points({{3, 4}}, format, 7, 900);
    float most = 0, least = 1;
    for (float x : all.inputs[0]) {
      EXPECT_TRUE(std::isfinite(x));
      EXPECT_EQ(x, rounded(x, format));
      most = std::max(most, std::abs(x));
      if (x != 0) least = std::min(least, std::abs(x));
    }
    EXPECT_GT(most, largest(format) / 16);
    EXPECT_LT(least, format == Format::F32 ? 1e-38f : 0x1p-14f);
  }
}

TEST(Points, WhatIsNotWantedChangesNothingElse) {
  const std::vector<std::vector<int64_t>> shapes = {{3, 4}, {2}, {5}};
  Wanted wanted = {std::vector<char>(12, 0), {1, 0}, std::vector<char>(5, 0)};
  for (size_t e : {0, 5, 6, 11}) wanted[0][e] = 1;
  for (Format format : {Format::F32, Format::F16})
    for (auto draw : {draw_points, draw_limited_points}) {
      Points all = draw(shapes, format, 7, 90, {}), some = draw(shapes, format, 7, 90, wanted);
      for (Points* p : {&all, &some}) *p = with_infinities(std::move(*p), 11);
      for (size_t k = 0; k < shapes.size(); ++k)
        for (size_t e = 0; e < wanted[k].size(); ++e) {
          EXPECT_EQ(some.rows[k][e] >= 0, wanted[k][e] != 0);
          if (!wanted[k][e]) continue;
          const auto input = static_cast<int32_t>(k), element = static_cast<int32_t>(e);
          const float *one = some.of(input, element), *other = all.of(input, element);
          EXPECT_TRUE(std::equal(one, one + 90, other));
        }
    }
}

}  // namespace
}  // namespace regraft::verify
