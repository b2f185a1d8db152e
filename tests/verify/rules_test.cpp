// The corpus of true, false and open rules.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "ir/rule/family.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"
#include "verify/distinct.h"
#include "verify/prove/prover.h"
#include "verify/refute/refute.h"
#include "verify/refute/sampling.h"
#include "verify/signatures.h"
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
      static_cast<unsigned long long>(c.instances), static_cast<unsigned long long>(c.solver.asked),
      static_cast<unsigned long long>(c.solver.linear + c.solver.nonlinear), c.seconds,
      c.cpu_seconds);
}

TEST(Rules, TrueOnesAreProvedForAllSizes) {
  std::vector<Rule> rules = corpus("valid");
  ASSERT_GE(rules.size(), 110u);
  Stop stop;
  VerifyReport report = verify_rules(rules, quick(), stop);
  print("true", report.counters);
  EXPECT_EQ(report.counters.disagreements, 0u);
  for (const Rule& r : report.rules) {
    EXPECT_TRUE(is_for_all_sizes(r.verdict.kind)) << r.name << ": " << r.verdict.detail;
    EXPECT_FALSE(r.domain.empty()) << r.name;
  }
}

TEST(Rules, FalseOnesAreRefuted) {
  std::vector<Rule> rules = corpus("invalid");
  ASSERT_GE(rules.size(), 250u);
  Stop stop;
  VerifyReport report = verify_rules(rules, quick(), stop);
  print("false", report.counters);
  for (const Rule& r : report.rules)
    EXPECT_EQ(r.verdict.kind, VerdictKind::Refuted) << r.name << ": " << r.verdict.detail;
}

/// Numbers refute a false rule before anyone tries to prove it. Here the prover is asked where they
/// do; numbers that agree at a signature say nothing, as the rule may hold there.
TEST(Rules, TheProverAloneProvesNoFalseOne) {
  int asked = 0;
  for (const Rule& rule : corpus("invalid")) {
    if (is_family(rule)) continue;
    for (const Candidate& c : candidate_signatures(rule, 4)) {
      auto check =
          check_numbers(c.instance, sample_sizes(c.instance, 7, 6), 7, Counterexamples::Any);
      if (!check.counterexample) continue;
      ++asked;
      EXPECT_EQ(SymbolicProver().prove(c.instance).kind, VerdictKind::Unknown) << rule.name;
    }
  }
  EXPECT_GE(asked, 400);
}

/// True rules that today's prover does not show: what is Unknown must be neither proved (it would
/// move to `valid`) nor refuted.
TEST(Rules, OpenOnesAreUnknown) {
  std::vector<Rule> rules = corpus("unknown");
  ASSERT_GE(rules.size(), 6u);
  Stop stop;
  VerifyReport report = verify_rules(rules, quick(), stop);
  print("open", report.counters);
  for (const Rule& r : report.rules) {
    EXPECT_FALSE(is_for_all_sizes(r.verdict.kind)) << r.name << " is proved now";
    EXPECT_NE(r.verdict.kind, VerdictKind::Refuted) << r.name << ": " << r.verdict.detail;
  }
}

/// Candidates are tried at the usual signatures as well; what is said to be proved is proved where
/// it says so, or not at all.
TEST(Rules, WhatIsSaidToBeProvedIsNotWidened) {
  Rule rule = *parse_rule("r (relu (relu ?x)) => (relu ?x)  for x:nn");
  EXPECT_GT(verify_rule(rule, quick()).domain.size(), 1u);
  rule.verdict.kind = VerdictKind::ProvedAllSizes;
  Rule again = verify_rule(rule, quick());
  EXPECT_EQ(again.verdict.kind, VerdictKind::ProvedAllSizes);
  EXPECT_EQ(again.domain, rule.domain);
  Rule wrong = *parse_rule("r (relu (neg ?x)) => (relu ?x)  for x:nn");
  wrong.verdict.kind = VerdictKind::ProvedAllSizes;
  EXPECT_EQ(verify_rule(wrong, quick()).verdict.kind, VerdictKind::Refuted);
}

