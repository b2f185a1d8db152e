#include <set>

#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

using Visit = std::function<void(const Graph& before, const Match&, const Graph& after)>;

/// Applies and undoes each match and compares the graphs before and after.
std::vector<Match> matches_of(const Graph& g, const std::vector<std::string>& lines,
                              const Visit& visit = {}) {
  RuleIndex rules = index_of(lines);
  cost::Roofline model;
  Engine engine(g, rules, model);
  Graph before = engine.to_graph();
  std::vector<Match> matches;
  for (int32_t number : std::vector<int32_t>(engine.matches())) {
    Match m = engine.match(number);
    EXPECT_NE(sides_agree(*m.fit), std::optional<bool>(false)) << m.fit->rule->rule.name;
    engine.apply(number);
    Graph result = engine.to_graph();
    engine.undo();
    auto valid = validate(result);
    EXPECT_TRUE(valid.ok()) << valid.error().message;
    EXPECT_TRUE(same_fingerprints(before, result)) << m.fit->rule->rule.name << "\n"
                                                   << to_string(before) << to_string(result);
    Graph swept = result;
    remove_dead(swept);
    EXPECT_EQ(swept.node_count(), result.node_count());
    cost::GraphCost old_cost = cost::graph_cost(model, before);
    cost::GraphCost new_cost = cost::graph_cost(model, result);
    EXPECT_NEAR(new_cost.total.microseconds - old_cost.total.microseconds, m.cost_change, 1e-6);
    EXPECT_EQ(new_cost.calls - old_cost.calls, m.growth);
    if (visit) visit(before, m, result);
    m.fit = nullptr;  // the engine's
    matches.push_back(std::move(m));
  }
  return matches;
}

TEST(Match, FindsAChainAndKeepsItsMeaning) {
  Graph g;
  Value a = input(g, {2, 3}), b = input(g, {3, 4}), c = input(g, {4, 5});
  g.set_outputs({call(g, "matmul", {call(g, "matmul", {a, b}), c})});
  EXPECT_EQ(matches_of(g, {kAssociate}).size(), 1u);
}

TEST(Match, TriesCommutedOperands) {
  Graph g;
  Value a = input(g, {2, 3}), b = input(g, {3, 4}), c = input(g, {3, 4}), d = input(g, {2, 4});
  g.set_outputs({call(
      g, "add", {d, call(g, "add", {call(g, "matmul", {a, b}), call(g, "matmul", {a, c})})})});
  EXPECT_EQ(matches_of(g, {kFactor}).size(), 1u);  // b + c is c + b
  EXPECT_EQ(matches_of(g, {kAddAssociate}).size(), 2u);
}

TEST(Match, RefusesABroadcastWhereTheRuleSaysEqual) {
  Graph g;
  Value a = input(g, {2, 3}), b = input(g, {3, 4}), c = input(g, {3, 1});
  g.set_outputs({call(g, "add", {call(g, "matmul", {a, b}), call(g, "matmul", {a, c})})});
  EXPECT_TRUE(matches_of(g, {kFactor}).empty());
}

TEST(Match, ChoosesTheSignatureThatFits) {
  Graph g;
  Value a = input(g, {2, 3}), d = input(g, {2, 3}), row = input(g, {1, 3}),
        scalar = input(g, {1, 1});
  g.set_outputs({call(g, "add", {call(g, "add", {a, row}), d}),
                 call(g, "add", {call(g, "add", {a, scalar}), d})});
  auto matches = matches_of(g, {kAddAssociate});
  ASSERT_EQ(matches.size(), 1u);  // a:nn b:1n c:nn; the scalar fits no signature
  EXPECT_EQ(matches[0].variables[1], row);
}

TEST(Match, ComparesRanks) {
  Graph g;
  Value a = input(g, {2, 3, 4}), b = input(g, {4, 5}), c = input(g, {5, 2});
  g.set_outputs(
      {call(g, "matmul", {call(g, "matmul", {a, b}), c}), call(g, "relu", {call(g, "relu", {a})})});
  auto matches = matches_of(g, {kAssociate, kReluTwice});
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].rule, 1);
}

