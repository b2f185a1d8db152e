// The whole stage: known rules are found, false ones are not, seeds and threads do not matter.
#include "gen/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gen/derive/derive.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

GenerateReport run(const std::string& ops, int size, uint64_t seed = 7, int threads = 1) {
  Stop stop;
  GenerateOptions options;
  options.ops = ops;
  options.max_size = size;
  options.seed = seed;
  options.threads = threads;
  options.verbosity = Verbosity::Quiet;
  auto report = generate(options, stop);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? *std::move(report) : GenerateReport{};
}

std::vector<std::string> texts(const GenerateReport& r) {
  std::vector<std::string> lines;
  for (const Rule& rule : r.candidates) lines.push_back(to_string(rule));
  return lines;
}

/// The rule, read in either direction, follows from what was found.
bool follows(const Deriver& found, const std::string& text) {
  auto wanted = parse_rule("wanted  " + text);
  EXPECT_TRUE(wanted) << text << ": " << (wanted ? "" : wanted.error().message);
  return wanted && found.derive(*wanted).derived;
}

const GenerateReport& core3() {
  static const GenerateReport report = run("basic", 3, 7, 2);
  return report;
}

TEST(Generate, CandidatesAreValidAndSurviveText) {
  for (const Rule& rule : core3().candidates) {
    EXPECT_TRUE(validate(rule)) << to_string(rule);
    EXPECT_EQ(rule.verdict.kind, VerdictKind::Unknown);
    auto again = parse_rule(to_string(rule));
    ASSERT_TRUE(again) << to_string(rule) << ": " << again.error().message;
    EXPECT_EQ(to_string(*again), to_string(rule));
    EXPECT_EQ(canonical_key(*again), canonical_key(rule));
  }
}

TEST(Generate, NamesAndRulesAreDistinct) {
  std::vector<std::string> names, keys;
  for (const Rule& rule : core3().candidates) {
    names.push_back(rule.name);
    keys.push_back(canonical_key(rule));
  }
  for (auto* list : {&names, &keys}) {
    std::sort(list->begin(), list->end());
    EXPECT_EQ(std::adjacent_find(list->begin(), list->end()), list->end());
  }
}

TEST(Generate, GrammarsEndWhereTheySay) {
  auto three = run("core/norm-variance", 3), four = run("core/norm-variance", 4);
  EXPECT_GT(three.candidates.size(), run("core/norm-variance", 2).candidates.size());
  EXPECT_EQ(texts(three), texts(four));
  EXPECT_EQ(three.applications, four.applications);
}

TEST(Generate, FindsByDoublesWhatResiduesDoNotKnow) {
  const Deriver logarithms(run("numbers/softmax-logarithms", 2).candidates);
  EXPECT_TRUE(follows(logarithms, "(log (softmax ?a axis=-1)) => (log-softmax ?a axis=-1)"));
  EXPECT_TRUE(follows(logarithms, "(exp (log-softmax ?a axis=-1)) => (softmax ?a axis=-1)"));
  EXPECT_FALSE(follows(logarithms, "(log (softmax ?a axis=-1)) => (softmax ?a axis=-1)"));
  const Deriver powers(run("numbers/real-powers", 2).candidates);
  EXPECT_TRUE(follows(powers, "(pow ?a (full value=0.5)) => (sqrt ?a)"));
  EXPECT_FALSE(follows(powers, "(pow ?a (full value=-0.5)) => (sqrt ?a)"));
  const Deriver sixths(run("numbers/sixths", 2).candidates);
  EXPECT_TRUE(follows(sixths, "(mul ?a (hard-sigmoid ?a alpha=1/6 beta=0.5)) => (hard-swish ?a)"));
  EXPECT_FALSE(follows(sixths, "(mul ?a (hard-sigmoid ?a alpha=1/5 beta=0.5)) => (hard-swish ?a)"));
}

TEST(Generate, FindsTheFactsOfMatrices) {
  const Deriver found(core3().candidates);
  for (const char* text : {
           "(matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))",
           "(add (matmul ?a ?b) (matmul ?a ?c)) => (matmul ?a (add ?b ?c))",
           "(add (matmul ?a ?b) (matmul ?c ?b)) => (matmul (add ?a ?c) ?b)",
           "(mul ?a (add ?b ?c)) => (add (mul ?a ?b) (mul ?a ?c))",
           "(concat (matmul ?a ?b) (matmul ?a ?c) axis=-1) => (matmul ?a (concat ?b ?c axis=-1))",
           "(matmul ?a (identity-matrix size=?s1)) => ?a",
           "(transpose (transpose ?a perm=1,0) perm=1,0) => ?a",
           "(transpose (concat ?a ?b axis=-1) perm=1,0) => (concat (transpose ?a perm=1,0) "
           "(transpose ?b perm=1,0) axis=-2)",
           "(concat (relu ?a) (relu ?b) axis=-1) => (relu (concat ?a ?b axis=-1))",
           "(add (matmul ?a ?b) (matmul ?c ?d)) => (matmul (concat ?a ?c axis=-1) (concat ?b ?d "
           "axis=-2))",
           "(matmul ?a ?b) ; (matmul ?a ?c) => (split (matmul ?a (concat ?b ?c axis=-1)) axis=-1 "
           "sizes=b.-1,c.-1) ; "
           "(split (matmul ?a (concat ?b ?c axis=-1)) axis=-1 sizes=b.-1,c.-1)#1",
       })
    EXPECT_TRUE(follows(found, text)) << text;
}

