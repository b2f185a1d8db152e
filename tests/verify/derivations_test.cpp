// Derivations: those of true rules are accepted, and neither they nor what is made of them by small
// changes shows anything that is false.
#include "verify/derivations/elaborate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>

#include "ir/rule/family.h"
#include "ir/rule/text.h"
#include "mutation.h"
#include "substitutions/rule_db.h"
#include "verify/instance.h"
#include "verify/kernel/derivation.h"
#include "verify/refute/refute.h"
#include "verify/refute/sampling.h"
#include "verify/signatures.h"

namespace regraft::verify {
namespace {

std::string root() {
  const char* sources = std::getenv("REGRAFT_SOURCE_DIR");
  return sources ? sources : ".";
}

RuleInstance instance_of(const std::string& text) {
  auto rule = parse_rule(text);
  EXPECT_TRUE(rule) << text;
  auto instance = instance_at(*rule, rule->domain.at(0), Assume::LeftSide);
  EXPECT_TRUE(instance) << text;
  return std::move(*instance);
}

std::string why_refused(const RuleInstance& instance, const std::string& derivation) {
  kernel::Symbols symbols;
  kernel::Translation translation(symbols);
  try {
    kernel::check(symbols, kernel::claim_of(translation, instance), derivation);
    return "";
  } catch (const kernel::Refused& refused) {
    return refused.why;
  }
}

TEST(Derivations, OfTrueRules) {
  for (const char* text : {
           "a (transpose (transpose ?x perm=1,0) perm=1,0) => ?x  for x:nn",
           "b (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn",
           "c (transpose (matmul ?a ?b) perm=1,0) => (matmul (transpose ?b perm=1,0) "
           "(transpose ?a perm=1,0))  for a:nn b:nn",
           "d (mul (add ?a ?b) ?c) => (add (mul ?a ?c) (mul ?b ?c))  for a:nn b:nn c:nn",
           "e (relu (transpose ?x perm=1,0)) => (transpose (relu ?x) perm=1,0)  for x:nn",
           "f (softmax (add ?a ?b) axis=1) => (softmax (add ?b ?a) axis=1)  for a:nn b:nn",
       }) {
    Elaboration e = elaborate(instance_of(text));
    EXPECT_TRUE(e.derivation) << text << ": " << e.missing;
    if (e.derivation) EXPECT_EQ(why_refused(instance_of(text), *e.derivation), "");
  }
}

TEST(Derivations, NoneOfFalseRules) {
  std::filesystem::path folder = std::filesystem::path(root()) / "tests/data/rules/invalid";
  int asked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    auto file = substitutions::read_candidates(entry.path().string());
    ASSERT_TRUE(file);
    for (const Rule& rule : file->rules) {
      if (is_family(rule)) continue;
      for (const Candidate& c : candidate_signatures(rule, 2)) {
        auto check =
            check_numbers(c.instance, sample_sizes(c.instance, 7, 4), 7, Counterexamples::Any);
        if (!check.counterexample) continue;
        ++asked;
        EXPECT_FALSE(elaborate(c.instance).derivation) << to_string(rule);
      }
    }
  }
  EXPECT_GE(asked, 150);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (kernel::Lines rest(text); !rest.empty();) lines.emplace_back(rest.next());
  return lines;
}

/// A line dropped, doubled, exchanged or from another derivation; a word or a certificate changed.
std::string changed(const std::string& text, const std::string& other, std::mt19937& random) {
  auto below = [&](size_t n) { return random() % n; };
  std::vector<std::string> lines = lines_of(text), donors = lines_of(other);
  if (lines.empty() || donors.empty()) return other;
  size_t k = below(lines.size()), m = below(lines.size());
  std::string& line = lines[k];
  switch (below(7)) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(k));
      break;
    case 1:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(k), std::string(lines[m]));
      break;
    case 2:
      std::swap(lines[k], lines[m]);
      break;
    case 3:
      lines[k] = donors[below(donors.size())];
      break;
    case 4:
      line = line.substr(0, line.rfind('|'));
      break;
    default: {
      std::vector<size_t> digits;
      for (size_t i = 0; i < line.size(); ++i)
        if (std::isdigit(static_cast<unsigned char>(line[i]))) digits.push_back(i);
      if (digits.empty()) break;
      line[digits[below(digits.size())]] = static_cast<char>('0' + below(6));
    }
  }
  std::string all;
  for (const std::string& l : lines) all += l + "\n";
  return all;
}

TEST(Derivations, NoMutantShowsAFalseRule) {
  std::vector<Rule> rules = rules_to_mutate(root());
  std::map<std::string, const Rule*> by_name;
  for (const Rule& r : rules) by_name[r.name] = &r;
  std::mt19937 random(24);
  constexpr int kChangesEach = 40;
  std::string other;
  size_t known_false = 0, tried = 0;
  for (const Mutant& m : mutants(rules, 120, 24)) {
    auto origin = by_name.find(m.origin);
    auto instance = instance_at(m.rule, m.rule.domain.at(0), Assume::LeftSide);
    if (origin == by_name.end() || !instance) continue;
    const auto& domain = origin->second->domain;
    auto from = instance_at(*origin->second, domain.empty() ? m.rule.domain.at(0) : domain[0],
                            Assume::LeftSide);
    if (!from) continue;
    Elaboration e = elaborate(*from);
    if (!e.derivation || !shown_false(*instance, 24, regraft::verify::Search::Usual)) continue;
    ++known_false;
    if (other.empty()) other = *e.derivation;
    EXPECT_FALSE(elaborate(*instance).derivation) << to_string(m.rule);
    EXPECT_NE(why_refused(*instance, *e.derivation), "") << to_string(m.rule);
    for (int k = 0; k < kChangesEach; ++k) {
      std::string text = changed(*e.derivation, other, random);
      ++tried;
      EXPECT_NE(why_refused(*instance, text), "") << to_string(m.rule) << "\n" << text;
    }
    other = *e.derivation;
  }
  std::printf("%zu false rules, %zu changed derivations, none accepted\n", known_false, tried);
  EXPECT_GE(known_false, 20u);
}

}  // namespace
}  // namespace regraft::verify
