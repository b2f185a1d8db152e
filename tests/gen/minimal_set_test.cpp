// Which rules remain when none may follow from the others; which rules an e-graph lets match;
// limits.
#include "gen/derive/minimal_set.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>

#include "base/check.h"
#include "gen/derive/derive_tasks.h"
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

// --- questions that other processes answer ---

/// Helpers in this process that count their tasks; `objects` is what they were told.
struct Others {
  std::map<std::string, std::string> objects;
  size_t tasks = 0;
  bool fail = false;

  Objects access() {
    return {[this](const std::string& bytes) -> Result<std::string> {
              std::string name = "o" + std::to_string(objects.size());
              objects[name] = bytes;
              return name;
            },
            [this](const std::string& name) -> Result<std::string> { return objects.at(name); }};
  }
  Helpers helpers() {
    auto run = [this](const std::vector<Task>& asked) -> Result<std::vector<std::string>> {
      if (fail) return error("no one is there");
      DeriveTasks worker(access());
      std::vector<std::string> results;
      for (const Task& t : asked) {
        EXPECT_EQ(t.kind, kDeriveTask);
        ASSIGN_OR_RETURN(std::string r, worker.perform(t.input));
        results.push_back(std::move(r));
      }
      tasks += asked.size();
      return results;
    };
    return {run, access(), [] { return size_t{1}; }};
  }
};

TEST(MinimalSet, OthersAnswerWhatTheDeriverWould) {
  const std::vector<Rule> rules = shipped("layers.rules");
  const DeriveOptions how{.max_nodes = 500, .max_rounds = 2, .slack = 0};
  const Deriver deriver(rules, how);
  const DropOptions options{.by_no_larger = true, .once = true};
  const MinimalSet alone = minimal_set(deriver, options, 1, Stop());
  Others others;
  const Helpers helpers = others.helpers();
  Answers answers;
  answers.others = asked_of(helpers, rules, rules, how);
  const MinimalSet asked = minimal_set(deriver, options, 1, Stop(), answers);
  EXPECT_TRUE(asked.complete);
  EXPECT_EQ(asked.remains, alone.remains);
  EXPECT_EQ(asked.questions, alone.questions);
  EXPECT_GE(others.tasks, rules.size() / 4);
  EXPECT_EQ(others.objects.size(), 2u);  // told once

  const std::vector<Rule> goals =
      parsed_all({"a  (relu (relu (relu ?a))) => (relu ?a)", "b  (tanh (relu ?a)) => (tanh ?a)"});
  const std::vector<Rule> few = parsed_all({"idem  (relu (relu ?a)) => (relu ?a)"});
  answers.others = asked_of(helpers, few, goals, {});
  EXPECT_EQ(derivable(Deriver(few), goals, 1, Stop(), answers), (std::vector<char>{1, 0}));
}

TEST(MinimalSet, OthersWhoFailEndTheAsking) {
  const std::vector<Rule> rules = parsed_all(
      {"one  (sub ?a ?b) => (add ?a (neg ?b))", "two  (sub ?x ?y) => (add (neg ?y) ?x)"});
  Others others;
  others.fail = true;
  const Helpers helpers = others.helpers();
  Answers answers;
  answers.others = asked_of(helpers, rules, rules, {});
  const MinimalSet set = minimal_set(Deriver(rules), {.once = true}, 1, Stop(), answers);
  EXPECT_FALSE(set.complete);
  EXPECT_EQ(remaining(rules, set), (std::vector<std::string>{"one", "two"}));
}

TEST(MinimalSet, QuestionsThatAreNoneAreRefused) {
  Others others;
  DeriveTasks worker(others.access());
  const std::vector<Rule> rules = parsed_all({"idem  (relu (relu ?a)) => (relu ?a)"});
  std::vector<std::string> inputs;
  Helpers helpers = others.helpers();
  helpers.run = [&](const std::vector<Task>& asked) -> Result<std::vector<std::string>> {
    for (const Task& t : asked) inputs.push_back(t.input);
    return error("kept");
  };
  EXPECT_FALSE(asked_of(helpers, rules, rules, {})({{0, {1}}}));
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_TRUE(worker.perform(inputs[0]));
  EXPECT_FALSE(worker.perform(inputs[0] + "x"));
  for (size_t n = 0; n < inputs[0].size(); n += 3) {
    std::string cut = inputs[0].substr(0, n);
    if (n >= 20) EXPECT_FALSE(worker.perform(cut)) << n;
  }
  EXPECT_FALSE(asked_of(helpers, rules, rules, {})({{7, {}}}));  // no such goal
  EXPECT_FALSE(worker.perform(inputs[1]));
  EXPECT_FALSE(asked_of(helpers, rules, rules, {})({{0, {1, 1}}}));  // more rules than there are
  EXPECT_FALSE(worker.perform(inputs[2]));
}

}  // namespace
}  // namespace regraft::gen
