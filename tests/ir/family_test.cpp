// Families of rules: axes, permutations and ranks as variables.
#include "ir/rule/family.h"

#include <gtest/gtest.h>

#include "ir/rule/text.h"

namespace regraft {
namespace {

constexpr const char* kConcat =
    "c  (transpose (concat ?x ?y axis=?k) perm=?p) <=> (concat (transpose ?x perm=?p) "
    "(transpose ?y perm=?p) axis=inverse(?p)[?k])  for x:..4 y:..4";

Rule rule_of(const std::string& line) {
  auto rule = parse_rule(line);
  EXPECT_TRUE(rule) << line << ": " << (rule ? "" : rule.error().message);
  return rule ? *rule : Rule{};
}
std::string why_not(const std::string& line) {
  auto rule = parse_rule(line);
  return rule ? "it is one" : rule.error().message;
}
std::vector<Member> members(const Rule& rule, int open) {
  std::vector<Member> all;
  for (const Signature& s : rule.domain)
    for_each_member(rule, s, open, [&](Member m) {
      all.push_back(std::move(m));
      return true;
    });
  return all;
}

TEST(Family, TextReadsBack) {
  for (const char* line :
       {kConcat, "a  (transpose (transpose ?x perm=?p) perm=?q) => (transpose ?x perm=?p[?q])",
        "b  (reduce-sum (transpose ?x perm=?p) axes=?s keepdims=0) => (transpose (reduce-sum ?x "
        "axes=?p[?s] keepdims=0) perm=without(?p,?s))  for x:n..",
        "d  (softmax (gather ?x axis=?k indices=?i1,?i2 shape=2) axis=?j) => (gather (softmax ?x "
        "axis=?j) axis=?k indices=?i1,?i2 shape=2)  where ?j!=?k,x.?k=x.?j  for x:..n1",
        "e  (reduce-sum (reduce-sum ?x axes=?s) axes=?t,?j+1) => (reduce-sum ?x axes=?s,?t)  where "
        "?s<?t,?s==?t  for x:**2n | x:-"}) {
    if (line[0] == 'e') {
      EXPECT_NE(why_not(line).find("?"), std::string::npos);
      continue;
    }
    Rule rule = rule_of(line);
    EXPECT_TRUE(is_family(rule));
    EXPECT_EQ(to_string(rule_of(to_string(rule))), to_string(rule));
  }
}

TEST(Family, OldRulesAreNone) {
  EXPECT_FALSE(
      is_family(rule_of("r  (transpose (relu ?x) perm=1,0) => (relu (transpose ?x "
                        "perm=1,0))  for x:nn")));
}

TEST(Family, BadTextNamesTheVariable) {
  EXPECT_NE(why_not("r  (transpose ?x perm=?p) => (transpose ?x perm=?q)").find("?q"),
            std::string::npos);
  EXPECT_NE(why_not("r  (transpose (transpose ?x perm=?p[?q]) perm=?p[?q]) => ?x").find("?p"),
            std::string::npos);
  EXPECT_NE(why_not("r  (gemm ?x ?y transA=?k) => (gemm ?x ?y transA=?k)").find("transA"),
            std::string::npos);
  EXPECT_NE(why_not("r  (softmax ?x axis=?x) => (softmax ?x axis=?x)").find("?x"),
            std::string::npos);
  EXPECT_NE(why_not("r  (relu ?x) => (relu ?x)  for x:n.n"), "it is one");
  EXPECT_NE(why_not("r  (relu ?x) => (relu ?x)  for x:..nnnnnnnnn"), "it is one");
}

TEST(Family, MembersAreAllAxesAndPermutations) {
  Rule rule = rule_of(kConcat);
  EXPECT_EQ(members(rule, 0).size(), 0u);
  EXPECT_EQ(members(rule, 1).size(), 1u);
  EXPECT_EQ(members(rule, 2).size(), 4u);
  EXPECT_EQ(members(rule, 3).size(), 18u);
  for (const Member& m : members(rule, 3)) {
    EXPECT_FALSE(is_family(m.rule));
    EXPECT_TRUE(instantiate(m.rule, m.rule.domain[0])) << to_string(m.rule);
  }
  EXPECT_EQ(most_open(rule.domain[0]), 4);
}

TEST(Family, TheReverseHasTheSameMembers) {
  Rule back = directions(rule_of(kConcat))[1];
  EXPECT_EQ(members(back, 3).size(), 18u);
  Rule again = reversed(back);
  EXPECT_EQ(canonical_key(again), canonical_key(directions(rule_of(kConcat))[0]));
}

TEST(Family, ConditionsLeaveMembersOut) {
  Rule rule = rule_of(
      "r  (softmax (softmax ?x axis=?j) axis=?k) => (softmax (softmax ?x axis=?k) axis=?j)  where "
      "?j!=?k  for x:..");
  EXPECT_EQ(members(rule, 3).size(), 6u);
}

TEST(Family, StarsAreAxesOfAnySizeOrOne) {
  Rule rule = rule_of("r  (add ?x ?y) => (add ?y ?x)  for x:.. y:**");
  EXPECT_EQ(members(rule, 3).size(), 8u);
  EXPECT_EQ(members(rule, 3)[0].rule.domain[0], (Signature{"nnn", "nnn"}));
}

TEST(Family, SizesAtAnAxisAreThoseOfTheMember) {
  Rule rule =
      rule_of("r  (split (concat ?x ?y axis=?k) axis=?k sizes=x.?k,y.?k)#1 => ?y  for x:.. y:..");
  std::vector<Member> all = members(rule, 2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(to_string(all[1].rule),
            "r  (split (concat ?x ?y axis=1) axis=1 sizes=x.1,y.1)#1 => ?y  for x:nn y:nn");
}

TEST(Family, KeysDoNotDependOnNames) {
  EXPECT_EQ(canonical_key(rule_of("r  (transpose (relu ?x) perm=?p) => (relu (transpose ?x "
                                  "perm=?p))")),
            canonical_key(rule_of("q  (transpose (relu ?y) perm=?r) => (relu (transpose ?y "
                                  "perm=?r))")));
  EXPECT_NE(canonical_key(rule_of("r  (transpose (transpose ?x perm=?p) perm=?q) => (transpose "
                                  "?x perm=?p[?q])")),
            canonical_key(rule_of("r  (transpose (transpose ?x perm=?p) perm=?q) => (transpose "
                                  "?x perm=?q[?p])")));
}

TEST(Family, TermsAreSolvedFromWhatTheyMake) {
  Rule rule = rule_of("r  (transpose ?x perm=inverse(?p)) => (transpose ?x perm=inverse(?p))");
  AxisValues values;
  const PatternNode& n = rule.lhs.nodes[0];
  ASSERT_TRUE(bind_axes(n.op->ints[0], *n.axes[0], {1, 2, 0}, values));
  EXPECT_EQ(values.at("p"), (std::vector<int64_t>{2, 0, 1}));
  EXPECT_FALSE(bind_axes(n.op->ints[0], *n.axes[0], {2, 0, 1}, values));
}

TEST(Family, ListsHaveTheMembersInTheirOrder) {
  MemberLists lists;
  Rule rule = rule_of(kConcat);
  for (const Rule& directed : directions(rule))
    for (int open : {1, 3, 2, 3}) {
      const Signature& s = directed.domain[0];
      std::vector<std::string> wanted, found;
      for (const Member& m : members(directed, open)) wanted.push_back(to_string(m.rule));
      EXPECT_EQ(lists.count(directed, s, open, 2), std::min<size_t>(2, wanted.size()));
      lists.for_each_member(directed, s, open, [&](const Member& m) {
        found.push_back(to_string(m.rule));
        return true;
      });
      EXPECT_EQ(found, wanted);
      EXPECT_EQ(lists.count(directed, s, open, 1000), wanted.size());
    }
}

}  // namespace
}  // namespace regraft
