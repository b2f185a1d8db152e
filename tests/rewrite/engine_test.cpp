// The engine against a matcher that tries everything, on random graphs and random moves.
// REGRAFT_FUZZ_SECONDS makes the random test run that long.
#include "rewrite/engine/engine.h"

#include <chrono>
#include <cstdlib>
#include <set>

#include "rewrite/search/transpositions.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const std::string kSubSelf =
    "sub-self (sub ?a ?a) => (full shape=a.0,a.1) for a:nn proved:all-sizes";
const std::string kAddZero = "add-zero (add ?x (full value=0)) => ?x for x:nn proved:all-sizes";
const std::string kReluPairs =
    "relu-pair (relu ?a) ; (relu ?b) => "
    "(split (relu (concat ?a ?b axis=0)) axis=0 sizes=a.0,b.0) ; "
    "(split (relu (concat ?a ?b axis=0)) axis=0 sizes=a.0,b.0)#1 for a:nn b:nn proved:all-sizes";
const std::string kShared =
    "shared (add (matmul ?a ?b) (relu (matmul ?a ?b))) => (add (relu (matmul ?a ?b)) (transpose "
    "(matmul (transpose ?b perm=1,0) (transpose ?a perm=1,0)) perm=1,0)) for a:nn b:nn "
    "proved:all-sizes";
const std::string kTurn =
    "turn (relu (add ?a ?b)) => (transpose (relu (add (transpose ?a perm=1,0) (transpose ?b "
    "perm=1,0))) perm=1,0) for a:nn b:nn proved:all-sizes";

const std::string kMinus =
    "minus (relu (sub ?a ?b)) => (relu (add ?a (sub (full shape=a.0,a.1) ?b))) for a:nn b:nn "
    "proved:all-sizes";

const std::vector<std::string> kRules{
    kAssociate,    kFactor,  kMerge,   kAddAssociate, kAddCommute, kReluTwice, kTransposeTwice,
    kTransposeAdd, kSubSelf, kAddZero, kReluPairs,    kShared,     kTurn,      kMinus};

/// Tries every assignment of nodes to the pattern nodes of one rule.
class EveryPlace {
 public:
  EveryPlace(const LiveGraph& g, const Rule& rule, int32_t number, const VisitPlace& visit)
      : g_(g), rule_(rule), number_(number), visit_(visit) {}
  void run() {
    nodes_.assign(rule_.lhs.nodes.size(), -1);
    variables_.assign(rule_.variables.size(), Value{});
    assign(0);
  }

 private:
  void assign(size_t j) {
    if (j == nodes_.size()) {
      visit_({number_, nodes_, variables_});
      return;
    }
    const PatternNode& pattern = rule_.lhs.nodes[j];
    for (int32_t id = 0; id < g_.id_bound(); ++id) {
      if (!g_.alive(id)) continue;
      const auto& slot = g_.slot(id);
      nodes_[j] = id;
      if (slot.kind == NodeKind::Constant && pattern.inputs.empty()) assign(j + 1);
      if (slot.kind != NodeKind::Call || slot.op != pattern.op) continue;
      if (std::find(nodes_.begin(), nodes_.begin() + static_cast<long>(j), id) !=
          nodes_.begin() + static_cast<long>(j))
        continue;
      if (slot.inputs.size() != pattern.inputs.size()) continue;
      std::vector<Value> inputs = slot.inputs;
      operands(j, inputs);
      if (slot.op->commutative && inputs[0] != inputs[1]) {
        std::swap(inputs[0], inputs[1]);
        operands(j, inputs);
      }
    }
    nodes_[j] = -1;
  }
  void operands(size_t j, const std::vector<Value>& inputs) {
    auto saved = variables_;
    bool fits = true;
    for (size_t k = 0; k < inputs.size() && fits; ++k) {
      PatternRef r = rule_.lhs.nodes[j].inputs[k];
      if (!is_variable(r)) {
        fits = inputs[k] == Value{nodes_[static_cast<size_t>(r.node)], r.output};
        continue;
      }
      Value& v = variables_[static_cast<size_t>(variable_of(r))];
      fits = v.node < 0 || v == inputs[k];
      v = inputs[k];
    }
    if (fits) assign(j + 1);
    variables_ = saved;
  }
  const LiveGraph& g_;
  const Rule& rule_;
  int32_t number_;
  const VisitPlace& visit_;
  std::vector<int32_t> nodes_;
  std::vector<Value> variables_;
};

