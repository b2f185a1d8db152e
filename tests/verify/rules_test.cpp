// The corpus of true and false rules, and random edits of the true ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/rng.h"
#include "ir/text.h"
#include "substitutions/rule_db.h"
#include "verify/prover.h"
#include "verify/refute.h"
#include "verify/sampling.h"
#include "verify/verify.h"

namespace regraft::verify {
namespace {

std::vector<Rule> corpus(const std::string& folder) {
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  std::vector<Rule> rules;
  std::filesystem::path base =
      std::filesystem::path(root ? root : ".") / "tests/data/rules" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(base)) {
    auto file = substitutions::read_candidates(entry.path().string());
    EXPECT_TRUE(file) << (file ? "" : file.error().message);
    if (file) rules.insert(rules.end(), file->rules.begin(), file->rules.end());
  }
  return rules;
}

VerifyOptions quick() {
  VerifyOptions o;
  o.verbosity = Verbosity::Quiet;
  o.signatures = 8;
  return o;
}

void print(const char* what, const VerifyCounters& c) {
  std::printf(
      "%s: %llu rules, %llu proved, %llu bounded, %llu refuted, %llu unknown; %llu instances, "
      "%llu questions, %llu solver runs; %.1f s, %.1f s CPU\n",
      what, static_cast<unsigned long long>(c.candidates),
      static_cast<unsigned long long>(c.proved), static_cast<unsigned long long>(c.bounded),
      static_cast<unsigned long long>(c.refuted), static_cast<unsigned long long>(c.unknown),
      static_cast<unsigned long long>(c.instances), static_cast<unsigned long long>(c.oracle.asked),
      static_cast<unsigned long long>(c.oracle.linear + c.oracle.nonlinear), c.seconds,
      c.cpu_seconds);
}

TEST(Rules, TrueOnesAreProvedForAllSizes) {
  std::vector<Rule> rules = corpus("valid");
  ASSERT_GE(rules.size(), 80u);
  Stop stop;
  VerifyReport report = verify_rules(rules, quick(), stop);
  print("true", report.counters);
  EXPECT_EQ(report.counters.disagreements, 0u);
  for (const Rule& r : report.rules) {
    EXPECT_EQ(r.verdict.kind, VerdictKind::ProvedAllSizes) << r.name << ": " << r.verdict.detail;
    EXPECT_FALSE(r.domain.empty()) << r.name;
  }
}

TEST(Rules, FalseOnesAreRefuted) {
  std::vector<Rule> rules = corpus("invalid");
  ASSERT_GE(rules.size(), 15u);
  Stop stop;
  VerifyReport report = verify_rules(rules, quick(), stop);
  print("false", report.counters);
  for (const Rule& r : report.rules)
    EXPECT_EQ(r.verdict.kind, VerdictKind::Refuted) << r.name << ": " << r.verdict.detail;
}

TEST(Rules, DuplicatesAndTrivialOnesAreDropped) {
  std::vector<Rule> rules;
  for (const char* line : {"a (relu (relu ?x)) => (relu ?x)", "b (relu (relu ?y)) => (relu ?y)",
                           "c (add ?a ?b) => (add ?b ?a)", "d (relu (neg (neg ?x))) => (relu ?x)"})
    rules.push_back(*parse_rule(line));
  Stop stop;
  VerifyReport report = verify_rules(rules, quick(), stop);
  EXPECT_EQ(report.counters.duplicates, 1u);
  EXPECT_EQ(report.counters.trivial, 1u);
  ASSERT_EQ(report.rules.size(), 2u);
  EXPECT_EQ(report.rules[0].name, "a");
  EXPECT_EQ(report.rules[1].name, "d");
}

Rule verified(const std::string& line, Domains domains = Domains::Given) {
  auto r = parse_rule(line);
  EXPECT_TRUE(r) << (r ? "" : r.error().message);
  VerifyOptions o = quick();
  o.domains = domains;
  return verify_rule(*r, o);
}

TEST(Reversible, BothDirectionsAreProved) {
  Rule r =
      verified("m (matmul (matmul ?a ?b) ?c) <=> (matmul ?a (matmul ?b ?c))", Domains::Widened);
  EXPECT_TRUE(r.both);
  EXPECT_EQ(r.name, "m");
  EXPECT_EQ(r.verdict.kind, VerdictKind::ProvedAllSizes);
  EXPECT_GE(r.domain.size(), 2u);
  for (const Rule& d : directions(r)) {
    Rule again = verified(to_string(d));
    EXPECT_EQ(again.verdict.kind, VerdictKind::ProvedAllSizes) << d.name;
    EXPECT_EQ(again.domain.size(), d.domain.size()) << d.name;
  }
}

// Of different kernels the one convolution is two, but not the other way round: under strides two
// kernels of different sizes may give equal shapes.
const std::string kTogether = "(conv ?x (concat ?w ?v axis=0) strides=?s pads=?p)";
const std::string kApart =
    "(concat (conv ?x ?w strides=?s pads=?p) (conv ?x ?v strides=?s pads=?p) axis=1)";

TEST(Reversible, OneDirectionAloneIsDirected) {
  Rule forward = verified("k " + kTogether + " <=> " + kApart + " for x:nnnn w:nnnn v:nnnn");
  EXPECT_FALSE(forward.both);
  EXPECT_EQ(forward.name, "k");
  EXPECT_EQ(forward.verdict.kind, VerdictKind::ProvedAllSizes);
  Rule turned = verified("k " + kApart + " <=> " + kTogether + " for x:nnnn w:nnnn v:nnnn");
  EXPECT_EQ(to_string(turned), to_string(forward));
}

TEST(Reversible, KeepsTheSignaturesOfBothDirections) {
  for (const std::string& sides : {kTogether + " <=> " + kApart, kApart + " <=> " + kTogether}) {
    Rule r = verified("k " + sides + " for x:nnnn w:nn11 v:nn11 | x:nnnn w:nnnn v:nnnn");
    EXPECT_TRUE(r.both);
    EXPECT_EQ(r.domain, (std::vector<Signature>{{"nnnn", "nn11", "nn11"}}));
  }
}

TEST(Reversible, AJoinedRuleKeepsTheSignaturesOfBoth) {
  std::vector<Rule> rules = {
      *parse_rule("k " + kTogether + " => " + kApart),
      *parse_rule("l (concat (conv ?a ?b strides=?t pads=?p) (conv ?a ?c strides=?t pads=?p) "
                  "axis=1) => (conv ?a (concat ?b ?c axis=0) strides=?t pads=?p) "
                  "for a:nnnn b:nn11 c:nn11")};
  Stop stop;
  VerifyReport report = verify_rules(rules, quick(), stop);
  ASSERT_EQ(report.rules.size(), 1u);
  const Rule& r = report.rules[0];
  EXPECT_TRUE(r.both);
  Signature ones = {"nnnn", "nn11", "nn11"}, open = {"nnnn", "nnnn", "nnnn"};
  EXPECT_EQ(std::count(r.domain.begin(), r.domain.end(), ones), 1);
  EXPECT_EQ(std::count(r.domain.begin(), r.domain.end(), open), 0);
}

TEST(Reversible, FalseInBothDirectionsIsRefuted) {
  Rule r = verified("k (relu (add ?a ?b)) <=> (add (relu ?a) (relu ?b)) for a:nn b:nn");
  EXPECT_EQ(r.verdict.kind, VerdictKind::Refuted);
  EXPECT_FALSE(r.verdict.detail.empty());
}

TEST(Reversible, ARuleAndItsReverseAreOne) {
  std::vector<Rule> rules;
  for (const char* line : {"a (neg (relu (neg ?x))) => (neg (relu (neg (neg (neg ?x)))))",
                           "b (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))",
                           "c (matmul ?x (matmul ?y ?z)) => (matmul (matmul ?x ?y) ?z)",
                           "d (matmul (matmul ?p ?q) ?r) <=> (matmul ?p (matmul ?q ?r))",
                           "e (matmul (matmul ?p ?q) ?r) => (matmul ?p (matmul ?q ?r))"})
    rules.push_back(*parse_rule(line));
  Stop stop;
  VerifyReport report = verify_rules(rules, quick(), stop);
  EXPECT_EQ(report.counters.joined, 1u);
  EXPECT_EQ(report.counters.duplicates, 2u);
  EXPECT_EQ(report.counters.reversible, 1u);
  ASSERT_EQ(report.rules.size(), 2u);
  EXPECT_EQ(report.rules[1].name, "b");
  EXPECT_TRUE(report.rules[1].both);
}

TEST(Rules, TheAnswerDoesNotDependOnThreads) {
  std::vector<Rule> rules = corpus("invalid");
  rules.push_back(*parse_rule("t (transpose (transpose ?x perm=1,0) perm=1,0) => ?x"));
  VerifyOptions one = quick(), two = quick();
  one.threads = 1;
  two.threads = 2;
  Stop stop;
  VerifyReport a = verify_rules(rules, one, stop), b = verify_rules(rules, two, stop);
  ASSERT_EQ(a.rules.size(), b.rules.size());
  for (size_t k = 0; k < a.rules.size(); ++k)
    EXPECT_EQ(to_string(a.rules[k]), to_string(b.rules[k]));
}

TEST(Rules, VerdictsInTheInputAreIgnored) {
  auto claimed = parse_rule("r (matmul ?a ?b) => (matmul ?b ?a)  for a:nn b:nn  proved:all-sizes");
  ASSERT_TRUE(claimed);
  EXPECT_EQ(verify_rule(*claimed, quick()).verdict.kind, VerdictKind::Refuted);
}

/// One random edit of the right side: operands swapped, an attribute moved, another operator,
/// another variable.
bool mutate(Rule& r, Rng& rng) {
  if (r.rhs.nodes.empty()) return false;
  PatternNode& n = r.rhs.nodes[rng.below(r.rhs.nodes.size())];
  switch (rng.below(4)) {
    case 0:
      if (n.inputs.size() < 2) return false;
      std::swap(n.inputs[0], n.inputs[1]);
      return true;
    case 1: {
      if (n.attrs.ints.empty()) return false;
      auto& list = n.attrs.ints[rng.below(n.attrs.ints.size())];
      if (list.empty()) return false;
      Poly& p = list[rng.below(list.size())];
      p = p + Poly(rng.below(2) ? 1 : -1);
      return true;
    }
    case 2: {
      auto ops = all_ops();
      const OpDef* other = ops[rng.below(ops.size())];
      bool alike = other != n.op && other->ints.size() == n.op->ints.size() &&
                   other->reals.size() == n.op->reals.size() &&
                   static_cast<int>(n.inputs.size()) >= other->min_arity &&
                   static_cast<int>(n.inputs.size()) <= other->max_arity;
      if (alike) n.op = other;
      return alike;
    }
    default:
      if (n.inputs.empty() || r.variables.size() < 2) return false;
      n.inputs[rng.below(n.inputs.size())] =
          variable_ref(static_cast<int>(rng.below(r.variables.size())));
      return true;
  }
}

/// What numbers refute may not be proved: both are asked of the same instance.
TEST(Rules, NoMutantIsProvedThatNumbersRefute) {
  std::vector<Rule> rules = corpus("valid");
  Rng rng(2024);
  int made = 0, refuted = 0, proved = 0, unknown = 0;
  for (int tries = 0; tries < 20'000 && made < 500; ++tries) {
    std::vector<Rule> forms = directions(rules[rng.below(rules.size())]);
    Rule r = forms[rng.below(forms.size())];
    if (!mutate(r, rng) || !validate(r)) continue;
    Signature signature(r.variables.size(), rng.below(2) ? "nn" : "nnnn");
    if (!r.domain.empty()) signature = r.domain[rng.below(r.domain.size())];
    auto instance = instantiate(r, signature);
    if (!instance) continue;
    auto sizes = sample_sizes(*instance, rng.next(), 6);
    if (sizes.empty()) continue;
    ++made;
    bool wrong = check_numbers(*instance, sizes, rng.next()).counterexample.has_value();
    Limits limits;
    limits.solver_work = 1'500'000;
    bool claimed = SymbolicProver(limits).prove(*instance).kind == VerdictKind::ProvedAllSizes;
    EXPECT_FALSE(wrong && claimed) << to_string(r);
    refuted += wrong;
    proved += claimed;
    unknown += !wrong && !claimed;
  }
  std::printf("mutants: %d made, %d refuted, %d still true and proved, %d neither\n", made, refuted,
              proved, unknown);
  EXPECT_GE(made, 300);
  EXPECT_GT(refuted, 100);
  EXPECT_GT(proved, 10);
}

}  // namespace
}  // namespace regraft::verify