TEST(Generate, FindsTheFactsOfConvolutions) {
  const Deriver found(core3().candidates);
  const std::string open = " strides=?s pads=?p dilations=?d group=?g)";
  const std::string equal_kernels = " where b.2=c.2,b.3=c.3";
  const std::string dense = " strides=?s pads=?p dilations=?d group=1)";
  for (const std::string& text : std::vector<std::string>{
           "(conv ?a (add ?b ?c)" + open + " => (add (conv ?a ?b" + open + " (conv ?a ?c" + open +
               ")",
           "(conv (add ?a ?b) ?c" + open + " => (add (conv ?a ?c" + open + " (conv ?b ?c" + open +
               ")",
           "(mul ?a (conv ?b ?c" + open + ") => (conv ?b (mul ?a ?c)" + open +
               "  for a:- b:nnnn c:nnnn",
           "(concat (conv ?a ?b" + dense + " (conv ?a ?c" + dense +
               " axis=1) => (conv ?a (concat ?b ?c axis=0)" + dense + equal_kernels,
           "(conv ?a ?b" + dense + " ; (conv ?a ?c" + dense +
               " => (split (conv ?a (concat ?b ?c axis=0)" + dense +
               " axis=1 sizes=b.0,c.0) ; (split (conv ?a (concat ?b ?c axis=0)" + dense +
               " axis=1 sizes=b.0,c.0)#1" + equal_kernels,
           "(conv ?a ?b strides=?s pads=?p,?q,?r,?t group=?g) => (conv ?a (pad ?b "
           "pads=0,0,1,1,0,0,1,1) strides=?s pads=?p+1,?q+1,?r+1,?t+1 group=?g)  for a:nnnn b:nn11",
           "(avgpool ?a kernel=?k strides=?s pads=?p dilations=?d include_pad=1) => "
           "(conv ?a (average-kernel channels=a.1 kernel=?k) strides=?s pads=?p dilations=?d "
           "group=a.1)",
           "(maxpool (concat ?a ?b axis=1) kernel=?k strides=?s pads=?p dilations=?d) => (concat "
           "(maxpool ?a kernel=?k strides=?s pads=?p dilations=?d) (maxpool ?b kernel=?k "
           "strides=?s pads=?p dilations=?d) axis=1)",
       })
    EXPECT_TRUE(follows(found, text)) << text;
}

/// Convolutions of sums of images of one shape, and of images and what is the same everywhere.
TEST(Generate, WhatIsBroadcastIsFoundBesideWhatIsNot) {
  const Instance add = {"add", "", {"ab34", "ab34"}};
  const Instance conv = {
      "conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {".a34", ".a33"}};
  const Instance pointwise = {
      "conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a..", ".a11"}};
  OpSet set{
      "sums",
      {{"images", {{"x", {1, 2, 3, 4}, 2}, {"k", {2, 2, 3, 3}, 1, Role::Kernel}}, {conv, add}},
       {"shifts",
        {{"x", {2, 3, 3, 4}}, {"c", {1, 3, 1, 1}}, {"p", {5, 3, 1, 1}, 1, Role::Kernel}},
        {pointwise, {"add", "", {"2b34", "1b11"}}}}}};
  Stop stop;
  GenerateOptions options;
  options.verbosity = Verbosity::Quiet;
  auto report = generate(set, options, stop);
  ASSERT_TRUE(report);
  EXPECT_TRUE(follows(Deriver(report->candidates),
                      "(conv (add ?x ?y) ?k pads=1,1,1,1) => (add (conv ?x ?k pads=1,1,1,1) (conv "
                      "?y ?k pads=1,1,1,1)) for x:nnnn y:nnnn k:nnnn"));
  EXPECT_TRUE(
      follows(Deriver(report->candidates),
              "(conv (add ?x ?c) ?p) => (add (conv ?x ?p) (conv ?c ?p)) for x:nnnn c:1n11 p:nn11"));
}