/// What identifies a match, and its cost in nanoseconds.
using Key = std::tuple<int32_t, std::vector<int32_t>, std::vector<Value>, int64_t, int32_t>;
int64_t rounded(double microseconds) { return std::llround(microseconds * 1e3); }

std::multiset<Key> listed(const Engine& e) {
  std::multiset<Key> keys;
  for (int32_t number : e.matches()) {
    const Match& m = e.match(number);
    keys.insert({m.rule, m.nodes, m.variables, rounded(m.cost_change), m.growth});
  }
  return keys;
}

std::multiset<Key> brute_force(const Graph& graph, const RuleIndex& rules,
                               const cost::CostModel& model) {
  Interner interner(graph.shared_pool(), model, {});
  LiveGraph g(graph, interner);
  Fitter fitter(rules, interner);
  Planner planner(g);
  std::multiset<Key> keys;
  VisitPlace visit = [&](const Place& p) {
    const Fit* fit = fitter.fit(g, p);
    if (!fit || !planner.make(p, *fit)) return false;
    keys.insert({p.rule,
                 {p.nodes.begin(), p.nodes.end()},
                 {p.variables.begin(), p.variables.end()},
                 rounded(planner.plan().cost_change),
                 planner.plan().growth});
    return true;
  };
  for (size_t k = 0; k < rules.rules().size(); ++k)
    EveryPlace(g, rules.rules()[k].rule, static_cast<int32_t>(k), visit).run();
  return keys;
}

/// The matches that a symmetry of the rule makes of one.
std::vector<Key> twins(const Key& key, const RuleIndex& rules) {
  std::vector<Key> result{key};
  const auto& [rule, nodes, variables, change, growth] = key;
  for (const Symmetry& s : rules.rules()[static_cast<size_t>(rule)].symmetries()) {
    Key twin = key;
    for (size_t j = 0; j < nodes.size(); ++j)
      std::get<1>(twin)[j] = nodes[static_cast<size_t>(s.nodes[j])];
    for (size_t v = 0; v < variables.size(); ++v)
      std::get<2>(twin)[v] = variables[static_cast<size_t>(s.variables[v])];
    result.push_back(twin);
  }
  return result;
}

/// One of each set of twins, the lowest. All must be there and do the same.
std::multiset<Key> without_twins(const std::multiset<Key>& all, const RuleIndex& rules) {
  std::multiset<Key> lowest;
  for (const Key& key : all) {
    auto same = twins(key, rules);
    for (const Key& twin : same) EXPECT_EQ(all.count(twin), 1u);
    if (key == *std::min_element(same.begin(), same.end())) lowest.insert(key);
  }
  return lowest;
}

/// A random program over 3x3 matrices, with constants among them.
Graph random_graph(Rng& rng) {
  Graph g;
  std::vector<Value> values{input(g, {3, 3}), input(g, {3, 3}), weight(g, {3, 3}, 1)};
  Value zero = g.add_constant(Constant::of_floats({}, {0}));
  auto any = [&] {
    size_t recent = std::min<size_t>(values.size(), 6);
    return rng.below(3) ? values[values.size() - 1 - rng.below(recent)]
                        : values[rng.below(values.size())];
  };
  size_t n = 4 + rng.below(10);
  while (values.size() < n + 3) {
    Value a = any();
    switch (rng.below(10)) {
      case 8:
        values.push_back(call(g, "add", {a, rng.below(2) ? zero : values[2]}));
        break;
      case 9: {
        Value b = any();
        Value product = call(g, "matmul", {a, b});
        Value other = rng.below(2) ? call(g, "relu", {product}) : call(g, "matmul", {a, any()});
        values.push_back(call(g, "add", {product, other}));
        break;
      }
      case 0:
      case 1:
        values.push_back(call(g, "add", {a, any()}));
        break;
      case 2:
        values.push_back(call(g, "transpose", {a}, {{1, 0}}));
        break;
      case 3:
      case 4:
        values.push_back(call(g, "relu", {a}));
        break;
      case 5:
        values.push_back(call(g, "sub", {a, rng.below(2) ? a : any()}));
        break;
      default:
        values.push_back(call(g, "matmul", {a, any()}));
        break;
    }
  }
  std::vector<Value> outputs{values.back()};
  while (rng.below(2)) outputs.push_back(any());
  g.set_outputs(outputs);
  return g;
}

