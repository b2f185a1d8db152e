// Enumeration against brute force: all terms, without classes or supports.
#include "gen/enumerate/enumerate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraft::gen {
namespace {

const Grammar kTiny = {
    "tiny",
    {{"x", {2, 3}}, {"w", {3, 3}}},
    {{"matmul", "", {"ab", "bc"}}, {"relu", "", {".."}}, {"transpose", "perm=1,0", {".."}}}};
const Grammar kSplits = {"splits",
                         {{"x", {2, 3}}, {"w", {3, 3}}},
                         {{"add", "", {"ab", "ab"}},
                          {"concat", "axis=-1", {"ab", "ac"}},
                          {"concat", "axis=-2", {"ba", "ca"}},
                          {"split", "axis=-1 sizes~3,3", {".6"}},
                          {"split", "axis=-2 sizes~2,3", {"5."}}}};

// Division and roots without exponentials.
const Grammar kQuotients = {"quotients",
                            {{"x", {2, 3}}, {"s", {}}, {"t", {}}},
                            {{"div", "", {"ab", "-"}},
                             {"div", "", {"-", "-"}},
                             {"mul", "", {"ab", "-"}},
                             {"sub", "", {"-", "-"}},
                             {"sqrt", "", {""}}}};

/// Values of all terms of up to max_size calls.
std::set<std::vector<uint64_t>> brute_force_values(const Grammar& grammar, int max_size) {
  Bank bank(5);
  std::vector<int> labels;
  for (const Instance& in : grammar.instances) labels.push_back(bank.add_label(*label_of(in)));
  std::set<TermId> terms;
  int number = 0;
  for (const LeafKind& kind : grammar.leaves) terms.insert(bank.leaf(kind.shape, number++));
  auto try_term = [&](size_t k, std::vector<TermId> operands, std::set<TermId>& out) {
    std::vector<const std::vector<int64_t>*> shapes;
    for (TermId t : operands) shapes.push_back(&bank.value(t)->shape);
    if (!fits(grammar.instances[k], shapes)) return;
    for (int o = 0; o < bank.label(labels[k]).outputs; ++o) {
      TermId t = bank.call(labels[k], operands, o);
      if (bank.size(t) <= static_cast<size_t>(max_size) && bank.value(t)) out.insert(t);
    }
  };
  for (int round = 0; round < max_size; ++round) {
    std::set<TermId> next = terms;
    for (size_t k = 0; k < grammar.instances.size(); ++k)
      for (TermId a : terms) {
        if (grammar.instances[k].operands.size() == 1) try_term(k, {a}, next);
        for (TermId b : terms)
          if (grammar.instances[k].operands.size() == 2 && a != b && !bank.same_value(a, b))
            try_term(k, {a, b}, next);
      }
    terms = std::move(next);
  }
  std::set<std::vector<uint64_t>> values;
  for (TermId t : terms) {
    const auto* value = bank.value(t);
    std::vector<uint64_t> key(value->shape.begin(), value->shape.end());
    for (Residue x : value->data) key.push_back(x.v);
    values.insert(std::move(key));
  }
  return values;
}

constexpr int kTrials = 16;  // so many that chance plays no part

/// An enumeration with what it refers to.
struct Enumerated {
  Grammar grammar;
  ShapedOps ops;
  Bank bank;
  Enumeration found;
  Enumerated(Grammar t, int max_size, uint64_t seed, int threads = 1, uint64_t max_bytes = 0)
      : grammar(std::move(t)), ops(grammar, kTrials, seed), bank(seed) {
    EXPECT_TRUE(ops.load());
    Stop stop;
    auto e = enumerate(ops, {max_size, seed, threads, max_bytes, Verbosity::Quiet}, bank, stop);
    EXPECT_TRUE(e);
    if (e) found = *std::move(e);
  }
};

/// The number of classes; what is in one class has one value.
uint64_t class_count(const Grammar& grammar, int max_size) {
  Enumerated e(grammar, max_size, 11);
  const ValueGraph& g = *e.found.graph;
  for (ClassId c = 0; c < g.size(); ++c)
    for (Application a : g.nodes(c))
      EXPECT_TRUE(e.bank.same_value(g.extract(e.bank, c), g.extract(e.bank, a)));
  for (const Group& group : g.groups) {
    TermId first = group.known == kNoClass ? g.extract(e.bank, group.applications[0])
                                           : g.extract(e.bank, group.known);
    for (Application a : group.applications)
      EXPECT_TRUE(e.bank.same_value(first, g.extract(e.bank, a)));
  }
  return e.found.counts.classes;
}

TEST(Enumerate, FindsAsManyValuesAsBruteForce) {
  for (int size : {1, 2, 3}) {
    EXPECT_EQ(class_count(kTiny, size), brute_force_values(kTiny, size).size()) << size;
    EXPECT_EQ(class_count(kSplits, size), brute_force_values(kSplits, size).size()) << size;
    EXPECT_EQ(class_count(kQuotients, size), brute_force_values(kQuotients, size).size()) << size;
  }
  EXPECT_EQ(class_count(kTiny, 4), brute_force_values(kTiny, 4).size());
}

std::vector<uint64_t> applications_of(const ValueGraph& g) {
  std::vector<uint64_t> all;
  for (ClassId c = 0; c < g.size(); ++c)
    for (Application a : g.nodes(c)) all.push_back(a.bits);
  for (const Group& group : g.groups)
    for (Application a : group.applications) all.push_back(a.bits);
  return all;
}

TEST(Enumerate, ThreadsAndSeedsDoNotMatter) {
  const Grammar grammar = find_op_set("matrix")->grammars[0];
  Enumerated one(grammar, 3, 2, 1), many(grammar, 3, 2, 4), other(grammar, 3, 5, 2);
  EXPECT_GT(one.found.counts.collisions, 100u);
  for (const Enumerated* e : {&many, &other}) {
    EXPECT_EQ(e->found.counts.applications, one.found.counts.applications);
    EXPECT_EQ(applications_of(*e->found.graph), applications_of(*one.found.graph));
  }
}

TEST(Enumerate, TheMemoryLimitEndsItCleanly) {
  Enumerated e(find_op_set("matrix")->grammars[0], 4, 2, 2, 2'000'000);
  EXPECT_EQ(e.found.ended, Ended::OutOfMemory);
  Enumerated small(find_op_set("matrix")->grammars[0], 1, 2, 2);
  EXPECT_GE(e.found.graph->size(), small.found.graph->size());
}

TEST(Enumerate, TheErrorBoundGrowsWithTheValues) {
  Enumerated small(kTiny, 2, 1), large(kTiny, 4, 1);
  EXPECT_GT(small.found.counts.error_bound, 0);
  EXPECT_GT(large.found.counts.error_bound, small.found.counts.error_bound);
  EXPECT_LT(large.found.counts.error_bound, 1e-10);
}

TEST(Enumerate, RefusesSizesItCannotDo) {
  Stop stop;
  Bank bank(1);
  ShapedOps ops(kTiny, 4, 1);
  ASSERT_TRUE(ops.load());
  for (int size : {0, kMaxSize + 1}) {
    auto e = enumerate(ops, {size, 1, 1, 0, Verbosity::Quiet}, bank, stop);
    ASSERT_FALSE(e);
    EXPECT_NE(e.error().message.find("--max-size"), std::string::npos);
  }
}

TEST(Enumerate, AFollowerCostsNoCall) {
  Grammar grammar = {"fused", {{"x", {2, 3}}, {"w", {3, 3}}}, {{"matmul", "", {"ab", "bc"}}}};
  EXPECT_EQ(class_count(grammar, 1), 3u);  // x, w, xw
  grammar.instances.push_back({"matmul", "", {"ab", "bc"}, Scope::Values, "relu"});
  EXPECT_EQ(class_count(grammar, 1), 4u);
}

TEST(Enumerate, FreeConstantsCostNoCall) {
  Grammar grammar = {"free", {{"x", {2, 3}}}, {{"mul", "", {"ab", "-"}}}};
  EXPECT_EQ(class_count(grammar, 1), 1u);
  grammar.instances.push_back({"full", "shape= value=2", {}, Scope::Free});
  EXPECT_EQ(class_count(grammar, 1), 3u);  // x, 2, 2x
  EXPECT_EQ(class_count(grammar, 2), 4u);  // 4x
  grammar.instances.back().scope = Scope::Values;
  EXPECT_EQ(class_count(grammar, 1), 2u);
  EXPECT_EQ(class_count(grammar, 2), 3u);
}

TEST(Enumerate, AnOperandMayBeOfOneKindOnly) {
  Grammar grammar = {"kinds",
                     {{"x", {2, 3}}, {"y", {2, 3}, 2}},
                     {{"sub", "", {"ab", "ab@y"}},
                      {"mul", "", {"ab", "ab@"}},
                      {"relu", "", {".."}},
                      {"full", "shape~2,3 value=2", {}, Scope::Free}}};
  Enumerated e(grammar, 3, 11);
  const ValueGraph& g = *e.found.graph;
  int calls[2] = {0, 0};
  for (ClassId c = 0; c < g.size(); ++c)
    for (Application a : g.nodes(c)) {
      if (a.instance() > 1) continue;
      ClassId second = g.operands(a).ids[1];
      ++calls[a.instance()];
      EXPECT_LE(g.level(second), 0);
      EXPECT_TRUE(a.instance() != 0 || second == 1 || second == 2) << second;
    }
  EXPECT_GT(calls[0], 4);
  EXPECT_GT(calls[1], 4);
}

TEST(OpSets, AGrammarIsAnOpSet) {
  auto all = find_op_set("core");
  ASSERT_TRUE(all);
  const Grammar& last = all->grammars.back();
  auto one = find_op_set("core/" + std::string(last.name));
  ASSERT_TRUE(one);
  ASSERT_EQ(one->grammars.size(), 1u);
  EXPECT_EQ(one->grammars[0].instances.size(), last.instances.size());
  EXPECT_FALSE(find_op_set("core/"));
  EXPECT_FALSE(find_op_set("matrices"));
}

TEST(Supports, SmallestUnionSharesCalls) {
  Support a = Support{}.with(2).with(1), b = Support{}.with(2).with(3), c = Support{}.with(9);
  EXPECT_EQ(union_size(a.span(), b.span()), 3);
  SupportTable table;
  table.push_back({a, c});
  table.push_back({b});
  table.push_back({b, a.without(1)});
  EXPECT_EQ(smallest_union(table.of(0), table.of(1)), 3);
  EXPECT_EQ(smallest_union(table.of(0), table.of(2)), 2);
  SupportList three[] = {table.of(0), table.of(1), table.of(2)};
  EXPECT_EQ(smallest_union(three), 3);
  EXPECT_EQ(best_union(three).size, 3u);
  table.replace({{1, {c}}});
  EXPECT_EQ(smallest_union(table.of(0), table.of(1)), 1);
  std::vector<Support> list = {a};
  add_irredundant(list, a.with(7));
  EXPECT_EQ(list.size(), 1u);
  add_irredundant(list, b);
  EXPECT_EQ(list.size(), 2u);
  add_irredundant(list, Support{}.with(1));
  EXPECT_EQ(list.size(), 2u);  // instead of a
}

void expect_well_formed(const Instance& in) {
  auto label = label_of(in);
  ASSERT_TRUE(label) << label.error().message;
  auto arity = static_cast<int>(in.operands.size());
  EXPECT_GE(arity, label->op->min_arity) << in.op;
  EXPECT_LE(arity, label->op->max_arity) << in.op;
  EXPECT_TRUE(in.scope != Scope::Free || arity == 0) << in.op;
  if (in.then.empty()) return;
  const OpDef* then = find_op(in.then);
  ASSERT_TRUE(then) << in.then;
  EXPECT_EQ(then->max_arity, 1) << in.then;
  EXPECT_TRUE(then->ints.empty() && then->reals.empty()) << in.then;
}

TEST(OpSets, EveryInstanceIsWellFormed) {
  for (const OpSet& set : op_sets()) {
    ASSERT_TRUE(find_op_set(set.name));
    EXPECT_EQ(find_op_set(set.name)->grammars.size(), set.grammars.size());
    for (const Grammar& grammar : set.grammars)
      for (const Instance& in : grammar.instances) {
        expect_well_formed(in);
        for (std::string_view operand : in.operands) {
          auto kind = kind_of(operand);
          bool known = !kind || kind->empty() ||
                       std::any_of(grammar.leaves.begin(), grammar.leaves.end(),
                                   [&](const LeafKind& k) { return k.name == *kind; }) ||
                       std::any_of(grammar.instances.begin(), grammar.instances.end(),
                                   [&](const Instance& i) { return i.name == *kind; });
          EXPECT_TRUE(known) << grammar.name << ": " << operand;
        }
      }
  }
  EXPECT_FALSE(label_of({"matmul", "axis=1", {"..", ".."}}));
  EXPECT_FALSE(label_of({"no-such-operator", "", {}}));
  EXPECT_FALSE(label_of({"concat", "", {"..", ".."}}));
}

}  // namespace
}  // namespace regraft::gen