TEST(Generate, CountersAddUp) {
  const GenerateReport& r = core3();
  const DistilCounts& d = r.distilled;
  EXPECT_GE(r.candidates.size(), 50u);
  EXPECT_GT(d.renamed, 0u);
  EXPECT_GT(d.renaming, 0u);
  EXPECT_GT(d.common, 0u);
  EXPECT_GT(d.generalised, 0u);
  EXPECT_GT(r.removed_derivable, 0u);
  EXPECT_EQ(d.pairs, d.renamed + d.followers + d.alias + d.renaming + d.common + d.derivable +
                         d.chance + d.constants + d.other_shapes + d.generalised);
  EXPECT_EQ(r.ended, Ended::Complete);
}

// What each stage removed follows from what is left.
TEST(Generate, RandomPairsFollowFromTheCandidates) {
  Stop never;
  for (const char* ops : {"matrix", "taso"}) {
    GenerateOptions options;
    options.ops = ops;
    options.audit = 150;
    options.verbosity = Verbosity::Quiet;
    auto report = generate(options, never);
    ASSERT_TRUE(report);
    const AuditCounts& a = report->audit;
    EXPECT_EQ(a.pairs, 150u);
    EXPECT_EQ(a.pairs, a.derived + a.derived_as_found + a.coincidences + a.open.size());
    EXPECT_GT(a.derived, 130u);
    EXPECT_LE(a.open.size(), 1u) << to_string(a.open[0]);  // a product of many scalars
  }
}

// The audit is no formality: without rules little follows.
TEST(Generate, AnAuditMissesWhatIsMissing) {
  Stop never;
  std::vector<Judged> grammars(1);
  Judged& t = grammars[0];
  const Grammar grammar = find_op_set("matrix")->grammars[0];
  t.ops = std::make_unique<ShapedOps>(grammar, 4, 3);
  ASSERT_TRUE(t.ops->load());
  t.bank = std::make_unique<Bank>(3);
  auto found = enumerate(*t.ops, {2, 3, 2, 0, Verbosity::Quiet}, *t.bank, never);
  ASSERT_TRUE(found);
  t.graph = std::move(found->graph);
  t.minimiser = std::make_unique<Minimiser>(*t.graph, *t.bank, 3, 1, [](const Finding&) {});
  AuditCounts a = audit(grammars, {}, 50, 3, 1, never);
  EXPECT_GT(a.pairs, 10u);
  EXPECT_LT(a.derived + a.derived_as_found, a.pairs / 4);
  EXPECT_GT(a.open.size(), a.pairs / 2);
}

TEST(Generate, ACheckpointBringsBackTheSameResult) {
  std::vector<Checkpoint> saved;
  GenerateOptions options;
  options.ops = "matrix";
  options.threads = 1;
  options.verbosity = Verbosity::Quiet;
  Stop never;
  auto whole = generate(options, never);
  ASSERT_TRUE(whole);
  Stop soon(0.4);
  options.save = [&](const Checkpoint& c) { saved.push_back(c); };
  auto part = generate(options, soon);
  ASSERT_TRUE(part);
  ASSERT_FALSE(saved.empty());
  options.resume = saved.back();
  options.resume.grammars[0].position = std::min<size_t>(options.resume.grammars[0].position, 900);
  auto rest = generate(options, never);
  ASSERT_TRUE(rest);
  EXPECT_EQ(texts(*rest), texts(*whole));
}

/// Each grammar is as far as before, or further.
bool has_grown(const Checkpoint& from, const Checkpoint& to) {
  for (size_t k = 0; k < from.grammars.size(); ++k)
    if (k >= to.grammars.size() || to.grammars[k].position < from.grammars[k].position)
      return false;
  return to.near.size() >= from.near.size() && to.far.size() >= from.far.size();
}

TEST(Generate, CheckpointsOnlyGrow) {
  GenerateOptions options;
  options.ops = "core";
  options.max_size = 1;
  options.threads = 1;
  options.verbosity = Verbosity::Quiet;
  Checkpoint known;
  options.save = [&](const Checkpoint& c) {
    EXPECT_TRUE(has_grown(known, c));
    known = c;
  };
  Stop never, at_once;
  at_once.request();
  auto whole = generate(options, never);
  ASSERT_TRUE(whole);
  ASSERT_GT(known.grammars.size(), 2u);
  EXPECT_FALSE(known.near.empty());
  options.resume = known;
  ASSERT_TRUE(generate(options, at_once));  // stopped before it was where it had been
  options.resume = known;
  auto again = generate(options, never);
  ASSERT_TRUE(again);
  EXPECT_EQ(texts(*again), texts(*whole));
}

