// Extraction against every choice there is.
#include "rewrite/egraph/extract.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace regraft::rewrite {
namespace {

constexpr uint64_t kSteps = 100000;

/// The cheapest choice of all; nullopt: none is possible.
std::optional<double> brute_force(const Choices& c) {
  std::vector<size_t> digits(c.classes.size(), 0);
  std::optional<double> best;
  for (;;) {
    std::vector<int32_t> chosen;
    for (size_t k = 0; k < digits.size(); ++k) chosen.push_back(c.classes[k][digits[k]]);
    auto cost = price(c, chosen);
    if (cost && (!best || *cost < *best)) best = cost;
    size_t k = 0;
    while (k < digits.size() && ++digits[k] == c.classes[k].size()) digits[k++] = 0;
    if (k == digits.size()) return best;
  }
}

/// Adds a node to the classes of its outputs.
int32_t add(Choices& c, double cost, std::vector<int32_t> operands, std::vector<int32_t> outputs) {
  auto id = static_cast<int32_t>(c.nodes.size());
  for (int32_t k : outputs) {
    if (c.classes.size() <= static_cast<size_t>(k)) c.classes.resize(static_cast<size_t>(k) + 1);
    c.classes[static_cast<size_t>(k)].push_back(id);
  }
  c.nodes.push_back({cost, std::move(operands), std::move(outputs)});
  return id;
}

/// Class k has a first way through classes below it; others may lead anywhere, so to cycles.
Choices random_choices(Rng& rng) {
  Choices c;
  const auto n = static_cast<int32_t>(3 + rng.below(5));
  auto cost = [&] { return static_cast<double>(rng.below(20)); };
  for (int32_t k = 0; k < n; ++k) {
    std::vector<int32_t> operands;
    for (int32_t j = 0; j < k; ++j)
      if (rng.below(3) == 0) operands.push_back(j);
    add(c, cost(), operands, {k});
  }
  for (uint64_t more = rng.below(7); more > 0; --more) {
    std::vector<int32_t> operands,
        outputs{static_cast<int32_t>(rng.below(static_cast<uint64_t>(n)))};
    for (uint64_t j = rng.below(3); j > 0; --j)
      operands.push_back(static_cast<int32_t>(rng.below(static_cast<uint64_t>(n))));
    auto second = static_cast<int32_t>(rng.below(static_cast<uint64_t>(n)));
    if (rng.below(2) && second != outputs[0]) outputs.push_back(second);
    add(c, cost(), operands, outputs);
  }
  c.roots = {n - 1};
  if (rng.below(2)) c.roots.push_back(static_cast<int32_t>(rng.below(static_cast<uint64_t>(n))));
  return c;
}

std::vector<int32_t> first_ways(const Choices& c) {
  std::vector<int32_t> chosen;
  for (const auto& nodes : c.classes) chosen.push_back(nodes[0]);
  return chosen;
}

TEST(Extract, FindsTheCheapestOfAllChoices) {
  Rng rng(1);
  int quick = 0;
  for (int k = 0; k < 2000; ++k) {
    Choices c = random_choices(rng);
    auto best = brute_force(c);
    ASSERT_TRUE(best.has_value());
    Extraction e = extract(c, first_ways(c), kSteps);
    EXPECT_TRUE(e.optimal);
    EXPECT_NEAR(e.cost, *best, 1e-9);
    std::vector<int32_t> chosen = e.chosen;
    EXPECT_NEAR(price(c, chosen).value_or(-1), e.cost, 1e-9);
    EXPECT_EQ(chosen, e.chosen);  // nothing is chosen that is not needed
    auto start = first_ways(c);
    Extraction unproved = extract(c, start, 0);
    EXPECT_GE(unproved.cost, *best - 1e-9);
    EXPECT_LE(unproved.cost, price(c, start).value_or(0) + 1e-9);
    quick += unproved.cost <= *best + 1e-9;
  }
  EXPECT_GE(quick, 1800);
}

/// Two products, or one that is cut in two: alone each of the parts is dearer that way.
TEST(Extract, CountsWhatIsSharedOnce) {
  Choices c;
  add(c, 0, {}, {0});
  add(c, 60, {0}, {1});
  add(c, 60, {0}, {2});
  int32_t joint = add(c, 90, {0}, {3});
  int32_t cut = add(c, 5, {3}, {1, 2});
  c.roots = {1, 2};
  for (uint64_t steps : {uint64_t{0}, kSteps}) {
    Extraction e = extract(c, {0, 1, 2, -1}, steps);
    EXPECT_NEAR(e.cost, 95, 1e-9);
    EXPECT_EQ(e.chosen, (std::vector<int32_t>{0, cut, cut, joint}));
  }
}

TEST(Extract, DoesNotLetAValueNeedItself) {
  Choices c;
  add(c, 10, {}, {0});
  add(c, 10, {0}, {1});
  add(c, 1, {1}, {0});
  c.roots = {1};
  Extraction e = extract(c, {0, 1}, kSteps);
  EXPECT_EQ(e.chosen, (std::vector<int32_t>{0, 1}));
  std::vector<int32_t> cycle{2, 1};
  EXPECT_FALSE(price(c, cycle).has_value());
}

}  // namespace
}  // namespace regraft::rewrite
