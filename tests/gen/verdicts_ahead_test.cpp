// Verdicts that threads make before they are asked for.
#include "gen/minimise/verdicts_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace regraft::gen {
namespace {

/// A verdict that tells of which pair it is.
Verdict of(const PairOf& pair) {
  Verdict v;
  v.found.resize(pair.group);
  v.kind = pair.application == 0 ? Verdict::Chance : Verdict::Rules;
  return v;
}

bool is_of(const Verdict& v, const PairOf& pair) {
  return v.found.size() == pair.group && v.kind == of(pair).kind;
}

TEST(VerdictsAhead, EachIsMadeOnceWhateverWasProposed) {
  constexpr size_t kGroups = 200;
  std::atomic<size_t> made = 0;
  VerdictsAhead ahead(3, [&](const PairOf& pair) {
    ++made;
    return of(pair);
  });
  for (size_t group = 1; group <= kGroups; ++group) {
    std::vector<PairOf> next;
    for (size_t later = group + group % 2; later < std::min(group + 9, kGroups + 1); later += 2)
      next.push_back({later, later % 3});
    ahead.propose(next);
    const PairOf pair = {group, group % 3};
    EXPECT_TRUE(is_of(ahead.take(pair), pair)) << group;
    EXPECT_FALSE(ahead.is_begun(pair));
    ahead.forget_up_to(group);
  }
  EXPECT_EQ(made, kGroups);
}

TEST(VerdictsAhead, WhoWaitsJudgesWhatIsProposed) {
  std::latch begun(1), other_done(1);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> by_caller = false;
  VerdictsAhead ahead(1, [&](const PairOf& pair) {
    if (pair.group == 1) {
      begun.count_down();
      other_done.wait();
    } else {
      by_caller = std::this_thread::get_id() == caller;
      other_done.count_down();
    }
    return of(pair);
  });
  ahead.propose({{1, 0}});
  begun.wait();
  ahead.propose({{1, 0}, {2, 0}});  // the first is under way
  EXPECT_TRUE(is_of(ahead.take({1, 0}), {1, 0}));
  EXPECT_TRUE(by_caller);
  EXPECT_TRUE(ahead.is_begun({2, 0}));
  ahead.forget_up_to(1);
  EXPECT_TRUE(ahead.is_begun({2, 0}));
  ahead.forget_up_to(2);
  EXPECT_FALSE(ahead.is_begun({2, 0}));
}

TEST(VerdictsAhead, WhatIsNoLongerProposedIsNotBegun) {
  std::latch begun(1), goes_on(1);
  std::atomic<size_t> made = 0;
  {
    VerdictsAhead ahead(1, [&](const PairOf& pair) {
      ++made;
      if (pair.group == 1) begun.count_down(), goes_on.wait();
      return of(pair);
    });
    ahead.propose({{1, 0}, {2, 0}, {3, 0}});
    begun.wait();
    ahead.propose({});
    goes_on.count_down();
  }
  EXPECT_EQ(made, 1u);
}

}  // namespace
}  // namespace regraft::gen
