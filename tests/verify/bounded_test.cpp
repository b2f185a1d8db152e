// The second prover at given shapes: what its samples must show before it says anything.
#include "verify/refute/bounded.h"

#include <gtest/gtest.h>

#include "ir/rule/text.h"
#include "verify/refute/exercise.h"
#include "verify/verify.h"

namespace regraft::verify {
namespace {

RuleInstance instance_of(const std::string& sides, const Signature& signature) {
  auto rule = parse_rule("r " + sides);
  EXPECT_TRUE(rule) << sides << ": " << (rule ? "" : rule.error().message);
  auto instance = instantiate(*rule, signature);
  EXPECT_TRUE(instance) << sides << ": " << (instance ? "" : instance.error().message);
  return *std::move(instance);
}

Valuation sizes_of(const RuleInstance& instance, const std::map<std::string, int64_t>& values) {
  Valuation sizes;
  for (const auto& [name, x] : values) sizes[instance.lhs.pool().named(name)] = x;
  return sizes;
}

Verdict judged(const std::string& sides, const std::string& shapes) {
  VerifyOptions quiet;
  quiet.verbosity = Verbosity::Quiet;
  return verify_rule(*parse_rule("r " + sides + " for " + shapes), quiet).verdict;
}

/// The steps are dropped: wherever a slice takes more than one element of an axis that is another
/// tensor.
constexpr const char* kDroppedSteps =
    "(slice ?x begins=?b sizes=?s steps=?t) => (slice ?x begins=?b sizes=?s)";

TEST(Exercise, AStepHasRoomWhereTwoElementsAreTaken) {
  RuleInstance instance = instance_of(kDroppedSteps, {"n"});
  const std::map<std::string, int64_t> one = {{"x.0", 3}, {"b.0", 0}, {"s.0", 1}, {"t.0", 2}};
  auto add = [&](Exercise& e, std::map<std::string, int64_t> at, int64_t size, int64_t step) {
    at["x.0"] = 9;
    at["s.0"] = size;
    at["t.0"] = step;
    return e.add(sizes_of(instance, at));
  };
  Exercise none(instance), some(instance);
  add(none, one, 1, 2);
  add(none, one, 1, 3);
  EXPECT_NE(none.missing().find("t.0"), std::string::npos) << none.missing();
  add(some, one, 2, 2);
  EXPECT_NE(some.missing().find("t.0"), std::string::npos);  // one value of it is not enough
  EXPECT_TRUE(add(some, one, 2, 3));
  EXPECT_EQ(some.missing().find("t.0"), std::string::npos) << some.missing();
}

/// Strides, dilations, pads and kernels alike: nothing is known of them here but that they act.
TEST(Exercise, NumbersCountWhereTheyChangeSomething) {
  RuleInstance pool = instance_of(
      "(maxpool ?x kernel=2,2 strides=3,3) => (maxpool ?x kernel=2,2 strides=3,1)", {"nnnn"});
  auto at = [&](int64_t h, int64_t w) {
    return sizes_of(pool, {{"x.0", 1}, {"x.1", 1}, {"x.2", h}, {"x.3", w}});
  };
  Exercise e(pool);
  e.add(at(2, 2));  // one window, wherever the next would be
  EXPECT_NE(e.missing().find("strides"), std::string::npos) << e.missing();
  e.add(at(9, 2));
  EXPECT_NE(e.missing().find("strides"), std::string::npos) << e.missing();
  e.add(at(9, 9));
  EXPECT_TRUE(e.complete()) << e.missing();
}

/// At the shapes that random sizes of four axes mostly have, a step has nowhere to go.
TEST(Bounded, StepsThatAreDroppedAreNotProved) {
  for (const Signature& s : {Signature{"n"}, {"nn"}, {"nnn"}, {"nnnn"}})
    for (uint64_t seed : {1, 2, 3}) {
      Verdict v = TermsProver(seed).prove(instance_of(kDroppedSteps, s));
      EXPECT_EQ(v.kind, VerdictKind::Unknown) << s[0] << ": " << v.detail;
    }
  Verdict kept = TermsProver(1).prove(
      instance_of("(relu (slice ?x begins=?b sizes=?s steps=?t)) => (relu (slice ?x begins=?b "
                  "sizes=?s steps=?t))",
                  {"nn"}));
  EXPECT_EQ(kept.kind, VerdictKind::ProvedBounded) << kept.detail;
}

/// Blocks within blocks: at 1, each of the two does nothing, and all sizes up to 4 have a 1.
TEST(Bounded, TwoAttributesNeedRoomTogether) {
  const std::string merged =
      "(depth-to-space (depth-to-space ?x blocksize=?b) blocksize=?c) => "
      "(depth-to-space ?x blocksize=?b*?c)";
  RuleInstance instance = instance_of(merged, {"nnnn"});
  Exercise e(instance);
  auto at = [&](int64_t b, int64_t c) {
    return sizes_of(
        instance, {{"x.0", 1}, {"x.1", b * b * c * c}, {"x.2", 1}, {"x.3", 1}, {"b", b}, {"c", c}});
  };
  for (auto [b, c] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 2}}) e.add(at(b, c));
  EXPECT_EQ(e.missing(), "b with c");
  e.leave_out_impossible();
  EXPECT_FALSE(e.complete());
  EXPECT_TRUE(e.add(at(2, 2)));
  EXPECT_TRUE(e.complete()) << e.missing();
  for (uint64_t seed : {1, 2, 3}) {
    Verdict v = TermsProver(seed).prove(instance);
    EXPECT_EQ(v.kind, VerdictKind::Unknown) << v.detail;
  }
  EXPECT_EQ(judged(merged, "x:nnnn").kind, VerdictKind::Refuted);
}