/// What must be the same again after an undo.
struct Snapshot {
  std::multiset<Key> keys;
  std::vector<int32_t> order;
  std::string text;
  double cost = 0;
  explicit Snapshot(const Engine& e)
      : keys(listed(e)), order(e.matches()), text(to_string(e.to_graph())), cost(e.cost()) {}
  bool operator==(const Snapshot&) const = default;
};

void check_state(Engine& e, const RuleIndex& rules, const cost::CostModel& model) {
  Graph g = e.to_graph();
  auto valid = validate(g);
  ASSERT_TRUE(valid.ok()) << valid.error().message << to_string(g);
  Graph swept = g;
  remove_dead(swept);
  ASSERT_EQ(swept.node_count(), g.node_count()) << to_string(g);
  cost::GraphCost sum = cost::graph_cost(model, g);
  ASSERT_NEAR(e.cost(), sum.total.microseconds, 1e-6);
  ASSERT_EQ(e.calls(), sum.calls);
  for (int32_t id = 0; id < e.graph().id_bound(); ++id) {
    if (!e.graph().alive(id)) continue;
    for (Value v : e.graph().slot(id).inputs) ASSERT_TRUE(e.graph().comes_before(v.node, id));
  }
  ASSERT_EQ(listed(e), without_twins(brute_force(g, rules, model), rules)) << to_string(g);
  Interner interner(g.shared_pool(), model, {});
  ASSERT_EQ(LiveGraph(canonical(g).node_count() == g.node_count() ? canonical(g) : g, interner)
                .identity(),
            e.identity());
}

TEST(Engine, SharesWhatItLearntOfSizesAlsoWithAnotherModel) {
  Rng rng(5);
  RuleIndex rules = index_of(kRules);
  cost::Roofline model, slow(cost::Machine{1, 1, 1});
  for (int k = 0; k < 20; ++k) {
    Graph g = random_graph(rng);
    Sizes sizes(rules, g.shared_pool(), model, {});
    for (const cost::CostModel* m : {&model, &slow, &model}) {
      Engine sharing(g, rules, *m, {{}, nullptr, &sizes}), alone(g, rules, *m);
      ASSERT_EQ(listed(sharing), listed(alone));
      ASSERT_EQ(sharing.cost(), alone.cost());
      for (size_t j = 0; j < alone.matches().size(); ++j)
        ASSERT_EQ(sharing.match(sharing.matches()[j]).cost_change,
                  alone.match(alone.matches()[j]).cost_change);
    }
  }
}

void random_walk(uint64_t seed, const RuleIndex& rules, std::map<int32_t, int>& applied) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  cost::Roofline model;
  Rng rng(seed);
  Engine e(random_graph(rng), rules, model);
  std::vector<Snapshot> before;
  ASSERT_NO_FATAL_FAILURE(check_state(e, rules, model));
  for (int step = 0; step < 12; ++step) {
    uint64_t choice = rng.below(10);
    if (choice < 6 && !e.matches().empty() && e.calls() < 18) {
      before.emplace_back(e);
      int32_t number = e.matches()[rng.below(e.matches().size())];
      ++applied[e.match(number).rule];
      double expected = e.cost() + e.match(number).cost_change;
      e.apply(number);
      ASSERT_NEAR(e.cost(), expected, 1e-6);
      ASSERT_NO_FATAL_FAILURE(check_state(e, rules, model));
    } else if (choice < 9 && !before.empty()) {
      e.undo();
      ASSERT_TRUE(Snapshot(e) == before.back());
      before.pop_back();
      if (rng.below(2)) e.identity();  // may or may not be asked for on the way
    } else if (choice == 9 && rng.below(4) == 0) {
      e.commit();
      before.clear();
    }
  }
}