TEST(Match, SymbolicSizesNeedConditionsThatHoldForAll) {
  Graph g;
  Poly n = Poly::symbol(g.pool().named("n")), m = Poly::symbol(g.pool().named("m"));
  Value a = input(g, {n, 3}), b = input(g, {3, m}), c = input(g, {3, m});
  g.set_outputs({call(g, "add", {call(g, "matmul", {a, b}), call(g, "matmul", {a, c})})});
  cost::Roofline model;
  RuleIndex rules = index_of({kFactor});
  EXPECT_EQ(Engine(g, rules, model).matches().size(), 1u);
  Graph h;
  Value x = input(h, {2, 3}), y = input(h, {3, Poly::symbol(h.pool().named("k"))});
  Value z = input(h, {3, Poly::symbol(h.pool().named("l"))});
  h.set_outputs({call(h, "add", {call(h, "matmul", {x, y}), call(h, "matmul", {x, z})})});
  EXPECT_TRUE(Engine(h, rules, model).matches().empty());  // k == l is not known
}

TEST(Match, AttributeVariablesMustAgree) {
  const std::string merge =
      "conv-add (add (conv ?x ?w strides=?s pads=?p dilations=?d group=?g) "
      "(conv ?x ?v strides=?s pads=?p dilations=?d group=?g)) => "
      "(conv ?x (add ?w ?v) strides=?s pads=?p dilations=?d group=?g) "
      "for x:nnnn w:nnnn v:nnnn proved:all-sizes";
  Graph g;
  Value x = input(g, {1, 4, 5, 5});
  Value w = input(g, {4, 4, 1, 1}), u = input(g, {4, 4, 1, 1}), depthwise = input(g, {4, 1, 1, 1});
  std::vector<std::vector<int64_t>> plain{{1, 1}, {0, 0, 0, 0}, {1, 1}, {1}}, grouped = plain;
  grouped[3] = {4};
  Value p = call(g, "conv", {x, w}, plain), q = call(g, "conv", {x, depthwise}, grouped);
  g.set_outputs({call(g, "add", {p, q})});
  EXPECT_TRUE(matches_of(g, {merge}).empty());
  g.set_outputs({call(g, "add", {p, call(g, "conv", {x, u}, plain)})});
  EXPECT_EQ(matches_of(g, {merge}).size(), 1u);
}

TEST(Match, MergesTwoOutputs) {
  Graph g;
  Value a = input(g, {2, 3}), b = input(g, {3, 4}), c = input(g, {3, 5});
  g.set_outputs({call(g, "relu", {call(g, "matmul", {a, b})}), call(g, "matmul", {a, c})});
  auto matches = matches_of(g, {kMerge}, [](const Graph&, const Match&, const Graph& result) {
    cost::GraphCost sum = cost::graph_cost(cost::Roofline(), result);
    EXPECT_EQ(sum.calls_by_op.at("matmul"), 1);
    EXPECT_EQ(sum.calls_by_op.at("split"), 1);
  });
  EXPECT_EQ(matches.size(), 2u);  // b before c and c before b
}

TEST(Match, RefusesAMergeThatWouldMakeACycle) {
  Graph g;
  Value a = input(g, {3, 3}), b = input(g, {3, 3});
  Value first = call(g, "matmul", {a, b});
  Value second = call(g, "matmul", {a, call(g, "relu", {first})});
  g.set_outputs({second});
  EXPECT_TRUE(matches_of(g, {kMerge}).empty());
}

TEST(Match, DistinctPatternNodesAreDistinctNodes) {
  Graph g;
  Value a = input(g, {3, 3}), b = input(g, {3, 3});
  g.set_outputs({call(g, "matmul", {a, b})});
  EXPECT_TRUE(matches_of(g, {kMerge}).empty());
}

TEST(Match, InteriorNodesMayHaveOtherUses) {
  Graph g;
  Value a = input(g, {2, 3}), b = input(g, {3, 4}), c = input(g, {4, 5});
  Value ab = call(g, "matmul", {a, b});
  g.set_outputs({call(g, "matmul", {ab, c}), ab});
  auto matches = matches_of(g, {kAssociate});
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].growth, 1);
  EXPECT_GT(matches[0].cost_change, 0);
}

