// Groups of equal values: which are one another with other names of variables, and what in them
// applies one follower to one value.
#include <gtest/gtest.h>

#include <algorithm>

#include "gen/enumerate/enumerate.h"
#include "gen/minimise/followers.h"
#include "gen/minimise/orbits.h"

namespace regraft::gen {
namespace {

const Grammar kSums = {"sums",
                       {{"x", {2, 3}, 3}, {"y", {3}, 1}},
                       {{"add", "", {"ab", "ab"}},
                        {"add", "", {"ab", "b"}},
                        {"relu", "", {".."}},
                        {"concat", "axis=0", {"ab", "cb"}}}};

/// What is enumerated of a grammar.
struct Enumerated {
  explicit Enumerated(const Grammar& grammar, int max_size) : ops(grammar, 4, 7), bank(7) {
    EXPECT_TRUE(ops.load());
    EnumerateOptions options;
    options.max_size = max_size;
    auto found = enumerate(ops, options, bank, Stop());
    EXPECT_TRUE(found);
    graph = std::move(found->graph);
  }
  /// The terms of a group, whatever their variables are called.
  std::vector<std::vector<int64_t>> shapes_of(const Group& group) {
    std::vector<std::vector<int64_t>> all;
    for (Application a : group.applications) {
      TermId t = graph->extract(bank, a);
      all.push_back(renaming_key(bank, {t, t}));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  ShapedOps ops;
  Bank bank;
  std::unique_ptr<ValueGraph> graph;
};

TEST(Orbits, GroupsOfOneOrbitAreRenamingsOfOneAnother) {
  Enumerated e(kSums, 2);
  const Orbits orbits(*e.graph, 1);
  std::map<Application, std::vector<std::vector<int64_t>>> by_orbit;
  for (const Group& g : e.graph->groups) {
    auto terms = e.shapes_of(g);
    auto [known, fresh] = by_orbit.emplace(orbits.first_renaming(g.applications), terms);
    if (!fresh) EXPECT_EQ(known->second, terms);
  }
  EXPECT_GT(by_orbit.size(), 3u);
  EXPECT_LT(by_orbit.size(), e.graph->groups.size());
}

TEST(Orbits, VariablesChangePlacesWithinTheirKindOnly) {
  Enumerated e(kSums, 2);
  const Orbits orbits(*e.graph, 1);
  const auto leaf = [&](size_t k) { return static_cast<ClassId>(k); };
  auto sum = [&](int instance, ClassId a, ClassId b) {
    Operands operands;
    operands.push_back(a);
    operands.push_back(b);
    return *e.graph->application(instance, 0, operands);
  };
  Application first = orbits.first_renaming({sum(0, leaf(0), leaf(1))});
  EXPECT_EQ(orbits.first_renaming({sum(0, leaf(1), leaf(2))}).instance(), first.instance());
  EXPECT_EQ(orbits.first_renaming({sum(0, leaf(0), leaf(1))}), sum(0, leaf(0), leaf(1)));
  EXPECT_EQ(orbits.first_renaming({sum(1, leaf(2), leaf(3))}), sum(1, leaf(2), leaf(3)));
  EXPECT_EQ(orbits.first_renaming({sum(3, leaf(1), leaf(0))}), sum(3, leaf(0), leaf(1)));
  EXPECT_EQ(orbits.first_renaming({sum(3, leaf(1), leaf(1))}), sum(3, leaf(1), leaf(1)));
}

/// Sums with and without relu in the same call, and relu as a call of its own.
Grammar followed_sums() {
  Grammar g{"followed",
            {{"x", {2, 3}, 3}},
            {{"add", "", {"ab", "ab"}}, {"add", "", {"ab", "ab"}}, {"relu", "", {".."}}}};
  g.instances[1].then = "relu";
  return g;
}
constexpr int kSum = 0, kSumThenRelu = 1, kRelu = 2;

// relu of x1 + (x2 + x3) and of (x1 + x2) + x3, where the sums have no class yet.
TEST(Followers, OfCallsOfOneGroupAreEqual) {
  const Grammar grammar = followed_sums();
  Enumerated e(grammar, 2);
  const Followers followers(*e.graph);
  size_t of_three = 0;
  for (const Group& g : e.graph->groups) {
    if (g.known != kNoClass || g.applications.size() != 3) continue;
    bool followed = std::ranges::all_of(g.applications,
                                        [](Application a) { return a.instance() == kSumThenRelu; });
    if (!followed) continue;
    ++of_three;
    EXPECT_EQ(followers.equal(2, g.known, g.applications), (std::vector<uint32_t>{1, 1, 1}));
  }
  EXPECT_GT(of_three, 0u);
}

TEST(Followers, OfAClassAreWhatItsFollowerComputes) {
  const Grammar grammar = followed_sums();
  Enumerated e(grammar, 2);
  const Followers followers(*e.graph);
  Operands xs;
  xs.push_back(0);
  xs.push_back(1);
  ClassId sum = e.graph->find(*e.graph->application(kSum, 0, xs)).value();
  ClassId followed = e.graph->find(*e.graph->application(kSumThenRelu, 0, xs)).value();
  Operands operand;
  operand.push_back(sum);
  Application relu = *e.graph->application(kRelu, 0, operand);
  EXPECT_EQ(followers.equal(2, followed, {relu}), std::vector<uint32_t>{0});
  EXPECT_TRUE(followers.equal(1, followed, {relu}).empty()) << "the smaller one is not known then";
}

// Equal values alone do not make it so: relu of relu is what rules must say.
TEST(Followers, OfCallsOfDifferentValuesAreNot) {
  const Grammar grammar = followed_sums();
  Enumerated e(grammar, 2);
  const Followers followers(*e.graph);
  size_t others = 0;
  for (const Group& g : e.graph->groups)
    for (Application a : g.applications) {
      if (a.instance() != kRelu || e.graph->level(a.a()) != 1) continue;
      bool again = e.graph->first(a.a()).instance() != kSum;
      if (!again) continue;
      ++others;
      EXPECT_TRUE(followers.equal(2, g.known, {a}).empty());
    }
  EXPECT_GT(others, 0u);
}

}  // namespace
}  // namespace regraft::gen