TEST(Fuzz, MatchesAreThoseThatApplyAfterAnyMoves) {
  RuleIndex rules = index_of(kRules);
  std::map<int32_t, int> applied;
  const char* wanted = std::getenv("REGRAFT_FUZZ_SECONDS");
  double seconds = wanted ? std::atof(wanted) : 0;
  auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  uint64_t seed = 0;
  for (; seed < 400 || elapsed() < seconds; ++seed) {
    random_walk(seed, rules, applied);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
  EXPECT_EQ(applied.size(), kRules.size()) << ::testing::PrintToString(applied);
  if (wanted) printf("%llu walks\n", static_cast<unsigned long long>(seed));
}

TEST(Engine, LooksAheadAtWhatAMoveWouldMake) {
  Graph g;
  Value x = input(g, {8, 8}), w = input(g, {8, 8}), v = input(g, {8, 8});
  Value sum = call(g, "add", {call(g, "matmul", {x, w}), call(g, "matmul", {x, v})});
  g.set_outputs({call(g, "relu", {call(g, "relu", {sum})})});
  RuleIndex rules = index_of(kRules);
  cost::Roofline model;
  Engine engine(g, rules, model);
  const std::vector<int32_t> numbers = engine.matches();
  ASSERT_GT(numbers.size(), 2U);
  for (int32_t number : numbers) {
    const Graph before = engine.to_graph();
    std::optional<Graph> ahead;
    engine.look_ahead(number, [&] { ahead = engine.to_graph(); });
    EXPECT_TRUE(structurally_equal(engine.to_graph(), before));
    EXPECT_EQ(engine.matches(), numbers);
    engine.apply(number);
    EXPECT_TRUE(structurally_equal(engine.to_graph(), *ahead));
    engine.undo();
  }
}

TEST(Engine, EqualGraphsHaveOneIdentityHoweverTheyWereReached) {
  Graph g;
  Value a = input(g, {4, 4}), b = input(g, {4, 4});
  auto twice = [&](Value v) { return call(g, "relu", {call(g, "relu", {v})}); };
  g.set_outputs({call(g, "matmul", {twice(a), twice(b)})});
  RuleIndex rules = index_of({kReluTwice});
  cost::Roofline model;
  Engine one(g, rules, model), two(g, rules, model);
  ASSERT_EQ(one.matches().size(), 2u);
  Identity start = one.identity();
  one.apply(one.matches()[0]);
  EXPECT_NE(one.identity(), start);
  one.apply(one.matches()[0]);
  two.apply(two.matches()[1]);
  EXPECT_NE(two.identity(), start);
  two.apply(two.matches()[0]);
  EXPECT_EQ(one.identity(), two.identity());
  two.undo();
  two.undo();
  EXPECT_EQ(two.identity(), start);
}

TEST(Engine, WhatARuntimeFusesIsTakenWholeOrNotAtAll) {
  Graph g;
  Value x = input(g, {4, 4});
  Value inner = call(g, "relu", {x}), outer = call(g, "relu", {inner});
  g.set_outputs({call(g, "relu", {call(g, "relu", {outer})})});
  RuleIndex rules = index_of({kReluTwice});
  cost::Roofline model;
  ASSERT_EQ(Engine(g, rules, model).matches().size(), 3u);
  auto mark = [&](Value v, int32_t count) {
    Node n = g.node(v.node);
    n.together = 0;
    n.together_count = count;
    g.replace_node(v.node, std::move(n));
  };
  mark(inner, 2);
  mark(outer, 2);
  EXPECT_EQ(Engine(g, rules, model).matches().size(), 2u);  // both, or neither
  mark(inner, 3);
  mark(outer, 3);
  EXPECT_EQ(Engine(g, rules, model).matches().size(), 1u);
}

TEST(Engine, IdentityTellsApartWhatDiffersFarFromTheOutputs) {
  Graph g;
  Value v = call(g, "relu", {call(g, "relu", {input(g, {4, 4})})});
  for (uint64_t k = 0; k < 3 * kViewDepth; ++k) v = call(g, "add", {v, weight(g, {4, 4}, k)});
  g.set_outputs({call(g, "relu", {call(g, "relu", {v})})});
  RuleIndex rules = index_of({kReluTwice});
  cost::Roofline model;
  Engine e(g, rules, model);
  std::set<Identity> seen{e.identity()};
  ASSERT_EQ(e.matches().size(), 2u);
  for (size_t first : {size_t{0}, size_t{1}}) {
    e.apply(e.matches()[first]);
    EXPECT_TRUE(seen.insert(e.identity()).second);
    e.undo();
    EXPECT_FALSE(seen.insert(e.identity()).second);
  }
  e.apply(e.matches()[0]);
  e.apply(e.matches()[0]);
  EXPECT_TRUE(seen.insert(e.identity()).second);
}

TEST(Engine, AWayThatOpensOrClosesElsewhereChangesWhetherAMergeIsACycle) {
  // relu(x) and relu(y): y is behind x's relu until sub-self cuts the way.
  Graph g;
  Value x = input(g, {2, 2}), z = input(g, {2, 2});
  Value first = call(g, "relu", {x});
  Value zero = call(g, "sub", {first, first});
  Value second = call(g, "relu", {call(g, "add", {z, zero})});
  g.set_outputs({first, second});
  RuleIndex rules = index_of({kReluPairs, kSubSelf});
  cost::Roofline model;
  Engine e(g, rules, model);
  ASSERT_EQ(e.matches().size(), 1u);
  EXPECT_EQ(e.match(e.matches()[0]).rule, 1);
  e.apply(e.matches()[0]);
  ASSERT_EQ(e.matches().size(), 2u);
  EXPECT_EQ(e.match(e.matches()[0]).rule, 0);
  e.undo();
  EXPECT_EQ(e.matches().size(), 1u);
}

TEST(Symmetry, ExchangesWhatALeftSideTreatsAlike) {
  auto count = [](const std::string& line) { return symmetries(rule_of(line)).size(); };
  EXPECT_EQ(count(kFactor), 1u);  // b and c
  EXPECT_EQ(count(kMerge), 0u);   // the order of the concat is another
  EXPECT_EQ(count(kAssociate), 0u);
  EXPECT_EQ(count(kAddAssociate), 0u);  // a and b, but then the right side is another
  EXPECT_EQ(count("r (add ?a (add ?b ?c)) => (add (add ?b ?c) ?a) for a:nn b:nn c:nn "
                  "proved:all-sizes"),
            1u);
}

TEST(Engine, CommitReclaimsMemoryAndKeepsTheNodes) {
  Graph g;
  Value v = input(g, {2, 2}), w = input(g, {2, 2}), u = input(g, {2, 2});
  g.set_outputs({call(g, "add", {call(g, "add", {v, w}), u})});
  RuleIndex rules = index_of({kAddCommute});
  cost::Roofline model;
  Engine e(g, rules, model);
  for (int step = 0; step < 20000; ++step) {
    ASSERT_FALSE(e.matches().empty());
    e.apply(e.matches()[0]);
    e.commit();
  }
  EXPECT_EQ(e.calls(), 2);
  EXPECT_GT(e.priced(), 20000u);
  EXPECT_TRUE(validate(e.to_graph()).ok());
}

TEST(Transpositions, RememberWhatIsNewAndStayAsLargeAsTheyWere) {
  Transpositions seen(1 << 10);
  Rng rng(1);
  std::vector<Identity> ids;
  for (int k = 0; k < 200; ++k) ids.push_back({rng.next(), rng.next()});
  int forgotten = 0;
  for (const Identity& id : ids) EXPECT_TRUE(seen.insert(id));
  for (const Identity& id : ids) forgotten += seen.insert(id);
  EXPECT_LT(forgotten, 20);
  EXPECT_TRUE(seen.insert({ids.back().outputs, ids.back().nodes + 1}));
  for (int k = 0; k < 100000; ++k) seen.insert({rng.next(), rng.next()});
  forgotten = 0;
  for (const Identity& id : ids) forgotten += seen.insert(id);
  EXPECT_GT(forgotten, 150);
}

}  // namespace
}  // namespace regraft::rewrite