/// What each candidate has become can be told.
TEST(Rules, EveryCandidateHasItsPlace) {
  std::vector<Rule> rules;
  for (const char* line : {"a (relu (relu ?x)) => (relu ?x)", "b (relu (relu ?y)) => (relu ?y)",
                           "c (add ?a ?b) => (add ?b ?a)", "d (neg (neg ?x)) => ?x"})
    rules.push_back(*parse_rule(line));
  Stop stop;
  VerifyReport report = verify_rules(rules, quick(), stop);
  ASSERT_EQ(report.places.size(), 4u);
  EXPECT_EQ(report.places[0], report.places[1]);
  EXPECT_FALSE(report.places[2].has_value());
  EXPECT_EQ(report.findings.at(*report.places[3]).rule.name, "d");
}

/// Equal sides at other signatures are another claim.
TEST(Rules, ACandidateIsTheSameOnlyAtTheSameSignatures) {
  const std::string sides = "(softmax (sub ?a ?b) axis=-1) => (softmax ?a axis=-1)";
  const std::string holds = "holds " + sides + "  for a:nn b:n1";
  const std::string fails = "fails " + sides + "  for a:nn b:1n";
  for (bool turned : {false, true}) {
    std::vector<Rule> rules = {*parse_rule(turned ? fails : holds),
                               *parse_rule(turned ? holds : fails)};
    Stop stop;
    VerifyReport report = verify_rules(rules, quick(), stop);
    EXPECT_EQ(report.counters.duplicates, 0u);
    EXPECT_EQ(report.findings.at(*report.places[turned]).rule.verdict.kind,
              VerdictKind::ProvedAllSizes);
    EXPECT_EQ(report.findings.at(*report.places[!turned]).rule.verdict.kind, VerdictKind::Refuted);
  }
}

/// ... nor under other conditions, nor in the other direction; the order of signatures and names
/// say nothing.
TEST(Rules, ACandidateIsTheSameUpToNamesAndOrderOnly) {
  auto duplicates = [](const std::string& a, const std::string& b) {
    std::vector<Rule> rules = {*parse_rule("a " + a), *parse_rule("b " + b)};
    return distinct_rules(rules).duplicates;
  };
  const std::string r = "(relu (add ?a ?b)) => (add (relu ?a) ?b)";
  EXPECT_EQ(duplicates(r + " for a:nn b:n1 | a:n b:n",
                       "(relu (add ?x ?y)) => (add ?y (relu ?x)) "
                       "for x:n y:n | x:nn y:n1"),
            1u);
  EXPECT_EQ(duplicates(r + " for a:nn b:n1", r + " for a:n1 b:nn"), 0u);
  EXPECT_EQ(duplicates(r + " for a:nn b:n1", r), 0u);
  EXPECT_EQ(duplicates(r + " for a:nn b:n1", r + " for a:nn b:n1 | a:nn b:nn"), 0u);
  EXPECT_EQ(duplicates(r + " where a.0=b.0 for a:nn b:nn", r + " for a:nn b:nn"), 0u);
  EXPECT_EQ(duplicates(r + " where a.0=b.0 for a:nn b:nn", r + " where a.1=b.1 for a:nn b:nn"), 0u);
  const std::string back = "(add (relu ?a) ?b) => (relu (add ?a ?b))";
  EXPECT_EQ(duplicates(r + " for a:nn b:nn", back + " for a:nn b:nn"), 0u);
  const std::string both = "(relu (add ?a ?b)) <=> (add (relu ?a) ?b) for a:nn b:n1";
  EXPECT_EQ(duplicates(both, "(add ?y (relu ?x)) <=> (relu (add ?x ?y)) for y:n1 x:nn"), 1u);
  EXPECT_EQ(duplicates(both, r + " for a:nn b:n1"), 0u);
}

