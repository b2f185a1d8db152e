// Real attributes become variables, where need be under conditions.
#include "gen/generalise/reals.h"

#include <gtest/gtest.h>

#include "gen/generalise/check.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

std::string opened(const std::string& text, const Signature& signature) {
  auto rule = parse_rule("r  " + text);
  EXPECT_TRUE(rule) << text << ": " << (rule ? "" : rule.error().message);
  if (!rule) return {};
  Rule open = open_reals(*rule, signature, 20);
  EXPECT_TRUE(validate(open)) << to_string(open);
  return to_string(open);
}

Evidence evidence(const std::string& text, const Signature& signature,
                  Where where = Where::LeftSideIs) {
  auto rule = parse_rule("r  " + text);
  EXPECT_TRUE(rule) << text << ": " << (rule ? "" : rule.error().message);
  return rule ? check(*rule, signature, 3, 20, where) : Evidence::Unusable;
}

TEST(Reals, AnyNumberNeedsNoCondition) {
  EXPECT_EQ(opened("(add (mul ?x (full value=3)) (mul ?y (full value=3))) => "
                   "(mul (add ?x ?y) (full value=3))",
                   {"nn", "nn"}),
            "r  (add (mul ?x (full value=?v)) (mul ?y (full value=?v))) => "
            "(mul (add ?x ?y) (full value=?v))");
}

TEST(Reals, ASignIsACondition) {
  EXPECT_EQ(opened("(relu (mul ?x (full value=6))) => (mul (relu ?x) (full value=6))", {"nn"}),
            "r  (relu (mul ?x (full value=?v))) => (mul (relu ?x) (full value=?v))  where 0<=?v");
}

TEST(Reals, TheOrderOfBoundsIsACondition) {
  EXPECT_EQ(opened("(max ?x (mul ?x (full value=0.375))) => (leaky-relu ?x alpha=0.375)", {"nn"}),
            "r  (max ?x (mul ?x (full value=?v))) => (leaky-relu ?x alpha=?v)  where ?v<=1");
  EXPECT_EQ(
      opened("(max (min ?x (full value=3)) (full value=-2)) => (clip ?x min=-2 max=3)", {"nn"}),
      "r  (max (min ?x (full value=?v)) (full value=?vv)) => (clip ?x min=?vv max=?v)  "
      "where ?vv<=?v");
}

TEST(Reals, ANumberIsMadeOfTwo) {
  EXPECT_EQ(
      opened("(mul (mul ?x (full value=3)) (full value=5)) => (mul ?x (full value=15))", {"nn"}),
      "r  (mul (mul ?x (full value=?v)) (full value=?vv)) => "
      "(mul ?x (full value=?v*?vv))");
}

/// By doubles, since a quotient is rounded; what divides is not 0.
TEST(Reals, ANumberIsAQuotientOfTwo) {
  EXPECT_EQ(opened("(rmsnorm (mul ?x (full value=0.5)) ?s axis=-1 epsilon=0.375) => "
                   "(rmsnorm ?x ?s axis=-1 epsilon=1.5)",
                   {"nn", "n"}),
            "r  (rmsnorm (mul ?x (full value=?v)) ?s axis=-1 epsilon=?e) => "
            "(rmsnorm ?x ?s axis=-1 epsilon=?e/(?v*?v))  where 0<?v");
}

TEST(Reals, WhatHoldsOfOneNumberStays) {
  EXPECT_EQ(opened("(mul ?x (full value=2)) => (add ?x ?x)", {"nn"}),
            "r  (mul ?x (full value=2)) => (add ?x ?x)");
}

TEST(Reals, ConditionsBoundWhatIsChecked) {
  const std::string factor = "(relu (mul ?x (full value=?v))) => (mul (relu ?x) (full value=?v))";
  EXPECT_EQ(evidence(factor + "  where 0<=?v", {"nn"}), Evidence::Holds);
  EXPECT_EQ(evidence(factor + "  where ?v<0", {"nn"}), Evidence::Fails);
}

TEST(Reals, RootsAreOfWhatIsPositive) {
  EXPECT_EQ(evidence("(mul (sqrt ?x) (sqrt ?x)) => ?x", {"nn"}), Evidence::Holds);
  EXPECT_EQ(evidence("(sqrt (mul ?x ?x)) => (abs ?x)", {"nn"}), Evidence::Holds);
  EXPECT_EQ(evidence("(sqrt (mul ?x ?x)) => ?x", {"nn"}), Evidence::Fails);
}

TEST(Reals, ARightSideMayAskForMore) {
  const std::string part =
      "(gather (concat ?a ?b axis=0) axis=0 indices=?i+0) => (gather ?a axis=0 indices=?i+0)";
  EXPECT_EQ(evidence(part, {"nn", "nn"}), Evidence::Fails);
  EXPECT_EQ(evidence(part, {"nn", "nn"}, Where::RightSideIs), Evidence::Holds);
  EXPECT_EQ(evidence("(gather (concat ?a ?b axis=0) axis=0 indices=?i+0) => "
                     "(gather ?b axis=0 indices=?i+0)",
                     {"nn", "nn"}, Where::RightSideIs),
            Evidence::Fails);
}

}  // namespace
}  // namespace regraft::gen