TEST(Match, LeavesConstantsAlone) {
  Graph g;
  Value a = weight(g, {2, 3}), b = weight(g, {3, 4}), c = weight(g, {4, 5}), x = input(g, {2, 5});
  g.set_outputs({call(g, "add", {x, call(g, "matmul", {call(g, "matmul", {a, b}), c})})});
  EXPECT_TRUE(matches_of(g, {kAssociate}).empty());
}

TEST(Apply, SharesEqualCallsAndMovesNames) {
  Graph g;
  Value a = input(g, {2, 3}), b = input(g, {3, 4}), c = input(g, {4, 5});
  Value bc = call(g, "matmul", {b, c});
  Value abc = call(g, "matmul", {call(g, "matmul", {a, b}), c});
  Node named = g.node(abc.node);
  named.names = {"logits"};
  named.origin = 7;
  g.replace_node(abc.node, named);
  Value y = call(g, "relu", {abc});
  named = g.node(y.node);
  named.origin = 8;
  g.replace_node(y.node, named);
  g.set_outputs({y, bc});
  cost::Roofline model;
  RuleIndex rules = index_of({kAssociate});
  Engine engine(g, rules, model);
  auto matches = engine.matches();
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(engine.match(engine.matches()[0]).growth, -1);  // b c is there already
  engine.apply(matches[0]);
  Graph result = engine.to_graph();
  const Node& consumer = result.node(result.outputs()[0].node);
  EXPECT_EQ(consumer.origin, 8);
  const Node& made = result.node(consumer.inputs[0].node);
  EXPECT_EQ(made.origin, -1);
  EXPECT_EQ(made.names, std::vector<std::string>{"logits"});
}

TEST(Apply, ReplacesAnOutputByAnInput) {
  Graph g;
  Value a = input(g, {2, 3});
  g.set_outputs({call(g, "transpose", {call(g, "transpose", {a}, {{1, 0}})}, {{1, 0}})});
  matches_of(g, {kTransposeTwice}, [&](const Graph&, const Match&, const Graph& result) {
    EXPECT_EQ(result.node_count(), 1);
    EXPECT_EQ(result.outputs()[0], a);
  });
}

TEST(Apply, MakersOfConstantsTakeTheElementTypeOfTheMatch) {
  Graph g;
  Value a = g.add_input({DType::F16, Shape{2, 3}});
  g.set_outputs({call(g, "relu", {call(g, "sub", {a, a})})});
  cost::Roofline model;
  RuleIndex rules =
      index_of({"sub-self (sub ?a ?a) => (full shape=a.0,a.1) for a:nn proved:all-sizes"});
  Engine engine(g, rules, model);
  auto matches = engine.matches();
  ASSERT_EQ(matches.size(), 1u);
  engine.apply(matches[0]);
  Graph result = engine.to_graph();
  EXPECT_TRUE(validate(result).ok());
  EXPECT_EQ(result.type(result.node(result.outputs()[0].node).inputs[0]).dtype, DType::F16);
}

TEST(Match, ARealMayBeBoundByDataAlone) {
  RuleIndex rules = index_of(
      {"into-epsilon (batchnorm ?x ?a ?b ?m (add ?v (full value=?e)) epsilon=0) => (batchnorm ?x "
       "?a ?b ?m ?v epsilon=?e) for x:nnnn a:n b:n m:n v:n proved:all-sizes"});
  for (bool uniform : {true, false}) {
    Graph g;
    Value x = input(g, {2, 3, 2, 2}), v = input(g, {3});
    Value number = uniform ? g.add_constant(Constant::of_floats({}, {0.5f}))
                           : g.add_constant(Constant::of_floats({3}, {0.5f, 0.5f, 0.25f}));
    Value sum = call(g, "add", {v, number});
    Attrs<Poly> zero{{}, {{0, nullptr}}};
    auto id = g.add_call(*find_op("batchnorm"), {x, v, v, v, sum}, zero);
    ASSERT_TRUE(id);
    g.set_outputs({{*id, 0}});
    cost::Roofline model;
    Engine engine(g, rules, model);
    auto matches = engine.matches();
    ASSERT_EQ(matches.size(), uniform ? 1u : 0u);
    if (!uniform) continue;
    engine.apply(matches[0]);
    Graph result = engine.to_graph();
    EXPECT_TRUE(validate(result).ok());
    const Node& norm = result.node(result.outputs()[0].node);
    EXPECT_EQ(norm.attrs.reals[0].value, 0.5);
    EXPECT_EQ(norm.inputs[4], v);
  }
}

