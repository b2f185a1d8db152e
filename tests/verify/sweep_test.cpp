// Models proved window by window.
#include "verify/model/sweep.h"

#include "tests/verify/models.h"

namespace regraft::verify {
namespace {

using Output = SweepReport::Output;

TEST(Sweep, RewritesAreProvedForAllSizes) {
  for (const char* rule : {
           "(relu (neg (neg ?a))) => (relu ?a) for a:nn",
           "(matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c)) for a:nn b:nn c:nn",
           "(add (matmul ?a ?b) (matmul ?a ?c)) => (matmul ?a (add ?b ?c)) for a:nn b:nn c:nn",
           "(relu (transpose (transpose ?a perm=1,0) perm=1,0)) => (relu ?a) for a:nn",
           "(transpose (add ?a ?b) perm=1,0) => (add (transpose ?a perm=1,0) (transpose ?b "
           "perm=1,0)) for a:nn b:nn",
           "(transpose (matmul ?a ?b) perm=1,0) => (matmul (transpose ?b perm=1,0) (transpose ?a "
           "perm=1,0)) for a:nn b:nn",
           "(relu (concat ?x ?y axis=1)) => (concat (relu ?x) (relu ?y) axis=1) for x:nn y:nn",
           "(sub ?a (neg ?b)) => (add ?a ?b) for a:nn b:nn",
       }) {
    SweepReport r = swept(rule);
    ASSERT_EQ(r.outputs.size(), 1u) << rule;
    EXPECT_EQ(r.outputs[0], Output::Windows) << rule;
    for (const auto& [key, w] : r.windows)
      if (w.count > 0) EXPECT_TRUE(is_for_all_sizes(w.verdict.kind)) << rule;
  }
}

TEST(Sweep, WrongRewritesAreNeverMerged) {
  for (const char* rule : {
           "(relu (neg ?a)) => (neg (relu ?a)) for a:nn",
           "(sub ?a ?b) => (sub ?b ?a) for a:nn b:nn",
           "(matmul ?a ?b) => (matmul ?b ?a) for a:nn b:nn",
           "(relu (add ?a ?b)) => (add (relu ?a) (relu ?b)) for a:nn b:nn",
           "(sigmoid (sigmoid ?a)) => (sigmoid ?a) for a:nn",
           "(transpose ?a perm=1,0) => ?a for a:nn",
           "(softmax ?a axis=0) => (softmax ?a axis=1) for a:nn",
           "(concat ?x ?y axis=0) => (concat ?y ?x axis=0) for x:nn y:nn",
           "(mul ?a (add ?b ?c)) => (add (mul ?a ?b) ?c) for a:nn b:nn c:nn",
           "(exp (add ?a ?b)) => (add (exp ?a) (exp ?b)) for a:nn b:nn",
           "(sqrt (mul ?a ?a)) => ?a for a:nn",
       }) {
    SweepReport r = swept(rule);
    ASSERT_EQ(r.outputs.size(), 1u) << rule;
    EXPECT_EQ(r.outputs[0], Output::Unproved) << rule;
    EXPECT_TRUE(r.merges.empty()) << rule;
  }
}

/// v, negated so often.
Value negated(Graph& g, Value v, int times) {
  for (int k = 0; k < times; ++k) v = call(g, "neg", {v});
  return v;
}

/// Gives the n-th relu that name.
void name(Graph& g) {
  int count = 0;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (g.node(id).op == nullptr || g.node(id).op->name != "relu") continue;
    Node n = g.node(id);
    n.names = {"relu" + std::to_string(count++)};
    g.replace_node(id, std::move(n));
  }
}

/// relu(x c) many times, each time of what is negated so often.
Graph layers(int count, int times, int wrong = -1) {
  Graph g;
  Value v = rows(g);
  for (int k = 0; k < count; ++k) {
    auto f = static_cast<float>(k == wrong ? 100 : k);
    v = call(g, "mul", {v, floats(g, {4}, {f + 1, f + 2, f + 3, f + 4})});
    v = call(g, "relu", {negated(g, v, times)});
  }
  g.set_outputs({v});
  return g;
}

TEST(Sweep, LayersAlikeAreProvedOnce) {
  SweepReport r = swept(joined(layers(12, 2), layers(12, 0)));
  EXPECT_EQ(r.outputs[0], Output::Windows);
  EXPECT_EQ(r.merges.size(), 12u);
  int used = 0;
  for (const auto& [key, w] : r.windows) used += w.count > 0;
  EXPECT_EQ(used, 1);
}

TEST(Sweep, OneWrongLayerIsEnough) {
  SweepReport r = swept(joined(layers(12, 2), layers(12, 0, 7)));
  EXPECT_EQ(r.outputs[0], Output::Unproved);
  EXPECT_LT(r.merges.size(), 12u);
}

TEST(Sweep, EndsAfterSoManyFailures) {
  Graph a = layers(12, 2), b = layers(12, 1);
  name(a);
  name(b);
  auto judged = [&](size_t most_failures) {
    SweepOptions options;
    options.most_failures = most_failures;
    SweepReport r = swept(joined(a, b), options, Evaluated::Constants);
    EXPECT_EQ(r.outputs[0], Output::Unproved);
    EXPECT_TRUE(r.merges.empty()) << most_failures;
    return r.windows.size();
  };
  EXPECT_LT(judged(1), judged(0));
}

TEST(Sweep, ProvedBehindCarriedNodes) {
  auto verdict = [](uint8_t content) {
    auto make = [](int times, uint8_t of) {
      Graph g;
      Value x = call(g, "relu", {negated(g, rows(g), times)});
      g.set_outputs({call(g, "relu", {negated(g, carried(g, {x}, of, true), times)})});
      name(g);
      return g;
    };
    // What a carried node makes is not known: its values are found by their names.
    return swept(joined(make(2, 1), make(0, content)), {}, Evaluated::Constants).outputs[0];
  };
  EXPECT_EQ(verdict(1), Output::Windows);
  EXPECT_EQ(verdict(2), Output::Unproved);
}

TEST(Sweep, RandomNodesStandForEachOtherOneToOne) {
  auto make = [](int times, int draws) {
    Graph g;
    Value x = call(g, "relu", {negated(g, rows(g), times)});
    Value first = carried(g, {x}, 1, false);
    Value second = draws == 1 ? first : carried(g, {x}, 1, false);
    g.set_outputs({call(g, "sub", {first, second})});
    return g;
  };
  auto verdict = [&](int draws_a, int draws_b) {
    return swept(joined(make(2, draws_a), make(0, draws_b))).outputs[0];
  };
  EXPECT_EQ(verdict(2, 2), Output::Windows);
  EXPECT_EQ(verdict(1, 1), Output::Windows);
  EXPECT_EQ(verdict(1, 2), Output::Unproved);
  EXPECT_EQ(verdict(2, 1), Output::Unproved);
}

struct Checked {
  Pair pair = joined(layers(3, 2), layers(3, 0));
  SweepReport made = swept(pair);
  Result<SweepReport> check(const std::vector<Merge>& merges) const {
    SweepOptions o;
    o.threads = 1;
    return check_merges(pair, merges, o, {});
  }
};

TEST(CheckMerges, WhatWasMadeIsProvedAnew) {
  Checked c;
  auto r = c.check(c.made.merges);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->outputs[0], Output::Windows);
  EXPECT_EQ(r->merges.size(), c.made.merges.size());
}

