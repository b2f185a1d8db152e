// TASO's shipped substitutions against ours: which of them hold, and which follow from our rules.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/parallel.h"
#include "gen/derive/derive.h"
#include "gen/generalise/check.h"
#include "substitutions/taso.h"
#include "tests/support/external.h"

namespace regraft::gen {
namespace {

constexpr int kTrials = 40;

std::string source_folder() {
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  return root ? root : ".";
}

/// The rules of the file, or nullopt where the file is not.
std::optional<substitutions::TasoRules> taso_rules() {
  auto path = test::taso_file();
  if (!path) return std::nullopt;
  auto r = substitutions::read_taso(*path);
  EXPECT_TRUE(r) << (r ? "" : r.error().message);
  if (!r) return std::nullopt;
  return *std::move(r);
}

std::vector<Evidence> evidence_of(const std::vector<Rule>& rules) {
  std::vector<Evidence> r(rules.size(), Evidence::Unusable);
  parallel_for(rules.size(), default_threads(),
               [&](size_t k) { r[k] = check(rules[k], rules[k].domain[0], 3, kTrials); });
  return r;
}

TEST(Taso, EveryRuleHasACounterpart) {
  auto taso = taso_rules();
  if (!taso) SKIP_OUTSIDE_CI("no file of TASO's rules");
  EXPECT_EQ(taso->file.rules.size(), 133u);
  EXPECT_TRUE(taso->skipped.empty());
  for (const Rule& r : taso->file.rules) EXPECT_TRUE(validate(r)) << r.name;
}

TEST(Taso, OnlyTheGroupedConcatenationsAreWrong) {
  auto taso = taso_rules();
  if (!taso) SKIP_OUTSIDE_CI("no file of TASO's rules");
  auto evidence = evidence_of(taso->file.rules);
  std::vector<std::string> wrong;
  for (size_t k = 0; k < evidence.size(); ++k)
    if (evidence[k] != Evidence::Holds)
      wrong.push_back(taso->file.rules[k].name + (evidence[k] == Evidence::Fails ? "" : "?"));
  std::vector<std::string> expected = {"taso.099", "taso.100", "taso.130", "taso.131"};
  EXPECT_EQ(wrong, expected);
}

/// The rules of files of the repository.
std::vector<Rule> read(std::initializer_list<const char*> paths) {
  std::vector<Rule> rules;
  for (const char* path : paths) {
    auto file = substitutions::read_candidates(source_folder() + "/" + path);
    EXPECT_TRUE(file) << (file ? "" : file.error().message);
    if (file) rules.insert(rules.end(), file->rules.begin(), file->rules.end());
  }
  return rules;
}

/// Prints what is missing; nothing false may be derived.
size_t count_derived(const std::vector<Rule>& goals, std::vector<Rule> from) {
  Deriver deriver(std::move(from));
  auto results = derive_all(deriver, goals, default_threads(), Stop());
  auto evidence = evidence_of(goals);
  size_t derived = 0;
  for (size_t k = 0; k < results.size(); ++k) {
    bool holds = evidence[k] == Evidence::Holds;
    EXPECT_TRUE(holds || !results[k].derived) << goals[k].name << " is false";
    EXPECT_EQ(results[k].refused, 0u) << goals[k].name;
    derived += results[k].derived;
    if (holds && !results[k].derived) std::printf("not derived: %s\n", goals[k].name.c_str());
  }
  return derived;
}

TEST(Taso, SoundRulesFollowFromTheShippedOnes) {
  auto taso = taso_rules();
  if (!taso) SKIP_OUTSIDE_CI("no file of TASO's rules");
  size_t derived = count_derived(taso->file.rules,
                                 read({"substitutions/core.rules", "substitutions/hand.rules"}));
  std::printf("%zu of 129 follow from the shipped ones\n", derived);
  EXPECT_EQ(derived, 129u);
}

TEST(Taso, SoundRulesFollowFromElementaryOnes) {
  auto taso = taso_rules();
  if (!taso) SKIP_OUTSIDE_CI("no file of TASO's rules");
  EXPECT_EQ(count_derived(taso->file.rules, read({"tests/data/taso/elementary.rules"})), 129u);
}

}  // namespace
}  // namespace regraft::gen
