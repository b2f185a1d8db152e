// Enumeration against brute force: all terms, without classes or supports.
#include "gen/enumerate.h"

#include <gtest/gtest.h>

#include "gen/supports.h"

namespace regraft::gen {
namespace {

const OpSet kTiny = {
    "tiny",
    {{"x", {2, 3}}, {"w", {3, 3}}},
    {{"matmul", "", {"ab", "bc"}}, {"relu", "", {".."}}, {"transpose", "perm=1,0", {".."}}}};
const OpSet kSplits = {"splits",
                       {{"x", {2, 3}}, {"w", {3, 3}}},
                       {{"add", "", {"ab", "ab"}},
                        {"concat", "axis=-1", {"ab", "ac"}},
                        {"concat", "axis=-2", {"ba", "ca"}},
                        {"split", "axis=-1 sizes~3,3", {".6"}},
                        {"split", "axis=-2 sizes~2,3", {"5."}}}};

/// Values of all terms of up to max_size calls.
std::set<std::vector<uint64_t>> brute_force_values(const OpSet& set, int max_size) {
  Bank bank(5);
  std::vector<int> labels;
  for (const Instance& in : set.instances) labels.push_back(bank.add_label(*label_of(in)));
  std::set<TermId> terms;
  int number = 0;
  for (const LeafKind& kind : set.leaves) terms.insert(bank.leaf(kind.shape, number++));
  auto try_term = [&](size_t k, std::vector<TermId> operands, std::set<TermId>& out) {
    std::vector<const std::vector<int64_t>*> shapes;
    for (TermId t : operands) shapes.push_back(&bank.value(t)->shape);
    if (!fits(set.instances[k], shapes)) return;
    for (int o = 0; o < bank.label(labels[k]).outputs; ++o) {
      TermId t = bank.call(labels[k], operands, o);
      if (bank.size(t) <= static_cast<size_t>(max_size) && bank.value(t)) out.insert(t);
    }
  };
  for (int round = 0; round < max_size; ++round) {
    std::set<TermId> next = terms;
    for (size_t k = 0; k < set.instances.size(); ++k)
      for (TermId a : terms) {
        if (set.instances[k].operands.size() == 1) try_term(k, {a}, next);
        for (TermId b : terms)
          if (set.instances[k].operands.size() == 2 && a != b && !bank.same_value(a, b))
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

uint64_t class_count(const OpSet& set, int max_size) {
  Bank bank(12);
  Stop stop;
  auto e = enumerate(set, {max_size, 12, 1, Verbosity::Quiet}, bank, stop);
  EXPECT_TRUE(e);
  for (Pair p : e->pairs) EXPECT_TRUE(bank.same_value(p.lhs, p.rhs));
  return e->counts.classes;
}

TEST(Enumerate, FindsAsManyValuesAsBruteForce) {
  for (int size : {1, 2, 3}) {
    EXPECT_EQ(class_count(kTiny, size), brute_force_values(kTiny, size).size()) << size;
    EXPECT_EQ(class_count(kSplits, size), brute_force_values(kSplits, size).size()) << size;
  }
  EXPECT_EQ(class_count(kTiny, 4), brute_force_values(kTiny, 4).size());
}

TEST(Enumerate, ThreadsDoNotMatter) {
  Stop stop;
  Bank one(3), many(3);
  auto a = enumerate(*find_op_set("matrix"), {2, 3, 1, Verbosity::Quiet}, one, stop);
  auto b = enumerate(*find_op_set("matrix"), {2, 3, 4, Verbosity::Quiet}, many, stop);
  ASSERT_TRUE(a);
  ASSERT_TRUE(b);
  EXPECT_FALSE(a->pairs.empty());
  EXPECT_EQ(a->pairs, b->pairs);
  EXPECT_EQ(a->counts.applications, b->counts.applications);
}

TEST(Enumerate, RefusesSizesItCannotDo) {
  Stop stop;
  Bank bank(1);
  for (int size : {0, kMaxSize + 1}) {
    auto e = enumerate(kTiny, {size, 1, 1, Verbosity::Quiet}, bank, stop);
    ASSERT_FALSE(e);
    EXPECT_NE(e.error().message.find("--max-size"), std::string::npos);
  }
}

TEST(Supports, SmallestUnionSharesCalls) {
  Support a = Support{}.with(1).with(2), b = Support{}.with(2).with(3), c = Support{}.with(9);
  EXPECT_EQ(union_size(a, b), 3);
  EXPECT_EQ(smallest_union({a, c}, {b}), 3);
  EXPECT_EQ(smallest_union({a, c}, {b, a.without(1)}), 2);
  std::vector<Support> list = {a};
  add_irredundant(list, a.with(7));
  EXPECT_EQ(list.size(), 1u);
  add_irredundant(list, b);
  EXPECT_EQ(list.size(), 2u);
}

TEST(OpSets, EveryInstanceIsWellFormed) {
  for (const OpSet& set : op_sets()) {
    EXPECT_EQ(find_op_set(set.name), &set);
    for (const Instance& in : set.instances) {
      auto label = label_of(in);
      ASSERT_TRUE(label) << label.error().message;
      auto arity = static_cast<int>(in.operands.size());
      EXPECT_GE(arity, label->op->min_arity) << in.op;
      EXPECT_LE(arity, label->op->max_arity) << in.op;
    }
  }
  EXPECT_FALSE(label_of({"matmul", "axis=1", {"..", ".."}}));
  EXPECT_FALSE(label_of({"no-such-operator", "", {}}));
  EXPECT_FALSE(label_of({"concat", "", {"..", ".."}}));
}

}  // namespace
}  // namespace regraft::gen