/// A false direction does not take the verdict of the true one.
TEST(Rules, EachDirectionHasItsOwnVerdict) {
  const std::string one = "(mul (sqrt ?a) (sqrt ?b))", other = "(sqrt (mul ?a ?b))";
  for (const std::string arrow : {" => ", " <=> "}) {
    std::vector<Rule> rules = {*parse_rule("f " + one + arrow + other + " for a:nn b:nn"),
                               *parse_rule("g " + other + " => " + one + " for a:nn b:nn")};
    Stop stop;
    VerifyReport report = verify_rules(rules, quick(), stop);
    const Rule &f = report.findings.at(*report.places[0]).rule,
               &g = report.findings.at(*report.places[1]).rule;
    EXPECT_EQ(f.verdict.kind, VerdictKind::ProvedAllSizes);
    EXPECT_FALSE(f.both);
    EXPECT_EQ(g.verdict.kind, VerdictKind::Refuted) << to_string(g);
    EXPECT_EQ(report.rules.size(), 2u);
  }
}

/// Real attributes are part of a counterexample, as they are.
TEST(Rules, ACounterexampleKeepsRealAttributes) {
  Finding f = examine(*parse_rule("r (mul ?x (full shape=1 value=?e)) => (neg (neg ?x))  for x:n"),
                      quick());
  ASSERT_TRUE(f.counterexample);
  Counterexample c = *f.counterexample;
  ASSERT_EQ(c.reals.count("e"), 1u);
  EXPECT_NE(c.reals["e"], 1);
  EXPECT_EQ(c.sizes.count("e"), 0u);
  EXPECT_NE(f.refutation.find(" e="), std::string::npos) << f.refutation;
  auto again = replay(f.refuted, c);
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->difference);
  EXPECT_EQ(again->difference->left, c.difference.left);
  c.reals["e"] = 1;
  again = replay(f.refuted, c);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->difference);
}

/// A store is asked first, and gets what was judged; a stopped run leaves the rest unknown and
/// keeps nothing of it.
TEST(Rules, TheStoreSavesWork) {
  std::vector<Rule> rules = {*parse_rule("a (relu (relu ?x)) => (relu ?x)"),
                             *parse_rule("b (neg (neg ?x)) => ?x")};
  std::map<std::string, Finding> kept;
  std::mutex mutex;
  size_t asked = 0;
  VerdictStore store{[&](const Rule& r) -> std::optional<Finding> {
                       std::lock_guard lock(mutex);
                       ++asked;
                       auto it = kept.find(to_string(r));
                       if (it == kept.end()) return std::nullopt;
                       return it->second;
                     },
                     [&](const Rule& r, const Finding& f) {
                       std::lock_guard lock(mutex);
                       kept[to_string(r)] = f;
                     }};
  Stop stopped;
  stopped.request();
  VerifyReport none = verify_rules(rules, quick(), stopped, store);
  EXPECT_TRUE(none.interrupted);
  EXPECT_TRUE(kept.empty());
  EXPECT_EQ(none.rules[0].verdict.kind, VerdictKind::Unknown);
  EXPECT_EQ(none.rules[0].verdict.detail, "interrupted");
  Stop stop;
  VerifyReport first = verify_rules(rules, quick(), stop, store);
  EXPECT_EQ(kept.size(), 2u);
  kept.begin()->second.rule.name = "from-the-store";
  VerifyReport second = verify_rules(rules, quick(), stop, store);
  EXPECT_EQ(asked, 6u);
  EXPECT_EQ(second.rules[0].name, "from-the-store");
  EXPECT_EQ(to_string(second.rules[1]), to_string(first.rules[1]));
}

TEST(Rules, OutOfTimeIsInterrupted) {
  std::vector<Rule> rules = corpus("valid");
  Stop stop(1e-9);
  VerifyReport report = verify_rules(rules, quick(), stop);
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(report.counters.unknown, report.rules.size());
}

