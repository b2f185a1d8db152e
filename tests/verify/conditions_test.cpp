// Conditions that are found for rules that do not hold as they stand.
#include "verify/conditions.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "ir/rule/pattern.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"
#include "verify/arithmetic/solver.h"

namespace regraft::verify {
namespace {

Rule parsed(const std::string& line) {
  auto r = parse_rule(line);
  EXPECT_TRUE(r) << (r ? "" : r.error().message);
  return *r;
}

Finding found(const Rule& rule) {
  VerifyOptions o;
  o.conditions = Conditions::Found;
  o.domains = Domains::Given;
  return examine(rule, o);
}
Finding found(const std::string& line) { return found(parsed(line)); }

/// Whatever satisfies the left side and `where` of `strong` satisfies the `where` of `weak`, a rule
/// with the same left side.
bool weaker_or_equal(const Rule& weak, const Rule& strong, const Signature& s) {
  Rule both = parsed(to_string(strong));
  auto instance = instantiate(strong, s);
  if (!instance) return false;
  Budget budget{Limits{}};
  ArithmeticSolver solver(budget);
  Rule bare = strong;
  bare.where = weak.where;
  auto asked = instantiate(bare, s);
  if (!asked) return false;
  SymbolPool& pool = instance->lhs.pool();
  for (const Formula& f : asked->requires_lhs) {
    if (f.kind != Formula::Zero) continue;
    auto p = moved(f.poly, pool, [&](Var v) { return Poly::symbol(pool.named(v->name, v->min)); });
    if (!p || !solver.implies(instance->requires_lhs, *p == Poly(0))) return false;
  }
  return true;
}

/// Each rule that has a condition gets one back that is no stronger.
TEST(Conditions, RulesGetTheirConditionBack) {
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  auto file = substitutions::read_candidates(std::string(root ? root : ".") +
                                             "/tests/data/rules/conditions.candidates");
  ASSERT_TRUE(file) << file.error().message;
  int tried = 0;
  for (const Rule& rule : file->rules) {
    if (rule.where.empty()) continue;
    ++tried;
    Rule bare = rule;
    bare.where.clear();
    Finding f = found(bare);
    EXPECT_EQ(f.rule.verdict.kind, VerdictKind::ProvedAllSizes) << rule.name;
    EXPECT_FALSE(f.condition.empty()) << rule.name;
    EXPECT_TRUE(f.counterexample) << rule.name;
    ASSERT_FALSE(f.rule.domain.empty()) << rule.name;
    EXPECT_EQ(f.rule.domain[0], rule.domain[0]) << rule.name;
    EXPECT_TRUE(weaker_or_equal(f.rule, rule, rule.domain[0])) << rule.name << ": " << f.condition;
  }
  EXPECT_GE(tried, 5);
}

TEST(Conditions, EqualSizes) {
  Finding f = found(
      "r (mul (add (reduce-mean ?a axes=1) (reduce-mean ?b axes=1)) (full shape=1 value=0.5)) => "
      "(reduce-mean (concat ?a ?b axis=1) axes=1)  for a:nn b:nn");
  EXPECT_EQ(f.condition, "a.1=b.1");
  EXPECT_EQ(f.rule.verdict.kind, VerdictKind::ProvedAllSizes);
}

TEST(Conditions, EqualGroups) {
  Finding f = found(
      "r (add (conv ?x ?v group=?g) (conv ?x ?w group=?h)) => (conv ?x (add ?v ?w) group=?g)  "
      "for x:nnnn v:nn11 w:nn11");
  EXPECT_EQ(f.rule.verdict.kind, VerdictKind::ProvedAllSizes) << f.rule.verdict.detail;
  EXPECT_TRUE(f.condition == "?g=?h" || f.condition == "?h=?g" || f.condition == "v.1=w.1")
      << f.condition;
}

TEST(Conditions, OneGroup) {
  Finding f = found(
      "r (concat (conv ?x ?v group=?g) (conv ?x ?w group=?g) axis=1) => "
      "(conv ?x (concat ?v ?w axis=0) group=?g)  for x:nnnn v:nn11 w:nn11");
  EXPECT_EQ(f.rule.verdict.kind, VerdictKind::ProvedAllSizes) << f.rule.verdict.detail;
  EXPECT_EQ(f.condition, "?g=1");
}

TEST(Conditions, AlignedPadding) {
  Finding f = found(
      "r (add (conv ?x ?w pads=?p,?p,?p,?p) (conv ?x ?v pads=?q,?q,?q,?q)) => (conv ?x (add ?w ?v) "
      "pads=?p,?p,?p,?p)  for x:nnnn w:nnnn v:nnnn");
  EXPECT_EQ(f.rule.verdict.kind, VerdictKind::ProvedAllSizes) << f.rule.verdict.detail;
  EXPECT_TRUE(f.condition == "?p=?q" || f.condition == "w.2=v.2" || f.condition == "v.2=w.2")
      << f.condition;
}

TEST(Conditions, AttributeIsAConstant) {
  Finding f = found("r (resize-nearest (relu ?x) factors=?f,?h) => (relu ?x)  for x:nnnn");
  EXPECT_EQ(f.rule.verdict.kind, VerdictKind::ProvedAllSizes) << f.rule.verdict.detail;
  EXPECT_EQ(f.condition, "?f=1,?h=1");
}

TEST(Conditions, Inequality) {
  Finding f = found(
      "r (slice (concat ?x ?y axis=1) begins=0,?b sizes=x.0,?n) => "
      "(slice ?x begins=0,?b sizes=x.0,?n)  for x:nn y:nn");
  EXPECT_EQ(f.rule.verdict.kind, VerdictKind::ProvedAllSizes) << f.rule.verdict.detail;
  EXPECT_EQ(f.condition, "?b+?n<=x.1");
}

TEST(Conditions, RealAttributes) {
  Finding sign =
      found("r (relu (mul ?x (full value=?c))) => (mul (relu ?x) (full value=?c))  for x:nn");
  EXPECT_EQ(sign.rule.verdict.kind, VerdictKind::ProvedAllSizes) << sign.rule.verdict.detail;
  EXPECT_EQ(sign.condition, "0<=?c");
  Finding order = found(
      "r (max (min ?x (full value=?b)) (full value=?a)) => (clip ?x min=?a max=?b)  for x:nn");
  EXPECT_EQ(order.rule.verdict.kind, VerdictKind::ProvedAllSizes) << order.rule.verdict.detail;
  EXPECT_EQ(order.condition, "?a<=?b");
  Finding slope =
      found("r (max ?x (mul ?x (full value=?a))) => (leaky-relu ?x alpha=?a)  for x:nn");
  EXPECT_EQ(slope.rule.verdict.kind, VerdictKind::ProvedAllSizes) << slope.rule.verdict.detail;
  EXPECT_EQ(slope.condition, "?a<=1");
}

TEST(Conditions, NoneIsFoundForWhatIsFalse) {
  Finding f = found("r (relu (add ?a ?b)) => (add (relu ?a) (relu ?b))  for a:nn b:nn");
  EXPECT_EQ(f.rule.verdict.kind, VerdictKind::Refuted);
  EXPECT_TRUE(f.condition.empty());
  EXPECT_TRUE(f.rule.where.empty());
}

TEST(Conditions, NoneIsLookedForWhereNoneIsNeededOrWanted) {
  Finding f =
      found("r (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn");
  EXPECT_TRUE(f.condition.empty());
  Rule r = parsed("r (concat ?a ?b axis=0) => (concat ?b ?a axis=0)  for a:n b:n");
  VerifyOptions given;
  EXPECT_EQ(examine(r, given).rule.verdict.kind, VerdictKind::Refuted);
}

/// A condition is part of the rule: its text says it, and the text is proved by itself.
TEST(Conditions, TheRuleWithItsConditionIsProvedAnew) {
  Finding f = found(
      "r (concat (conv ?x ?v group=?g) (conv ?x ?w group=?g) axis=1) => "
      "(conv ?x (concat ?v ?w axis=0) group=?g)  for x:nnnn v:nn11 w:nn11");
  Rule again = parsed(to_string(f.rule));
  EXPECT_EQ(to_string(again), to_string(f.rule));
  VerifyOptions o;
  o.domains = Domains::Given;
  EXPECT_EQ(verify_rule(again, o).verdict.kind, VerdictKind::ProvedAllSizes);
}

}  // namespace
}  // namespace regraft::verify
