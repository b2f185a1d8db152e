// What is kept up to date while a graph changes equals what is made anew.
#include "rl/environment/observer.h"

#include <algorithm>

#include "rewrite/search/reporter.h"
#include "rl/environment/ordered_matches.h"
#include "tests/rl/graphs.h"

namespace regraft::rl {
namespace {

template <class List, class Row>
void append(List& list, const Row& row) {
  list.insert(list.end(), row.begin(), row.end());
}

/// An observation, put together in the plainest way.
Observation made_anew(const rewrite::Engine& engine, double original, const Standing& p,
                      const std::vector<int32_t>& matches) {
  Describer d(engine, original);
  const auto& g = engine.graph();
  Observation o;
  std::vector<int32_t> rows(static_cast<size_t>(g.id_bound()), -1);
  auto row = [&](int32_t id) { return rows[static_cast<size_t>(id)]; };
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!d.is_node(id)) continue;
    rows[static_cast<size_t>(id)] = o.nodes++;
    o.op.push_back(d.op(id));
    append(o.node, d.node(id));
  }
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    for (size_t k = 0; d.is_node(id) && k < g.slot(id).inputs.size(); ++k) {
      Value v = g.slot(id).inputs[k];
      if (!d.is_node(v.node)) continue;
      o.source.push_back(row(v.node));
      o.target.push_back(row(id));
      append(o.edge, d.edge(id, static_cast<int32_t>(k)));
    }
  }
  Totals totals;
  o.inside_first = o.near_first = {0};
  for (int32_t number : matches) {
    const rewrite::Match& m = engine.match(number);
    o.rule.push_back(m.rule);
    d.for_inside(m, [&](int32_t id) { o.inside.push_back(row(id)); });
    d.for_near(m, [&](int32_t id) { o.near.push_back(row(id)); });
    o.inside_first.push_back(static_cast<int32_t>(o.inside.size()));
    o.near_first.push_back(static_cast<int32_t>(o.near.size()));
    append(o.match, d.match(m));
    totals.add(m.rule, m.cost_change);
  }
  o.global = d.global(p, totals);
  return o;
}

void expect_equal(const Observation& a, const Observation& b) {
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.node, b.node);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.edge, b.edge);
  EXPECT_EQ(a.rule, b.rule);
  EXPECT_EQ(a.inside_first, b.inside_first);
  EXPECT_EQ(a.inside, b.inside);
  EXPECT_EQ(a.near_first, b.near_first);
  EXPECT_EQ(a.near, b.near);
  EXPECT_EQ(a.match, b.match);
  EXPECT_EQ(a.global, b.global);
}

std::vector<int32_t> sorted_anew(const rewrite::Engine& engine) {
  std::vector<int32_t> all = engine.matches();
  std::ranges::sort(all, [&](int32_t a, int32_t b) {
    const rewrite::Match &x = engine.match(a), &y = engine.match(b);
    return x.rule != y.rule ? x.rule < y.rule : rewrite::comes_first(x, y);
  });
  return all;
}

/// Values that several read, products of constants, and a part that is not rewritten.
Graph tangle() {
  Graph g = layers(2);
  Value x = g.outputs()[0], w = weight(g, {64, 64}, 50), v = weight(g, {64, 64}, 51);
  Value wv = call(g, "matmul", {call(g, "relu", {w}), v});
  Value a = call(g, "matmul", {call(g, "matmul", {x, w}), v}), b = call(g, "matmul", {x, wv});
  Value c = call(g, "mul", {call(g, "add", {a, b}), call(g, "add", {b, a})});
  Value d = call(g, "sub", {call(g, "neg", {call(g, "neg", {c})}), call(g, "relu", {x})});
  g.set_outputs({call(g, "add", {d, call(g, "mul", {x, d})}), a});
  return g;
}

/// A value that turns out to be constant, with constant and other readers, one of them foreign.
Graph hidden_constant() {
  Graph g;
  Value x = input(g, {3, 3}), w = weight(g, {3, 3}, 1), v = weight(g, {3, 3}, 2);
  Value zero = call(g, "sub", {call(g, "relu", {x}), call(g, "relu", {x})});
  Value a = call(g, "relu", {call(g, "add", {call(g, "add", {zero, w}), v})});
  Node foreign;
  foreign.kind = NodeKind::Opaque;
  foreign.pure = true;
  foreign.origin = 4;
  foreign.inputs = {call(g, "transpose", {call(g, "transpose", {x}, {{1, 0}})}, {{1, 0}}), a};
  foreign.types = {{DType::F32, Shape{3, 3}}};
  Value f{g.add_node(foreign), 0};
  g.set_outputs({call(g, "add", {f, call(g, "matmul", {call(g, "matmul", {x, a}), w})}), zero});
  return g;
}

const rewrite::RuleIndex& few_rules() {
  static const auto index = rewrite::index_of(
      {"sub-self (sub ?a ?a) => (full shape=a.0,a.1) for a:nn proved:all-sizes",
       "twice (transpose (transpose ?x perm=1,0) perm=1,0) => ?x for x:nn proved:all-sizes",
       "add-commute (add ?a (add ?b ?c)) => (add (add ?a ?b) ?c) for a:nn b:nn c:nn "
       "proved:all-sizes",
       "associate (matmul (matmul ?a ?b) ?c) <=> (matmul ?a (matmul ?b ?c)) for a:nn b:nn c:nn "
       "proved:all-sizes"});
  return index;
}

/// Walks at random, forth and back, and looks at most states.
void walk(const Graph& g, const rewrite::RuleIndex& rules, uint64_t seed, int length) {
  rewrite::Engine engine(g, rules, roofline());
  OrderedMatches ordered(engine);
  Observer observer(engine, engine.cost());
  double original = engine.cost();
  Rng rng(seed);
  for (int k = 0; k < length && !testing::Test::HasFailure(); ++k) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", step " << k);
    std::vector<int32_t> numbers, shown;
    for (const auto& e : ordered.now()) {
      const rewrite::Match& m = engine.match(e.number);
      EXPECT_EQ(std::tie(e.cost_change, e.growth, e.rule),
                std::tie(m.cost_change, m.growth, m.rule));
      numbers.push_back(e.number);
      if (rng.unit() < 0.9) shown.push_back(e.number);
    }
    EXPECT_EQ(numbers, sorted_anew(engine));
    if (rng.unit() < 0.9) {
      Standing p{original, engine.cost(), rng.unit()};
      expect_equal(observer.observe(p, shown), made_anew(engine, original, p, shown));
    }
    if (numbers.empty() || (engine.depth() > 0 && rng.unit() < 0.1)) {
      for (size_t back = 1 + rng.below(engine.depth()); back > 0; --back) engine.undo();
    } else if (rng.unit() < 0.02) {
      engine.commit();
    } else {
      engine.apply(numbers[rng.below(numbers.size())]);
    }
    if (engine.calls() > 60) return;
  }
}

TEST(Observer, KeepsUpWithRandomWalks) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    walk(layers(2), shipped_rules(), seed, 60);
    walk(tangle(), shipped_rules(), seed, 60);
    walk(hidden_constant(), few_rules(), seed, 60);
  }
}

}  // namespace
}  // namespace regraft::rl