TEST(RuleIndex, AppliesAReversibleRuleInBothDirections) {
  RuleIndex rules =
      index_of({"t (transpose (add ?b ?a) perm=1,0) <=> (add (transpose ?a perm=1,0) (transpose ?b "
                "perm=1,0)) "
                "for b:nn a:n1 proved:all-sizes"});
  ASSERT_EQ(rules.rules().size(), 2u);
  EXPECT_EQ(rules.rules()[0].rule.name, "t");
  EXPECT_EQ(rules.rules()[1].rule.name, "t~");
  Graph g;
  Value sum = call(g, "add", {input(g, {2, 3}), input(g, {2, 1})});
  g.set_outputs({call(g, "transpose", {sum}, {{1, 0}})});
  cost::Roofline model;
  Graph there = g;
  for (int expected : {0, 1}) {
    Engine engine(there, rules, model);
    auto matches = engine.matches();
    ASSERT_EQ(matches.size(), 1u);
    EXPECT_EQ(engine.match(matches[0]).rule, expected);
    engine.apply(matches[0]);
    there = engine.to_graph();
    EXPECT_TRUE(same_fingerprints(g, there));
    EXPECT_EQ(structurally_equal(g, there), expected == 1);
  }
}

TEST(Match, ARightSideThatContainsWhatItReplacesIsNoMatch) {
  RuleIndex rules =
      index_of({"r (conv ?a ?b strides=?s) => (maxpool (conv ?a ?b) kernel=1,1 strides=?s) for "
                "a:nnnn b:nnnn "
                "proved:all-sizes"});
  cost::Roofline model;
  for (int64_t stride : {1, 2}) {
    Graph g;
    Value x = input(g, {1, 2, 5, 5}), w = input(g, {2, 2, 1, 1});
    std::vector<std::vector<int64_t>> attrs = {{stride, stride}, {0, 0, 0, 0}, {1, 1}, {1}};
    g.set_outputs({call(g, "conv", {x, w}, attrs)});
    Engine engine(g, rules, model);
    EXPECT_EQ(engine.matches().size(), stride == 1 ? 0u : 1u);
  }
}

TEST(RuleIndex, AdmitsProvedRulesOnly) {
  Rule rule = rule_of(kFactor);
  rule.verdict.kind = VerdictKind::Tested;
  auto refused = RuleIndex::build({rule});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("matmul-factor"), std::string::npos);
  rule.verdict.kind = VerdictKind::ProvedSolver;
  EXPECT_TRUE(RuleIndex::build({rule}).has_value());
  EXPECT_FALSE(RuleIndex::build({rule}, Scope::Kernel).has_value());
  rule.verdict.kind = VerdictKind::ProvedBounded;
  EXPECT_FALSE(RuleIndex::build({rule}).has_value());
  EXPECT_TRUE(RuleIndex::build({rule}, Scope::Proved).has_value());
}

TEST(RuleIndex, LetsInWhatIsSafeInFloatingPoint) {
  auto names = [](Numerics least) {
    std::vector<Rule> rules = {
        rule_of("a  (neg (neg ?x)) => ?x  for x:nn  proved:all-sizes  numerics:exact"),
        rule_of("b  (add ?x (add ?y ?z)) <=> (add (add ?x ?y) ?z)  for x:nn y:nn z:nn  "
                "proved:all-sizes  numerics:rounding/unsafe[why]"),
        rule_of("c  (relu (relu ?x)) => (relu ?x)  for x:nn  proved:all-sizes"),
        rule_of("d  (exp (add ?x ?y)) => (mul (exp ?x) (exp ?y))  for x:nn y:nn  "
                "proved:all-sizes  numerics:rounding-f32[why]")};
    auto index = RuleIndex::build(std::move(rules), Scope::AllSizes, least);
    EXPECT_TRUE(index.has_value());
    std::string r;
    for (const CompiledRule& rule : index->rules()) r += rule.rule.name + " ";
    return r + std::to_string(index->unsafe());
  };
  EXPECT_EQ(names(Numerics::Exact), "a 4");
  EXPECT_EQ(names(Numerics::RoundingF32), "a b d 2");
  EXPECT_EQ(names(Numerics::Unknown), "a b b~ c d 0");
  EXPECT_EQ(usual_numerics(), Numerics::RoundingF32);
}

