// Parts of graphs, and the search in them.
#include "rewrite/windows/windows.h"

#include <cmath>

#include "rewrite/search/replay.h"
#include "rewrite/windows/part.h"
#include "rewrite/windows/recall.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const std::vector<std::string> kRules{kReluTwice, kAddAssociate,   kAddCommute,   kMerge,
                                      kAssociate, kTransposeTwice, kTransposeAdd, kFactor};

/// Transposes that cancel after an uphill step.
Value valley(Graph& g, Value v, Value w) {
  auto transpose = [&](Value x) { return call(g, "transpose", {x}, {{1, 0}}); };
  return transpose(call(g, "add", {transpose(v), transpose(w)}));
}

Value chain(Graph& g, Value v, int length) {
  for (int k = 0; k < length; ++k) v = call(g, "tanh", {v});
  return v;
}

/// Valleys and products in a row, each with its own weights.
Graph row(int length) {
  Graph g;
  Value v = input(g, {16, 16}), w = input(g, {16, 16});
  for (int k = 0; k < length; ++k) {
    auto seed = static_cast<uint64_t>(2 * k);
    v = chain(g, valley(g, v, w), k % 3);
    v = call(g, "add",
             {call(g, "matmul", {v, weight(g, {16, 16}, seed)}),
              call(g, "matmul", {v, weight(g, {16, 16}, seed + 1)})});
  }
  g.set_outputs({v});
  return g;
}

TEST(Part, HasItsCallsAndWhatTheyReadAndWhatIsReadElsewhere) {
  Graph g;
  Value x = input(g, {4, 4}), w = weight(g, {4, 4});
  Value folded = call(g, "relu", {w});
  Value a = call(g, "tanh", {x});
  Value b = call(g, "matmul", {a, folded});
  Value c = call(g, "add", {b, x});
  Value d = call(g, "relu", {c});
  g.set_outputs({d, b});
  cost::Roofline model;
  RuleIndex rules = index_of({kReluTwice});
  Engine whole(g, rules, model);
  Part part(whole.graph(), std::vector<int32_t>{c.node, b.node});
  EXPECT_TRUE(validate(part.graph()).ok());
  EXPECT_EQ(part.graph().inputs().size(), 2u);  // a and x
  EXPECT_EQ(part.sources(), (std::vector<int32_t>{a.node, x.node}));
  EXPECT_EQ(part.graph().outputs().size(), 2u);
  auto calls = cost::graph_cost(model, part.graph()).calls_by_op;
  EXPECT_EQ(calls, (std::map<std::string, int64_t>{{"add", 1}, {"matmul", 1}}));
  EXPECT_EQ(part.graph().node_count(), 6);  // the calls, the inputs, the weight and its relu
}

TEST(Part, MayHaveUnreadConstantsInPlaceOfCallsOnConstants) {
  Graph g;
  Value x = input(g, {4, 4}), w = weight(g, {4, 4});
  Value folded = call(g, "relu", {call(g, "tanh", {w})});
  Value b = call(g, "matmul", {call(g, "matmul", {x, folded}), w});
  g.set_outputs({call(g, "add", {b, folded})});
  cost::Roofline model;
  RuleIndex rules = index_of({kReluTwice});
  Engine whole(g, rules, model);
  std::vector<int32_t> calls{b.node, g.outputs()[0].node};
  Part part(whole.graph(), calls), priced(whole.graph(), calls, Computed::Unread);
  EXPECT_TRUE(validate(priced.graph()).ok());
  EXPECT_EQ(part.graph().node_count(), 6);    // two calls, an input, w, tanh, relu
  EXPECT_EQ(priced.graph().node_count(), 5);  // two calls, an input, w, what relu makes
  EXPECT_EQ(priced.graph().inputs().size(), 1u);
  EXPECT_EQ(cost::graph_cost(model, priced.graph()).total.microseconds,
            cost::graph_cost(model, part.graph()).total.microseconds);
}

TEST(Part, ItsMovesAreThoseOfTheWhole) {
  Graph g = row(6);
  RuleIndex rules = index_of(kRules);
  cost::Roofline model;
  Engine whole(g, rules, model);
  Sizes sizes(rules, g.shared_pool(), model, {});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    std::vector<int32_t> calls;
    for (int32_t id = 0; id < g.id_bound(); ++id)
      if (g.node(id).kind == NodeKind::Call && rng.below(4)) calls.push_back(id);
    Part part(whole.graph(), calls);
    ASSERT_TRUE(validate(part.graph()).ok());
    Engine inner(part.graph(), rules, model, {{}, nullptr, &sizes});
    ASSERT_FALSE(inner.matches().empty());
    for (int step = 0; step < 4; ++step) {
      int32_t number = inner.matches()[rng.below(inner.matches().size())];
      inner.apply(number);
      const Move& move = inner.moves().back();
      int32_t same = whole.find(part.in_whole(move));
      ASSERT_GE(same, 0);
      EXPECT_NEAR(whole.match(same).cost_change, move.cost_change, 1e-6);
      int32_t first = whole.graph().id_bound();
      whole.apply(same);
      ASSERT_EQ(whole.moves().back().added, move.added);
      for (int32_t k = 0; k < move.added; ++k) part.add(first + k);
    }
    while (whole.depth() > 0) whole.undo();
  }
}