TEST(Generate, WhatWasAnsweredIsNotAskedAgain) {
  GenerateOptions options;
  options.ops = "taso";
  options.max_size = 2;
  options.verbosity = Verbosity::Quiet;
  Stop never;
  Checkpoint known;
  options.save = [&](const Checkpoint& c) { known = c; };
  auto whole = generate(options, never);
  ASSERT_TRUE(whole && !known.near.empty());
  options.save = nullptr;
  // A false answer shows that it was used: no rule follows any more.
  options.resume = known;
  for (auto& [question, answer] : options.resume.near) answer = {};
  options.resume.domains.clear();
  auto other = generate(options, never);
  ASSERT_TRUE(other);
  EXPECT_GT(other->candidates.size(), whole->candidates.size());
  // The same of what was judged: most pairs are no rules any more.
  options.resume = known;
  for (auto& grammar : options.resume.grammars)
    for (JudgedGroup& g : grammar.judged)
      for (Verdict& v : g.verdicts) v.found.clear();
  auto none = generate(options, never);
  ASSERT_TRUE(none);
  EXPECT_NE(texts(*none), texts(*whole));
  // Where a verdict is missing, the pair is judged anew.
  options.resume = known;
  for (auto& grammar : options.resume.grammars)
    for (JudgedGroup& g : grammar.judged) g.verdicts.resize(g.verdicts.size() / 2);
  auto half = generate(options, never);
  ASSERT_TRUE(half);
  EXPECT_EQ(texts(*half), texts(*whole));
  // Numbers of rules that are not there are no answers.
  options.resume = known;
  for (auto& [question, answer] : options.resume.near) answer = {true, {1000000}};
  auto third = generate(options, never);
  ASSERT_TRUE(third);
  EXPECT_EQ(texts(*third), texts(*whole));
}

TEST(Generate, SeedsAndThreadsDoNotMatter) {
  auto first = texts(run("matrix", 3, 7, 1));
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(texts(run("matrix", 3, 7, 3)), first);
  for (uint64_t seed : {1u, 2u, 12345u}) EXPECT_EQ(texts(run("matrix", 3, seed, 1)), first) << seed;
  EXPECT_EQ(texts(run("basic", 2, 5, 2)), texts(run("basic", 2, 6, 1)));
}

/// As a set: which of several equal rules is kept depends on names.
std::set<std::string> sides(const GenerateReport& r) {
  std::set<std::string> found;
  for (const Rule& rule : r.candidates) found.insert(canonical_key(rule));
  return found;
}

TEST(Generate, ComparisonsDoNotDependOnSeeds) {
  auto first = sides(run("extended", 2, 7, 2));
  EXPECT_FALSE(first.empty());
  for (uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(sides(run("extended", 2, seed, 2)), first) << seed;
}

TEST(Generate, NothingIsExplainedByItself) {
  // relu(clip(clip x)) = clip(clip x) must not lead from clip x to clip(clip x): it is the larger
  // one of two ways to write relu(clip x), and known only once clip(clip x) = clip x is.
  auto rule = parse_rule(
      "wanted  (clip (clip ?a min=?m max=?n) min=?m max=?n) => (clip ?a min=?m max=?n)  for a:n");
  ASSERT_TRUE(rule) << rule.error().message;
  EXPECT_TRUE(sides(run("extended", 3, 7, 2)).count(canonical_key(*rule)));
}

TEST(Generate, WhatIsTrueAtTheWitnessOnlyIsDropped) {
  const OpSet set = {"coincidence",
                     {{"only",
                       {{"x", {3, 2}}},
                       {{"reduce-mean", "axes=-1 keepdims=1", {"32"}},
                        {"reduce-sum", "axes=-1 keepdims=1", {"32"}},
                        {"full", "shape= value=0.5", {}},
                        {"mul", "", {"31", "-"}}}}}};
  Stop stop;
  GenerateOptions options;
  options.verbosity = Verbosity::Quiet;
  auto report = generate(set, options, stop);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->distilled.pairs, 1u);
  EXPECT_EQ(report->distilled.other_shapes, 1u);
  EXPECT_TRUE(report->candidates.empty());
}

TEST(Generate, UnknownSetsAndStopsAreReported) {
  Stop stop;
  GenerateOptions options;
  options.ops = "no-such-set";
  options.verbosity = Verbosity::Quiet;
  auto unknown = generate(options, stop);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("no-such-set"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("basic"), std::string::npos);
  stop.request();
  options.ops = "basic";
  auto stopped = generate(options, stop);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->ended, Ended::Stopped);
  EXPECT_TRUE(stopped->candidates.empty());
  Stop soon(1e-6);
  auto late = generate(options, soon);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->ended, Ended::Stopped);
}

}  // namespace
}  // namespace regraft::gen