// 65504 is the largest float16.
TEST(RuleIndex, WhatRoundsInFloat32IsNotAppliedToFloat16) {
  const std::string line =
      "r  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn  "
      "proved:all-sizes  numerics:rounding-f32[why]";
  cost::Roofline model;
  for (Numerics least : {Numerics::RoundingF32, Numerics::Unknown})
    for (DType type : {DType::F32, DType::F16, DType::BF16}) {
      auto rules = RuleIndex::build({rule_of(line)}, Scope::AllSizes, least);
      ASSERT_TRUE(rules.has_value());
      Graph g;
      std::vector<Value> x;
      for (int k = 0; k < 3; ++k) x.push_back(g.add_input({type, Shape{Poly(4), Poly(4)}}, "x"));
      g.set_outputs({call(g, "matmul", {call(g, "matmul", {x[0], x[1]}), x[2]})});
      Engine engine(g, *rules, model);
      bool applies = type != DType::F16 || least == Numerics::Unknown;
      EXPECT_EQ(engine.matches().size(), applies ? 1u : 0u);
    }
}

/// A random program over 3x3 matrices and rows.
Graph random_graph(uint64_t seed) {
  Rng rng(seed);
  Graph g;
  std::vector<Value> full{input(g, {3, 3}), input(g, {3, 3}), input(g, {3, 3})},
      row{input(g, {1, 3})};
  auto any = [&](const std::vector<Value>& from) { return from[rng.below(from.size())]; };
  for (int k = 0; k < 9; ++k) {
    Value left = any(full);
    switch (rng.below(7)) {
      case 0:
        full.push_back(call(g, "add", {any(full), any(full)}));
        break;
      case 1:
        full.push_back(call(g, "add", {any(full), any(row)}));
        break;
      case 2:
        row.push_back(call(g, "relu", {any(row)}));
        break;
      case 3:
        full.push_back(call(g, "transpose", {any(full)}, {{1, 0}}));
        break;
      case 4:
        full.push_back(call(g, "relu", {any(full)}));
        break;
      case 5:
        full.push_back(
            call(g, "add",
                 {call(g, "matmul", {left, any(full)}), call(g, "matmul", {left, any(full)})}));
        break;
      default:
        full.push_back(call(g, "matmul", {any(full), any(full)}));
        break;
    }
  }
  g.set_outputs({full.back(), full[full.size() - 2], row.back()});
  return g;
}

TEST(Property, EveryMatchAppliesAndKeepsFingerprints) {
  std::set<int32_t> seen;
  for (uint64_t seed = 0; seed < 100; ++seed)
    for (const Match& m :
         matches_of(random_graph(seed), {kAssociate, kFactor, kMerge, kAddAssociate, kAddCommute,
                                         kReluTwice, kTransposeTwice, kTransposeAdd}))
      seen.insert(m.rule);
  EXPECT_EQ(seen.size(), 8u) << ::testing::PrintToString(seen);
}

TEST(Match, ComparesMakersOfConstantsWithData) {
  const std::string kAddZero =
      "add-zero  (add ?x (full value=0)) => ?x  for x:nn  proved:all-sizes";
  for (float value : {0.0f, 0.5f}) {
    Graph g;
    Value zero = g.add_constant(Constant::of_floats({}, {value}));
    g.set_outputs({call(g, "relu", {call(g, "add", {input(g, {2, 3}), zero})})});
    EXPECT_EQ(matches_of(g, {kAddZero}).size(), value == 0 ? 1u : 0u);
  }
}

TEST(Match, ChecksConditionsOnSizes) {
  const std::string kSum =
      "sum  (add (conv ?x ?v strides=?s) (conv ?x ?w strides=?s)) => (conv ?x (add ?v ?w) "
      "strides=?s)  where v.2=w.2,v.3=w.3  for x:nnnn v:nnnn w:nnnn  proved:all-sizes";
  for (int64_t kernel : {2, 3}) {  // under stride 2 both kernels give the same output size
    Graph g;
    Value x = input(g, {1, 2, 7, 7});
    auto conv = [&](int64_t k) { return call(g, "conv", {x, input(g, {3, 2, k, k})}, {{2, 2}}); };
    g.set_outputs({call(g, "add", {conv(3), conv(kernel)})});
    EXPECT_EQ(matches_of(g, {kSum}).empty(), kernel != 3);
  }
}

