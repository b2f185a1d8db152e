// The prover is attacked: no mutant of a true rule that is certainly false may be proved. A short
// run; `false_rules` (mutants_main.cpp) makes as many as are wanted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>

#include "base/parallel.h"
#include "enclosure.h"
#include "ir/rule/text.h"
#include "mutation.h"
#include "verify/conditions.h"

namespace regraft::verify {
namespace {

constexpr size_t kMutants = 300;
constexpr size_t kFalse = 150;  // of these at least so many are false

std::string sources() {
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  return root ? root : ".";
}

TEST(Mutants, NoneThatIsFalseIsProved) {
  std::vector<Mutant> all = mutants(rules_to_mutate(sources()), kMutants, 2026);
  ASSERT_EQ(all.size(), kMutants);
  std::vector<Trial> trials(all.size());
  parallel_for(all.size(), default_threads(),
               [&](size_t k) { trials[k] = tried(all[k], Limits{}, k); });
  size_t known_false = 0, proved = 0;
  std::map<Change, size_t> false_by_change;
  for (size_t k = 0; k < all.size(); ++k) {
    bool claimed = is_for_all_sizes(trials[k].proof);
    EXPECT_FALSE(trials[k].difference && claimed)
        << to_string(all[k].rule) << ": " << *trials[k].difference;
    known_false += trials[k].difference.has_value();
    proved += claimed && !trials[k].difference;
    if (trials[k].difference) ++false_by_change[all[k].change];
  }
  std::printf("%zu mutants, %zu false, none of them proved; %zu true and proved\n", all.size(),
              known_false, proved);
  EXPECT_GE(known_false, kFalse);
  EXPECT_GE(proved, 5u);
  EXPECT_EQ(false_by_change.size(), kChanges);  // of every kind
}

TEST(Mutants, AreTheSameForTheSameSeed) {
  std::vector<Rule> rules = rules_to_mutate(sources());
  auto a = mutants(rules, 40, 1), b = mutants(rules, 40, 1), c = mutants(rules, 40, 2);
  size_t other = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(to_string(a[k].rule), to_string(b[k].rule));
    other += to_string(a[k].rule) != to_string(c[k].rule);
  }
  EXPECT_GT(other, 30u);
}

/// The same of conditions: what is proved under one is not false under it.
TEST(Mutants, NoneIsFalseUnderTheConditionFoundForIt) {
  std::vector<Mutant> all = mutants(rules_to_mutate(sources()), 160, 2027);
  std::atomic<size_t> found{0};
  std::mutex mutex;
  parallel_for(all.size(), default_threads(), [&](size_t k) {
    VerifyOptions options;
    const Signature& at = all[k].rule.domain[0];
    auto narrowed = with_condition(all[k].rule, at, options, nullptr);
    if (!narrowed) return;
    ++found;
    auto instance = instantiate(*narrowed, at);
    std::lock_guard lock(mutex);
    ASSERT_TRUE(instance) << to_string(*narrowed);
    auto difference = shown_false(*instance, k + 77, Search::Usual);
    EXPECT_FALSE(difference) << to_string(*narrowed) << ": " << *difference;
  });
  std::printf("%zu mutants, a condition found for %zu\n", all.size(), found.load());
  EXPECT_GT(found.load(), 3u);
}

std::optional<std::string> difference(const char* sides, const Signature& s,
                                      std::vector<double> elements) {
  auto rule = parse_rule(std::string("r ") + sides);
  if (!rule) throw std::invalid_argument(std::string(sides) + ": " + rule.error().message);
  auto instance = instantiate(*rule, s);
  if (!instance) throw std::invalid_argument(std::string(sides) + ": " + instance.error().message);
  Valuation sizes;
  sizes[*instance->sizes[0][0]] = static_cast<int64_t>(elements.size());
  auto n = static_cast<int64_t>(elements.size());
  return certain_difference(*instance, sizes, {{{n}, std::move(elements)}});
}

/// The judge of the mutants: neither rounding nor a near miss is a difference; an exact tie is
/// seen.
TEST(Enclosure, TellsDifferencesFromRounding) {
  EXPECT_FALSE(difference("(exp (add ?x ?x)) => (mul (exp ?x) (exp ?x))", {"n"}, {0.3, -7, 40}));
  EXPECT_FALSE(
      difference("(sub (exp ?x) (exp ?x)) => (mul ?x (full shape=1 value=0))", {"n"}, {1.3, 2}));
  EXPECT_TRUE(difference("(exp ?x) => (sub (exp ?x) (full shape=1 value=1e-9))", {"n"}, {0.3}));
  EXPECT_TRUE(difference("(neg ?x) => ?x", {"n"}, {0, 1}));
  EXPECT_FALSE(difference("(neg ?x) => ?x", {"n"}, {0, 0}));
}

/// The border is an average of nothing on the left and a maximum of nothing on the right: 0 times
/// 1/0, and not 0.
TEST(Enclosure, AFactorOfZeroTakesNoDenominatorAway) {
  auto rule = parse_rule(
      "r (avgpool ?x kernel=1,1 pads=1,1,1,1 include_pad=0) => (maxpool ?x kernel=1,1 "
      "pads=1,1,1,1)");
  ASSERT_TRUE(rule);
  auto instance = instantiate(*rule, {"1111"});
  ASSERT_TRUE(instance);
  auto found = certain_difference(*instance, {}, {{{1, 1, 1, 1}, {2.0}}});
  EXPECT_FALSE(found) << *found;
}

TEST(Enclosure, KnowsWhereNothingIsDefined) {
  const char* tie =
      "(neg (neg ?x)) => (mul ?x (div (full shape=1 value=1) (sub (reduce-max (exp ?x) axes=0 "
      "keepdims=1) "
      "(reduce-mean (exp ?x) axes=0 keepdims=1))))";
  auto all_equal = difference(tie, {"n"}, {1.375, 1.375, 1.375});
  ASSERT_TRUE(all_equal);
  EXPECT_NE(all_equal->find("not defined"), std::string::npos) << *all_equal;
  EXPECT_TRUE(difference("(neg (neg ?x)) => (div (mul ?x ?x) ?x)", {"n"}, {1, 0}));
  EXPECT_FALSE(difference("(div ?x ?x) => (neg ?x)", {"n"}, {0}));  // nor is the left side
  EXPECT_TRUE(difference("(neg (neg ?x)) => (mul (sqrt ?x) (sqrt ?x))", {"n"}, {-1}));
  EXPECT_FALSE(difference("(neg (neg ?x)) => (mul (sqrt ?x) (sqrt ?x))", {"n"}, {0, 2}));
  EXPECT_TRUE(difference("(sub ?x ?x) => (mul (sub ?x ?x) (sqrt ?x))", {"n"}, {-1}));
}

}  // namespace
}  // namespace regraft::verify
