// Which rules remain when none may follow from the others; which rules an e-graph lets match;
// limits.
#include "gen/derive/minimal_set.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "base/check.h"
#include "gen/derive/rule_filter.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"

namespace regraft::gen {
namespace {

Rule parsed(const std::string& text) {
  auto r = parse_rule(text);
  EXPECT_TRUE(r) << text << ": " << (r ? "" : r.error().message);
  return r ? *r : Rule{};
}
std::vector<Rule> parsed_all(std::initializer_list<const char*> lines) {
  std::vector<Rule> r;
  for (const char* line : lines) r.push_back(parsed(line));
  return r;
}
std::vector<Rule> shipped(const std::string& file) {
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  auto read =
      substitutions::read_candidates(std::string(root ? root : ".") + "/substitutions/" + file);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? read->rules : std::vector<Rule>{};
}
std::vector<std::string> remaining(const std::vector<Rule>& rules, const MinimalSet& set) {
  std::vector<std::string> names;
  for (size_t k = 0; k < rules.size(); ++k)
    if (set.remains[k]) names.push_back(rules[k].name);
  return names;
}
MinimalSet minimal_of(const std::vector<Rule>& rules, int threads = 1,
                      std::vector<char> pinned = {}) {
  pinned.resize(rules.size(), 0);
  return minimal_set(Deriver(rules), {.pinned = pinned}, threads, Stop());
}

TEST(MinimalSet, APlantedRuleIsFoundAndNothingElse) {
  std::vector<Rule> rules = parsed_all(
      {"assoc  (add (add ?a ?b) ?c) => (add ?a (add ?b ?c))", "idem  (relu (relu ?a)) => (relu ?a)",
       "planted  (relu (add (relu (relu ?x)) (add ?y ?z))) => (relu (add (add (relu ?x) ?y) ?z))",
       "tanh-odd  (tanh (neg ?x)) => (neg (tanh ?x))"});
  MinimalSet set = minimal_of(rules);
  EXPECT_TRUE(set.complete);
  EXPECT_TRUE(set.far.empty());
  EXPECT_EQ(remaining(rules, set), (std::vector<std::string>{"assoc", "idem", "tanh-odd"}));
  ASSERT_EQ(set.dropped.size(), 1u);
  EXPECT_EQ(set.dropped[0].rule, 2u);
  EXPECT_EQ(set.dropped[0].used, (std::vector<size_t>{0, 1}));
}

TEST(MinimalSet, RulesThatImplyEachOtherAreNotBothDropped) {
  std::vector<Rule> rules = parsed_all(
      {"one  (sub ?a ?b) => (add ?a (neg ?b))", "two  (sub ?x ?y) => (add (neg ?y) ?x)"});
  EXPECT_EQ(remaining(rules, minimal_of(rules)).size(), 1u);
  rules[0].origin = "hand";  // goes before a generated one
  EXPECT_EQ(remaining(rules, minimal_of(rules)), (std::vector<std::string>{"two"}));
  EXPECT_EQ(remaining(rules, minimal_of(rules, 1, {1, 0})), (std::vector<std::string>{"one"}));
}

TEST(MinimalSet, ShippedRulesWithPlantedOnes) {
  std::vector<Rule> rules = shipped("layers.rules");
  size_t own = rules.size();
  ASSERT_GT(own, 20u);
  for (size_t k = 0; k < own; k += 7) {  // what a rule says below a function follows from it
    const Rule& r = rules[k];
    if (r.lhs.outputs.size() != 1) continue;
    std::string text = to_string(r);
    size_t name = text.find("  "), arrow = text.find(r.both ? " <=> " : " => ");
    size_t end = text.find("  for ");
    size_t begin = arrow + (r.both ? 5 : 4), where = text.find("  where ");
    size_t stop = std::min(end, where);
    rules.push_back(parsed("planted" + std::to_string(k) + "  (tanh " +
                           text.substr(name + 2, arrow - name - 2) + ") => (tanh " +
                           text.substr(begin, stop - begin) + ")" +
                           text.substr(stop, text.find("  proved") - stop)));
  }
  ASSERT_GT(rules.size(), own + 3);
  MinimalSet one = minimal_of(rules, 1), two = minimal_of(rules, 2);
  EXPECT_EQ(one.remains, two.remains);
  for (size_t k = own; k < rules.size(); ++k) EXPECT_FALSE(one.remains[k]) << rules[k].name;
  Deriver deriver(rules);  // what remains does not follow: a sample
  for (size_t k = 0, seen = 0; k < own && seen < 12; k += 3) {
    if (!one.remains[k]) continue;
    ++seen;
    std::vector<char> others = one.remains;
    others[k] = 0;
    EXPECT_FALSE(deriver.derive(rules[k], others).derived) << rules[k].name;
  }
}

TEST(MinimalSet, StopsWhenAsked) {
  std::vector<Rule> rules = parsed_all(
      {"one  (sub ?a ?b) => (add ?a (neg ?b))", "two  (sub ?x ?y) => (add (neg ?y) ?x)"});
  Stop stop;
  stop.request();
  MinimalSet set = minimal_set(Deriver(rules), {}, 1, stop);
  EXPECT_FALSE(set.complete);
  EXPECT_EQ(remaining(rules, set).size(), 2u);
}

TEST(MinimalSet, ExtentsOfOne) {
  EXPECT_TRUE(needs_an_extent_of_one(parsed("r  (relu ?x) => (relu ?x)  for x:n1 | x:1n")));
  EXPECT_FALSE(needs_an_extent_of_one(parsed("r  (relu ?x) => (relu ?x)  for x:n1 | x:nn")));
  EXPECT_FALSE(needs_an_extent_of_one(parsed("r  (relu ?x) => (relu ?x)")));
}

/// Each rule that has a match is a candidate.
TEST(RuleFilter, EqualsBruteForce) {
  std::vector<Rule> rules = shipped("core.rules");
  std::vector<std::unique_ptr<const Matchable>> matchables;
  for (const Rule& r : rules) matchables.push_back(std::make_unique<const Matchable>(r));
  RuleFilter filter(matchables);
  SizedEGraph graph;
  EValue x = graph.add_leaf({2, 3}), y = graph.add_leaf({3, 4});
  auto call = [&](const char* op, std::vector<EValue> operands,
                  std::vector<std::vector<int64_t>> ints = {}) {
    auto v = graph.add(*find_op(op), {std::move(ints), {}}, 0, operands);
    CHECK(v.has_value());
    return *v;
  };
  EValue xy = call("matmul", {x, y});
  EValue root = call("relu", {call("transpose", {call("relu", {xy})}, {{1, 0}})});
  EValue other = call("concat", {call("add", {xy, xy}), call("mul", {xy, xy})}, {{1}});
  CandidateRules candidates(filter);
  size_t matching = 0, tried = 0;
  for (int grown = 0; grown < 2; ++grown) {
    if (grown) graph.merge(root, call("transpose", {call("neg", {xy})}, {{1, 0}}), {});
    graph.rebuild();
    TermSizes sizes(graph, {root, other});
    candidates.update(graph, sizes);
    std::set<RuleFilter::Directed> known(candidates.all().begin(), candidates.all().end());
    tried += known.size();
    std::vector<EValue> anything = sizes.classes();
    for (uint32_t r = 0; r < rules.size(); ++r)
      for (auto d : {Matchable::Forward, Matchable::Backward}) {
        if (!matchables[r]->usable(d)) continue;
        Matches all = matchables[r]->matches(graph, sizes, d, anything, {1000, 100000, 1},
                                             [](const Match&) { return true; });
        matching += !all.found.empty();
        EXPECT_TRUE(all.found.empty() || known.count({r, d})) << to_string(rules[r]);
      }
  }
  EXPECT_GT(matching, 20u);
  EXPECT_LT(tried, rules.size());  // and most others are not looked at
}

/// Where a term is deep inside another, and a rule makes classes that contain themselves, there are
/// endlessly many matches.
TEST(Derive, AGoalWithEndlesslyManyTermsEnds) {
  Deriver deriver(shipped("core.rules"));
  Rule goal = parsed("g  (mul ?x (tanh (log (add (exp ?x) (full value=1))))) => (sigmoid ?x)");
  Derivation d = deriver.derive(goal);
  EXPECT_TRUE(d.tried);
  EXPECT_FALSE(d.derived);
  EXPECT_LE(d.nodes, DeriveOptions().max_nodes + 100);
}

TEST(Derive, AGoalIsLeftWhenAskedTo) {
  DeriveOptions endless;
  endless.max_nodes = 50'000'000;
  endless.max_rounds = 1 << 20;
  endless.max_steps = uint64_t{1} << 60;
  endless.slack = 50;
  Deriver deriver(shipped("core.rules"), endless);
  Rule goal = parsed(
      "g  (matmul (add ?a ?b) (matmul ?c (add ?d (mul ?e ?f)))) => (sigmoid (matmul ?a ?c))  "
      "for a:nn b:nn c:nn d:nn e:nn f:nn");
  auto begin = std::chrono::steady_clock::now();
  Derivation d = deriver.derive(goal, Stop(0.3));
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_TRUE(d.stopped);
  EXPECT_FALSE(d.derived);
  EXPECT_LT(seconds, 10);  // on a busy machine
}

}  // namespace
}  // namespace regraft::gen