/// x w0, x w1, ..: any combination of them can be merged.
Graph products(int count) {
  Graph g;
  Value x = input(g, {2, 3});
  std::vector<Value> outputs;
  for (int k = 0; k < count; ++k)
    outputs.push_back(call(g, "matmul", {x, weight(g, {3, 4}, static_cast<uint64_t>(k) + 1)}));
  g.set_outputs(outputs);
  return g;
}

const std::string kMergeThree =
    "merge-three (matmul ?a ?b) ; (matmul ?a ?c) ; (matmul ?a ?d) => "
    "(matmul ?a ?b) ; (sub (matmul ?a ?c) (full shape=a.0,c.1 value=0)) ; "
    "(sub (matmul ?a ?d) (full shape=a.0,d.1 value=0)) for a:nn b:nn c:nn d:nn proved:all-sizes";

TEST(Match, FewReadersAreAllCombined) {
  RuleIndex rules = index_of({kMerge});
  cost::Roofline model;
  Graph g = products(20);
  Engine engine(g, rules, model);
  EXPECT_EQ(engine.matches().size(), 20u * 19);  // in either order
  EXPECT_EQ(engine.left_out(), 0u);
}

TEST(Match, ManyReadersAreCombinedInPart) {
  RuleIndex rules = index_of({kMerge, kMergeThree});
  cost::Roofline model;
  Graph g = products(400);  // 80,000 pairs, 10 million triples
  Engine engine(g, rules, model);
  EXPECT_LT(engine.matches().size(), 40000u);
  EXPECT_GT(engine.left_out(), 0u);
  std::set<int32_t> roots;
  for (int32_t number : engine.matches()) roots.insert(engine.match(number).root());
  EXPECT_GT(roots.size(), 380u);  // each has some
}

TEST(Match, OneThatWasLeftOutIsFound) {
  RuleIndex rules = index_of({kMerge});
  cost::Roofline model;
  Graph g = products(400);
  Engine engine(g, rules, model);
  Match some = engine.match(engine.matches().front());
  int found = 0;
  size_t listed = engine.matches().size();
  for (Value v : g.outputs()) {  // with all others
    Move move{some.rule, {some.nodes[0], v.node}, some.variables};
    if (v.node <= some.nodes[0]) continue;
    move.variables[2] = g.node(v.node).inputs[1];
    int32_t number = engine.find(move);
    ASSERT_GE(number, 0);
    EXPECT_TRUE(engine.match(number).is_at(move.place()));
    ++found;
  }
  EXPECT_GT(found, 390);
  EXPECT_GT(engine.matches().size(), listed);
  Move wrong{some.rule, some.nodes, {some.variables[0], some.variables[1], some.variables[1]}};
  EXPECT_EQ(engine.find(wrong), -1);
}

TEST(Match, ListingEndsWithTheTime) {
  RuleIndex rules = index_of({kMerge});
  cost::Roofline model;
  Stop stop;
  stop.request();
  Graph g = products(10);
  Engine engine(g, rules, model, {0, &stop});
  EXPECT_TRUE(engine.matches().empty());
  EXPECT_GT(engine.left_out(), 0u);
}

TEST(Match, ARuleOfManyOperandsIsRefused) {
  std::string names, left = "?a0", domain;
  for (int k = 1; k < 40; ++k) left = "(add " + left + " ?a" + std::to_string(k) + ")";
  for (int k = 0; k < 40; ++k) domain += " a" + std::to_string(k) + ":nn";
  Rule rule = rule_of("long " + left + " => " + left + " for" + domain + " proved:all-sizes");
  auto index = RuleIndex::build({rule}, Scope::AllSizes, Numerics::Unknown);
  ASSERT_FALSE(index.has_value());
  EXPECT_NE(index.error().message.find("rule long: "), std::string::npos);
}

}  // namespace
}  // namespace regraft::rewrite
