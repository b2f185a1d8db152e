// Which groups of equal values are one another with other names of variables.
#include "gen/minimise/orbits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gen/enumerate/enumerate.h"

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

}  // namespace
}  // namespace regraft::gen
