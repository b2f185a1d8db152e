// Why rules do not apply: what the matcher says of places that fit, and of those that nearly do.
#include <algorithm>
#include <set>

#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

struct Said {
  Misfit::Kind kind = Misfit::None;
  std::string rule, text;
  std::vector<int32_t> nodes;
  std::vector<Value> variables;
};

/// All that is said of the rules at places that include the node.
std::vector<Said> said_of(Engine& engine, const RuleIndex& rules, int32_t node) {
  std::vector<Said> all;
  engine.diagnose(node, PlaceLimits(), [&](const Place& place, const Misfit& why) {
    const CompiledRule& rule = rules.rules()[static_cast<size_t>(place.rule)];
    all.push_back({why.kind,
                   rule.rule.name,
                   to_string(why, rule, engine.graph(), place),
                   {place.nodes.begin(), place.nodes.end()},
                   {place.variables.begin(), place.variables.end()}});
  });
  return all;
}

/// What is said of the only rule at the output of a graph.
Said said_of(Graph g, Value output, const std::string& rule) {
  g.set_outputs({output});
  RuleIndex rules = index_of({rule});
  cost::Roofline model;
  Engine engine(g, rules, model);
  auto all = said_of(engine, rules, output.node);
  EXPECT_FALSE(all.empty()) << rule;
  return all.empty() ? Said{} : all.front();
}

TEST(Diagnosis, SaysThatARuleFits) {
  Graph g;
  Value twice = call(g, "relu", {call(g, "relu", {input(g, {4, 4})})});
  EXPECT_EQ(said_of(g, twice, kReluTwice).kind, Misfit::None);
}

TEST(Diagnosis, Ranks) {
  Graph g;
  Value twice = call(g, "relu", {call(g, "relu", {input(g, {2, 4, 4, 4})})});
  Said said = said_of(g, twice, kReluTwice);
  EXPECT_EQ(said.kind, Misfit::Ranks);
  EXPECT_EQ(said.text, "its operands have ranks 4, it is proved for 2 or 3");
}

TEST(Diagnosis, SizesOfTheSignature) {
  Graph g;
  Value a = input(g, {4, 4}), row = input(g, {1, 4}), column = input(g, {4, 1});
  Value sum = call(g, "add", {call(g, "add", {a, column}), row});
  Said said = said_of(g, sum, kAddCommute);
  EXPECT_EQ(said.kind, Misfit::Ones);
  EXPECT_NE(said.text.find("has size 4, it is proved for size 1"), std::string::npos) << said.text;
}

TEST(Diagnosis, Attributes) {
  Graph g;
  Value x = input(g, {2, 3, 3});
  Value turned = call(g, "transpose", {call(g, "transpose", {x}, {{0, 2, 1}})}, {{0, 2, 1}});
  const std::string rule =
      "turn-twice (transpose (transpose ?a perm=0,2,1) perm=2,1,0) => ?a for a:nnn "
      "proved:all-sizes";
  Said said = said_of(g, turned, rule);
  EXPECT_EQ(said.kind, Misfit::Attribute);
  EXPECT_EQ(said.text, "perm of the transpose is [0,2,1], the rule has [2,1,0]");
}

TEST(Diagnosis, OperandsThatMustBeOne) {
  Graph g;
  Value difference = call(g, "sub", {input(g, {3, 3}), input(g, {3, 3})});
  EXPECT_EQ(said_of(g, difference,
                    "sub-self (sub ?a ?a) => (full shape=a.0,a.1) for a:nn proved:all-sizes")
                .kind,
            Misfit::Equality);
}

TEST(Diagnosis, Conditions) {
  const std::string rule =
      "square (transpose (relu ?a) perm=1,0) => (relu (transpose ?a perm=1,0)) where a.0=a.1 for "
      "a:nn proved:all-sizes";
  for (int64_t width : {3, 4}) {
    Graph g;
    Value y = call(g, "transpose", {call(g, "relu", {input(g, {3, width})})}, {{1, 0}});
    EXPECT_EQ(said_of(g, y, rule).kind, width == 3 ? Misfit::None : Misfit::Condition) << width;
  }
}

TEST(Diagnosis, WhatChangesNothing) {
  Graph g;
  Value y = call(g, "relu", {input(g, {3, 3})});
  EXPECT_EQ(said_of(g, y, "same (relu ?a) => (relu ?a) for a:nn proved:all-sizes").kind,
            Misfit::Effect);
}

TEST(Diagnosis, IndexesKeepWhatTheyLeftOut) {
  Rule rule = rule_of(kReluTwice);
  rule.numerics = {Numerics::Unsafe, "witness"};
  auto index = RuleIndex::build({rule, rule_of(kTransposeTwice)});
  ASSERT_TRUE(index.has_value());
  ASSERT_EQ(index->unsafe(), 2U);  // the other one was not judged
  EXPECT_EQ(index->left_out()[0].name, "relu-twice");
  EXPECT_TRUE(index->rules().empty());
}

Graph random_graph(Rng& rng) {
  Graph g;
  std::vector<Value> values{input(g, {3, 3}), input(g, {3, 3}), input(g, {1, 3}),
                            weight(g, {3, 3})};
  auto any = [&] { return values[rng.below(values.size())]; };
  for (int k = 0; k < 14; ++k) {
    Value a = any(), b = any();
    switch (rng.below(5)) {
      case 0:
        values.push_back(call(g, "relu", {a}));
        break;
      case 1:
        values.push_back(call(g, "add", {a, b}));
        break;
      case 2:
        values.push_back(call(g, "transpose", {a}, {{1, 0}}));
        break;
      case 3:
        if (g.shape(a)[1] == g.shape(b)[0]) values.push_back(call(g, "matmul", {a, b}));
        break;
      default:
        values.push_back(call(g, "sub", {a, b}));
    }
    if (!g.type(values.back()).shape) values.pop_back();
  }
  g.set_outputs({values.back(), values[values.size() - 2]});
  remove_dead(g);
  return g;
}

/// What is said to fit is listed, up to what is equal by symmetry, and what is listed is said.
TEST(Diagnosis, AgreesWithTheMatches) {
  RuleIndex rules = index_of({kAssociate, kFactor, kAddAssociate, kAddCommute, kReluTwice,
                              kTransposeTwice, kTransposeAdd});
  cost::Roofline model;
  int fitting = 0, others = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    Graph g = random_graph(rng);
    Engine engine(g, rules, model);
    std::set<std::pair<int32_t, std::set<int32_t>>> listed, said;
    for (int32_t number : engine.matches()) {
      const Match& m = engine.match(number);
      listed.insert({m.rule, {m.nodes.begin(), m.nodes.end()}});
    }
    for (int32_t id = 0; id < engine.graph().id_bound(); ++id) {
      if (!engine.graph().alive(id) || engine.graph().slot(id).kind != NodeKind::Call) continue;
      engine.diagnose(id, PlaceLimits(), [&](const Place& place, const Misfit& why) {
        EXPECT_NE(std::ranges::find(place.nodes, id), place.nodes.end());
        ++(why.kind == Misfit::None ? fitting : others);
        if (why.kind == Misfit::None)
          said.insert({place.rule, {place.nodes.begin(), place.nodes.end()}});
      });
    }
    EXPECT_EQ(said, listed) << "seed " << seed;
  }
  EXPECT_GT(fitting, 100);
  EXPECT_GT(others, 100);
}

}  // namespace
}  // namespace regraft::rewrite