TEST(Windows, FindWhatLiesAcrossAnyCut) {
  RuleIndex rules = index_of(kRules);
  cost::Roofline model;
  for (int before = 0; before < 80; before += 5) {
    Graph g;
    Value v = chain(g, input(g, {16, 16}), before);
    Value w = chain(g, input(g, {16, 16}), 90);
    g.set_outputs({chain(g, valley(g, v, w), 80)});
    SearchReport r = Windows().search(g, rules, model, {.budget = 20000}, Stop());
    EXPECT_EQ(cost::graph_cost(model, r.best).calls_by_op.count("transpose"), 0u) << before;
  }
}

/// A product is read by slices: to slice before it pays when all have moved, and costs until then.
TEST(Windows, MoveAllReadersOfAValue) {
  const std::string slice =
      "slice-first (slice (matmul ?a ?b) begins=?k,0 sizes=?n,b.-1) => "
      "(matmul (slice ?a begins=?k,0 sizes=?n,a.-1) ?b) for a:nn b:nn proved:all-sizes";
  RuleIndex rules = index_of({slice});
  cost::Roofline model;
  Graph g;
  constexpr int kReaders = 8;
  Value product = call(g, "matmul", {input(g, {4096, 64}), weight(g, {64, 64})});
  std::vector<Value> outputs;
  for (int k = 0; k < kReaders; ++k)
    outputs.push_back(
        call(g, "tanh", {call(g, "slice", {product}, {{8 * k, 0}, {2, 64}, {1, 1}})}));
  g.set_outputs(outputs);
  SearchReport r = Windows().search(g, rules, model, {.budget = 500}, Stop());
  EXPECT_EQ(r.steps.size(), static_cast<size_t>(kReaders));
  EXPECT_LT(r.cost_after, r.cost_before);
}

TEST(Windows, GiveTheSameAnswerOnAnyNumberOfThreads) {
  Graph g = row(40);
  RuleIndex rules = index_of(kRules);
  cost::Roofline model;
  for (uint64_t budget : {uint64_t{3000}, uint64_t{60000}}) {
    SearchReport one = Windows().search(g, rules, model, {.budget = budget, .threads = 1}, Stop());
    EXPECT_LT(one.cost_after, one.cost_before);
    EXPECT_TRUE(same_fingerprints(g, one.best));
    for (int threads : {2, 4}) {
      SearchReport r =
          Windows().search(g, rules, model, {.budget = budget, .threads = threads}, Stop());
      EXPECT_EQ(to_string(r.best), to_string(one.best));
      EXPECT_EQ(r.candidates, one.candidates);
      EXPECT_EQ(r.expanded, one.expanded);
      EXPECT_EQ(r.steps.size(), one.steps.size());
    }
  }
}

/// Equal valleys, each with inputs of its own: the first is searched, the others are answered.
TEST(Windows, DoAgainWhatPaidInAWindowThatIsAlike) {
  RuleIndex rules = index_of(kRules);
  cost::Roofline model;
  auto candidates = [&](int count) {
    Graph g;
    std::vector<Value> outputs;
    for (int k = 0; k < count; ++k) {
      Value v = input(g, {16, 16});
      for (int step = 0; step < 3; ++step) v = valley(g, v, input(g, {16, 16}));
      outputs.push_back(v);
    }
    g.set_outputs(outputs);
    SearchReport r = Windows().search(g, rules, model, {.budget = 100000}, Stop());
    EXPECT_EQ(cost::graph_cost(model, r.best).calls_by_op.count("transpose"), 0u) << count;
    EXPECT_TRUE(same_fingerprints(g, r.best));
    return r.candidates;
  };
  uint64_t one = candidates(1), eight = candidates(8);
  EXPECT_LT(eight - one, one);  // searched anew, twice as many
}

