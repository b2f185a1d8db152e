// Rules that differ in axes only become families; goals follow from families.
#include "gen/minimise/fold.h"

#include <gtest/gtest.h>

#include "gen/derive/derive.h"
#include "ir/rule/family.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

Rule proved(const std::string& line) {
  auto r = parse_rule(line + "  proved:all-sizes");
  EXPECT_TRUE(r) << line << ": " << (r ? "" : r.error().message);
  return r ? *r : Rule{};
}
std::vector<Rule> all_proved(const std::vector<std::string>& lines) {
  std::vector<Rule> rules;
  for (const std::string& line : lines) rules.push_back(proved(line));
  return rules;
}
std::string body(Rule rule) {
  rule.name = "f";
  return to_string(rule);
}
void claim_proved(std::vector<Rule>& families) {
  for (Rule& f : families) f.verdict = {VerdictKind::ProvedAllSizes, {}};
}

TEST(Fold, PermutationsBecomeOneRule) {
  std::vector<Rule> rules = all_proved(
      {"a  (transpose (relu ?x) perm=1,0) <=> (relu (transpose ?x perm=1,0))  for x:nn",
       "b  (transpose (relu ?x) perm=0,3,1,2) <=> (relu (transpose ?x perm=0,3,1,2))  for x:nnnn"});
  std::vector<Rule> families = families_of(rules);
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(body(families[0]),
            "f  (relu (transpose ?a perm=?perm)) <=> (transpose (relu ?a) perm=?perm)  for a:..");
  claim_proved(families);
  EXPECT_TRUE(beyond(rules, families).empty());
}

TEST(Fold, AxesFollowPermutations) {
  std::vector<Rule> rules = all_proved(
      {"a  (transpose (concat ?x ?y axis=1) perm=1,0) <=> (concat (transpose ?x perm=1,0) "
       "(transpose ?y perm=1,0) axis=0)  for x:nn y:nn",
       "b  (transpose (concat ?x ?y axis=1) perm=0,3,1,2) <=> (concat (transpose ?x perm=0,3,1,2) "
       "(transpose ?y perm=0,3,1,2) axis=2)  for x:nnnn y:nnnn"});
  std::vector<Rule> families = families_of(rules);
  ASSERT_EQ(families.size(), 1u);
  claim_proved(families);
  EXPECT_TRUE(beyond(rules, families).empty()) << to_string(families[0]);
}

TEST(Fold, AConditionKeepsAxesApart) {
  std::vector<Rule> rules = all_proved(
      {"a  (gather (softmax ?x axis=-1) axis=0 indices=?i,?j shape=2) => (softmax (gather ?x "
       "axis=0 indices=?i,?j shape=2) axis=-1)  for x:nn | x:nnn",
       "b  (gather (softmax ?x axis=-1) axis=1 indices=?i,?j shape=2) => (softmax (gather ?x "
       "axis=1 indices=?i,?j shape=2) axis=-1)  for x:nnn"});
  std::vector<Rule> families = families_of(rules);
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families[0].axis_where.size(), 1u) << to_string(families[0]);
  claim_proved(families);
  EXPECT_TRUE(beyond(rules, families).empty());
}

TEST(Fold, WhatAFamilyDoesNotSayStays) {
  std::vector<Rule> rules = all_proved(
      {"a  (transpose (add ?x ?y) perm=1,0) => (add (transpose ?x perm=1,0) (transpose ?y "
       "perm=1,0))  for x:nn y:n1 | x:nn y:nn",
       "b  (transpose (add ?x ?y) perm=0,2,1) => (add (transpose ?x perm=0,2,1) (transpose ?y "
       "perm=0,2,1))  for x:nnn y:nnn"});
  std::vector<Rule> families =
      all_proved({"f  (transpose (add ?a ?b) perm=?p) => (add (transpose ?a perm=?p) (transpose ?b "
                  "perm=?p))  for a:.. b:.."});
  std::vector<Rule> left = beyond(rules, families);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].domain, (std::vector<Signature>{{"nn", "n1"}}));
  families[0].numerics.kind = Numerics::Unsafe;  // less than the rules promise
  for (Rule& r : rules) r.numerics.kind = Numerics::Exact;
  EXPECT_EQ(beyond(rules, families).size(), 2u);
}

TEST(Fold, CoincidencesAreNoFamily) {
  std::vector<Rule> rules =
      all_proved({"a  (transpose (transpose ?x perm=1,0) perm=1,0) => ?x  for x:nn",
                  "b  (transpose (transpose ?x perm=0,3,1,2) perm=0,2,3,1) => ?x  for x:nnnn"});
  std::vector<Rule> families = families_of(rules);
  ASSERT_EQ(families.size(), 1u);  // the inverse, not the same twice
  EXPECT_EQ(body(families[0]),
            "f  (transpose (transpose ?a perm=?perm) perm=inverse(?perm)) => ?a  for a:..");
}

bool follows(const std::vector<std::string>& from, const std::string& goal) {
  Derivation d = Deriver(all_proved(from)).derive(proved(goal));
  EXPECT_TRUE(d.tried) << goal;
  EXPECT_EQ(d.refused, 0u);
  return d.derived;
}
const std::string kTwice =
    "twice  (transpose (transpose ?x perm=?p) perm=?q) => (transpose ?x perm=?p[?q])  for x:..";
const std::string kRelu =
    "relu  (transpose (relu ?x) perm=?p) <=> (relu (transpose ?x perm=?p))  for x:..";

TEST(FamilyDerive, ConcreteGoalsFollowFromFamilies) {
  EXPECT_TRUE(follows({kTwice, kRelu},
                      "g  (transpose (relu (transpose ?x perm=1,2,0)) perm=0,2,1) => (relu "
                      "(transpose ?x perm=1,0,2))  for x:nnn"));
  EXPECT_FALSE(follows({kRelu},
                       "g  (transpose (relu (transpose ?x perm=1,2,0)) perm=0,2,1) => (relu "
                       "(transpose ?x perm=1,0,2))  for x:nnn"));
}

TEST(FamilyDerive, FamiliesFollowFromFamilies) {
  EXPECT_TRUE(follows({kTwice, kRelu},
                      "g  (transpose (relu (transpose ?x perm=?p)) perm=?q) => (relu (transpose ?x "
                      "perm=?p[?q]))  for x:..4"));
  EXPECT_FALSE(follows({"one  (transpose (relu ?x) perm=1,0) => (relu (transpose ?x perm=1,0))  "
                        "for x:nn"},
                       kRelu));
}

TEST(FamilyDerive, BoundsAndConditionsAreKept) {
  std::string goal =
      "g  (transpose (relu ?x) perm=1,0,2) => (relu (transpose ?x perm=1,0,2))  for x:nnn";
  EXPECT_TRUE(follows({kRelu}, goal));
  EXPECT_FALSE(follows({"two  (transpose (relu ?x) perm=?p) => (relu (transpose ?x perm=?p))  "
                        "for x:..2"},
                       goal));
  std::string apart =
      "apart  (softmax (softmax ?x axis=?j) axis=?k) => (softmax (softmax ?x axis=?k) axis=?j)  "
      "where ?j<?k  for x:..";
  EXPECT_TRUE(follows({apart},
                      "g  (softmax (softmax ?x axis=0) axis=1) => (softmax (softmax ?x axis=1) "
                      "axis=0)  for x:nn"));
}

}  // namespace
}  // namespace regraft::gen