/// Two strided convolutions with open pads: bounds of its sizes bound each other without end. Each
/// run of the solver is ended by its count, none by the clock, which would take 20 s.
TEST(Rules, WhatHasBoundsOfBoundsIsDecidedByCountedWork) {
  auto rule = parse_rule(
      "r (conv (conv ?a ?b strides=c.2,c.3 pads=?p1,1,?p3,?p4 dilations=?d group=?g) ?c "
      "strides=2,2 dilations=?dd group=?gg) => (conv (conv ?a ?b strides=2,2 "
      "pads=?p1,1,?p3,?p4 dilations=?d group=?g) ?c strides=c.2,c.3 dilations=?dd group=?gg)");
  ASSERT_TRUE(rule);
  VerifyOptions o = quick();
  o.kernel = false;
  Finding f = examine(*rule, o);
  EXPECT_TRUE(is_for_all_sizes(f.rule.verdict.kind)) << f.rule.verdict.detail;
  EXPECT_EQ(f.counters.solver.undecided, 0u);
  EXPECT_LT(f.milliseconds, 15'000);
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

// Values that are equal are so from right to left as well.
TEST(Reversible, TheSecondDirectionAsksForLess) {
  auto instance =
      instantiate(*parse_rule("m (matmul ?a (matmul ?b ?c)) => (matmul (matmul ?a ?b) ?c)"),
                  {"nn", "nn", "nn"});
  ASSERT_TRUE(instance);
  SymbolicProver first, second;
  EXPECT_EQ(first.prove(*instance).kind, VerdictKind::ProvedSolver);
  EXPECT_EQ(second.prove(*instance, Values::Equal).kind, VerdictKind::ProvedSolver);
  EXPECT_LT(second.stats().asked, first.stats().asked);
}

// Where the values are said to be equal, sizes and what is not defined everywhere are still judged.
TEST(Reversible, EqualValuesAreNotAllOfAProof) {
  auto proved = [](const std::string& rule, const Signature& s) {
    auto instance = instantiate(*parse_rule("r " + rule), s);
    EXPECT_TRUE(instance);
    return is_for_all_sizes(SymbolicProver().prove(*instance, Values::Equal).kind);
  };
  EXPECT_TRUE(proved("(add ?x ?y) => (mul ?x ?y)", {"nn", "nn"}));
  EXPECT_FALSE(proved("(add ?x ?y) => (relu ?x)", {"1n", "nn"}));
  EXPECT_FALSE(proved("(concat ?x ?y axis=0) => (concat ?x ?y axis=1)", {"nn", "nn"}));
  EXPECT_FALSE(proved("(mul ?x ?y) => (div ?x ?y)", {"nn", "nn"}));
  EXPECT_FALSE(proved("(neg (neg ?x)) => (sqrt ?x)", {"nn"}));
}

TEST(Reversible, KeepsTheSignaturesOfBothDirections) {
  for (const std::string& sides : {kTogether + " <=> " + kApart, kApart + " <=> " + kTogether}) {
    Rule r = verified("k " + sides + " for x:nnnn w:nn11 v:nn11 | x:nnnn w:nnnn v:nnnn");
    EXPECT_TRUE(r.both);
    EXPECT_EQ(r.domain, (std::vector<Signature>{{"nnnn", "nn11", "nn11"}}));
  }
}

TEST(Reversible, DirectionsProvedAtOtherSignaturesStayApart) {
  std::vector<Rule> rules = {
      *parse_rule("k " + kTogether + " => " + kApart),
      *parse_rule("l (concat (conv ?a ?b strides=?t pads=?p) (conv ?a ?c strides=?t pads=?p) "
                  "axis=1) => (conv ?a (concat ?b ?c axis=0) strides=?t pads=?p) "
                  "for a:nnnn b:nn11 c:nn11")};
  Stop stop;
  VerifyReport report = verify_rules(rules, quick(), stop);
  ASSERT_EQ(report.rules.size(), 2u);
  Signature ones = {"nnnn", "nn11", "nn11"}, open = {"nnnn", "nnnn", "nnnn"};
  auto has = [&](const Rule& r, const Signature& s) {
    return std::count(r.domain.begin(), r.domain.end(), s) == 1;
  };
  EXPECT_FALSE(report.rules[0].both);
  EXPECT_TRUE(has(report.rules[0], open));
  EXPECT_FALSE(report.rules[1].both);
  EXPECT_TRUE(has(report.rules[1], ones));
  EXPECT_FALSE(has(report.rules[1], open));
}

/// A condition that was found for one direction does not stand for the signatures of the other.
TEST(Reversible, EverySignatureIsProvedUnderTheConditionsThatStandThere) {
  for (const char* line :
       {"r (reshape (reshape ?a shape=a.-1*a.-2) shape=?s1,?s2) <=> (reshape ?a shape=?s1,?s2)",
        "g (gemm (softmax ?b axis=-1) (add ?c ?d) ?d transA=0 transB=0 alpha=?a) <=> (add ?d (gemm "
        "(softmax ?b axis=-1) ?c ?d transA=0 transB=0 alpha=?a beta=?a))  for b:nn c:nn d:n"}) {
    VerifyOptions o;
    o.verbosity = Verbosity::Quiet;
    o.conditions = Conditions::Found;
    Rule found = verify_rule(*parse_rule(line), o);
    ASSERT_TRUE(found.both) << line;
    for (const Rule& d : directions(found))
      for (const Signature& s : d.domain) {
        auto instance = instantiate(d, s);
        ASSERT_TRUE(instance) << to_string(d);
        Verdict v = SymbolicProver().prove(*instance);
        EXPECT_TRUE(is_for_all_sizes(v.kind)) << to_string(d) << ": " << v.detail;
      }
  }
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
  EXPECT_EQ(report.counters.joined, 2u);
  EXPECT_EQ(report.counters.duplicates, 1u);
  EXPECT_EQ(report.counters.reversible, 1u);
  ASSERT_EQ(report.rules.size(), 2u);
  EXPECT_EQ(report.rules[1].name, "b");
  EXPECT_TRUE(report.rules[1].both);
}

TEST(Rules, TheAnswerDoesNotDependOnThreads) {
  std::vector<Rule> rules = corpus("invalid");
  rules.push_back(*parse_rule("t (transpose (transpose ?x perm=1,0) perm=1,0) => ?x"));
  for (Rule& r : corpus("valid"))
    if (rules.size() < 45) rules.push_back(std::move(r));
  VerifyOptions options = quick();
  options.conditions = Conditions::Found;
  options.signatures = 3;
  Stop stop;
  std::vector<VerifyReport> reports;
  for (int threads : {1, 2, 4}) {
    options.threads = threads;
    reports.push_back(verify_rules(rules, options, stop));
  }
  for (const VerifyReport& r : reports) {
    ASSERT_EQ(r.rules.size(), reports[0].rules.size());
    EXPECT_EQ(r.places, reports[0].places);
    EXPECT_EQ(r.counters.proofs, reports[0].counters.proofs);
    EXPECT_EQ(r.counters.solver.work, reports[0].counters.solver.work);
    for (size_t k = 0; k < r.rules.size(); ++k) {
      EXPECT_EQ(to_string(r.rules[k]), to_string(reports[0].rules[k]));
      EXPECT_EQ(r.findings[k].refutation, reports[0].findings[k].refutation);
    }
  }
}

// What a proved signature covers is no reason to look at no others.
TEST(Rules, ACoveredSignatureLeavesTheDomainOpenToOthers) {
  auto domain = [](const std::string& signatures) {
    return verify_rule(*parse_rule("r (relu (relu ?a)) => (relu ?a)  for " + signatures), quick())
        .domain;
  };
  EXPECT_GT(domain("a:nnnn").size(), 1u);
  EXPECT_EQ(domain("a:nnnn | a:1nnn"), domain("a:nnnn"));
}

/// A concatenation with a matrix has two axes.
TEST(Rules, AFamilyEndsWhereNoMemberHasAForm) {
  Rule rule = verify_rule(
      *parse_rule(
          "r (concat (transpose ?a perm=?p) (identity-matrix size=a.?k) axis=?k) => "
          "(transpose (concat ?a (identity-matrix size=a.?k) axis=?p[?k]) perm=?p) for a:..4"),
      quick());
  EXPECT_TRUE(is_for_all_sizes(rule.verdict.kind)) << rule.verdict.detail;
  EXPECT_EQ(rule.domain, (std::vector<Signature>{{"..2"}}));
}

TEST(Rules, VerdictsInTheInputAreIgnored) {
  auto claimed = parse_rule("r (matmul ?a ?b) => (matmul ?b ?a)  for a:nn b:nn  proved:all-sizes");
  ASSERT_TRUE(claimed);
  EXPECT_EQ(verify_rule(*claimed, quick()).verdict.kind, VerdictKind::Refuted);
}

}  // namespace
}  // namespace regraft::verify