TEST(Bounded, TrueRulesOfTwoAttributesAreProved) {
  const std::string blocks = "depth-to-space", depths = "space-to-depth";
  for (const std::string& op : {blocks, depths}) {
    const std::string twice = "(" + op + " (" + op + " ",
                      blocksizes = " blocksize=?b) blocksize=?c)";
    RuleInstance instance = instance_of(
        "(relu " + twice + "?x" + blocksizes + ") => " + twice + "(relu ?x)" + blocksizes,
        {"nnnn"});
    for (uint64_t seed : {1, 2, 3}) {
      Verdict v = TermsProver(seed).prove(instance);
      EXPECT_EQ(v.kind, VerdictKind::ProvedBounded) << op << ": " << v.detail;
    }
  }
}

/// Nothing is asked for that cannot be.
TEST(Exercise, TwoAttributesThatNeverActTogetherNeedNoRoom) {
  RuleInstance instance = instance_of(
      "(pad (pad ?x pads=?p+0,0) pads=?q+0,0) => (pad ?x pads=?p+?q,0) where ?p+?q<=1", {"n"});
  Exercise e(instance);
  for (auto [p, q] : {std::pair{0, 0}, std::pair{0, 1}, std::pair{1, 0}})
    e.add(sizes_of(instance, {{"x.0", 2}, {"p", p}, {"q", q}}));
  EXPECT_EQ(e.missing(), "p with q");
  e.leave_out_impossible();
  EXPECT_TRUE(e.complete()) << e.missing();
}

/// Where a computed attribute may divide by 0, equal polynomials at given numbers say nothing. A
/// number that numbers are not drawn near is not refuted; 0 is always tried.
TEST(Bounded, AttributesThatMayDivideByZeroAreNotProved) {
  const std::pair<const char*, VerdictKind> cases[] = {
      {"(add (full value=?b) (relu ?x)) => (add (full value=?b/(?b-123.5)*(?b-123.5)) (relu ?x))",
       VerdictKind::Unknown},
      {"(add (full value=?b) (elu ?x alpha=?a)) => "
       "(add (full value=?b) (elu ?x alpha=?a/(?b*?b-2)*(?b*?b-2)))",
       VerdictKind::Unknown},
      {"(mul (full value=?b) (elu ?x alpha=?a)) => (mul (full value=?b) (elu ?x alpha=?a/?b*?b))",
       VerdictKind::Refuted},
      {"(mul (full value=?b) (leaky-relu ?x alpha=?a)) => "
       "(mul (full value=?b) (leaky-relu ?x alpha=?a*?b/?b))",
       VerdictKind::Refuted}};
  for (const auto& [sides, kind] : cases) {
    const Verdict v = judged(sides, "x:n");
    EXPECT_EQ(v.kind, kind) << sides << v.detail;
    if (kind != VerdictKind::Unknown) continue;
    EXPECT_NE(v.detail.find("an attribute may divide by zero: "), std::string::npos) << v.detail;
  }
}

TEST(Bounded, TheVerdictNamesItsShapes) {
  Verdict few = TermsProver(1).prove(
      instance_of("(conv ?x ?w pads=?p) => (conv ?x ?w pads=?p)", {"nnnn", "nnnn"}));
  ASSERT_EQ(few.kind, VerdictKind::ProvedBounded) << few.detail;
  auto count = static_cast<size_t>(std::stoi(few.detail));
  EXPECT_EQ(static_cast<size_t>(std::count(few.detail.begin(), few.detail.end(), ';')) + 1, count)
      << few.detail;
  EXPECT_EQ(few.detail.find("..."), std::string::npos);
  Verdict all = TermsProver(1).prove(instance_of("(relu ?x) => (relu ?x)", {"n"}));
  EXPECT_NE(all.detail.find("all sizes up to 4"), std::string::npos) << all.detail;
}

}  // namespace
}  // namespace regraft::verify