TEST(CheckMerges, WhatIsMissingIsNotProved) {
  Checked c;
  for (size_t k = 0; k < c.made.merges.size(); ++k) {
    auto merges = c.made.merges;
    merges.erase(merges.begin() + static_cast<std::ptrdiff_t>(k));
    auto r = c.check(merges);
    ASSERT_TRUE(r);
    EXPECT_LE(r->merges.size(), merges.size());
  }
  auto none = c.check({});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->outputs[0], Output::Unproved);
}

TEST(CheckMerges, WhatIsSaidIsNotBelieved) {
  Checked c;
  for (size_t k = 0; k < c.made.merges.size(); ++k)
    for (int32_t other = 0; other < c.pair.first_b; ++other) {
      auto merges = c.made.merges;
      if (merges[k].a.node == other) continue;
      merges[k].a.node = other;
      merges[k].kind = Merge::Proof;
      auto r = c.check(merges);
      if (!r) continue;
      for (const Merge& m : r->merges) EXPECT_FALSE(m.b == merges[k].b && m.a == merges[k].a);
    }
}

TEST(CheckMerges, ValuesThatAreNotThereAreRefused) {
  Checked c;
  for (int32_t node : {-1, c.pair.graph.id_bound(), 1 << 30, c.pair.first_b}) {
    auto merges = c.made.merges;
    merges[0].a.node = node;
    EXPECT_FALSE(c.check(merges)) << node;
  }
  for (int32_t output : {-1, 1, 1 << 30}) {
    auto merges = c.made.merges;
    merges[0].b.output = output;
    EXPECT_FALSE(c.check(merges)) << output;
  }
  auto merges = c.made.merges;
  merges[0].kind = Merge::Constant;  // of values that are none
  EXPECT_FALSE(c.check(merges));
  std::swap(merges[0].a, merges[0].b);
  EXPECT_FALSE(c.check(merges));
}

}  // namespace
}  // namespace regraft::verify