TEST(Recipe, SaysNothingOfWhatHasNoName) {
  WindowNames names{{4, 7}, {{2, 1}}, 10};
  Move inside{0, {7, 10}, {{2, 1}, {11, 2}}, 0, 0, 2}, elsewhere{0, {3}, {}, 0, 0, 0};
  auto recipe = Recipe::of(std::vector<Move>{inside}, names);
  ASSERT_TRUE(recipe);
  WindowNames other{{40, 70}, {{20, 0}}, 100};
  Move there = recipe->move(0, other);
  EXPECT_EQ(there.nodes, (std::vector<int32_t>{70, 100}));
  EXPECT_EQ(there.variables, (std::vector<Value>{{20, 0}, {101, 2}}));
  EXPECT_FALSE(Recipe::of(std::vector<Move>{inside, elsewhere}, names));
}

TEST(Windows, AreSearchedInTheOrderThatIsGiven) {
  RuleIndex rules = index_of({kTransposeTwice, kTransposeAdd});
  cost::Roofline model;
  Graph g;
  std::vector<Value> outputs;
  for (int k = 0; k < 8; ++k) {  // no two alike
    Shape shape{Poly(16 + k), Poly(16)};
    outputs.push_back(valley(g, input(g, shape), input(g, shape)));
  }
  g.set_outputs(outputs);
  auto by_id = [](double sign, size_t least) -> WindowOrder {
    return [=](const Engine&, std::span<const int32_t> centres) {
      std::vector<double> scores;
      for (int32_t id : centres)
        scores.push_back(static_cast<size_t>(id) < least ? -HUGE_VAL : sign * id);
      return scores;
    };
  };
  auto places = [&](const WindowOrder& order) {
    SearchReport r = Windows(order).search(g, rules, model, {.budget = 20000}, Stop());
    std::vector<int32_t> nodes;  // of the uphill steps
    for (const AppliedRule& s : r.steps)
      if (s.rule.starts_with("transpose-add")) nodes.push_back(s.nodes.back());
    return nodes;
  };
  auto up = places(by_id(1, 0)), down = places(by_id(-1, 0));
  ASSERT_EQ(up.size(), outputs.size());
  EXPECT_TRUE(std::is_sorted(down.begin(), down.end()));
  EXPECT_TRUE(std::is_sorted(up.rbegin(), up.rend()));
  auto half = static_cast<size_t>(outputs[4].node);
  EXPECT_EQ(places(by_id(1, half)), (std::vector<int32_t>(up.begin(), up.begin() + 4)));
  EXPECT_EQ(places([](const Engine&, std::span<const int32_t> centres) {
              return std::vector<double>(centres.size(), 1.0);
            }),
            places({}));
}

TEST(Windows, LeaveOutWhatWouldBeACycleInTheWhole) {
  const std::string pair =
      "pair (relu (relu ?a)) ; (relu (relu ?b)) => "
      "(split (relu (concat ?a ?b axis=0)) axis=0 sizes=a.0,b.0) ; "
      "(split (relu (concat ?a ?b axis=0)) axis=0 sizes=a.0,b.0)#1 for a:nn b:nn proved:all-sizes";
  RuleIndex rules = index_of({pair, kTransposeAdd});
  cost::Roofline model;
  for (bool depends : {false, true}) {
    Graph g;
    auto twice = [&](Value v) { return call(g, "relu", {call(g, "relu", {v})}); };
    Value x = input(g, {8, 8});
    Value first = twice(call(g, "tanh", {x}));
    Value second = twice(chain(g, depends ? first : x, 40));  // far around
    // Something that applies, so that a window lies here.
    Value sum = call(g, "add", {first, second});
    g.set_outputs({call(g, "transpose", {sum}, {{1, 0}})});
    Part near(Engine(g, rules, model).graph(),
              std::vector<int32_t>{g.node(first.node).inputs[0].node, first.node,
                                   g.node(second.node).inputs[0].node, second.node});
    EXPECT_FALSE(Engine(near.graph(), rules, model).matches().empty());
    SearchReport r = Windows().search(g, rules, model, {.budget = 20000}, Stop());
    ASSERT_TRUE(validate(r.best).ok());
    EXPECT_TRUE(same_fingerprints(g, r.best));
    auto calls = cost::graph_cost(model, r.best).calls_by_op;
    EXPECT_EQ(calls["relu"], depends ? 4 : 1);
    EXPECT_GT(r.candidates, 4u);  // a window was searched
  }
}

TEST(Windows, CrossEveryValleyOfALongRow) {
  Graph g = row(60);
  RuleIndex rules = index_of(kRules);
  cost::Roofline model;
  SearchReport r = Windows().search(g, rules, model, {.budget = 1 << 20, .threads = 2}, Stop());
  auto calls = cost::graph_cost(model, r.best).calls_by_op;
  EXPECT_EQ(calls.count("transpose"), 0u);
  EXPECT_EQ(calls["matmul"], 60);  // two at first, one with the sum of the weights
  auto again = replay(g, rules, r.steps, model, {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_string(*again), to_string(r.best));
}

}  // namespace
}  // namespace regraft::rewrite
