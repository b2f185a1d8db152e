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
#include "tests/verify/kernel/changes.h"
#include "verify/derivations/questions.h"
#include "verify/kernel/derivation.h"
#include "verify/refute/refute.h"
#include "verify/refute/sampling.h"
#include "verify/replay/instance.h"
#include "verify/replay/proofs.h"
#include "verify/signatures.h"
#include "verify/verify.h"

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
           // sizes that the solver does not decide soon: certificates are looked for all the same
           "g (space-to-depth (depth-to-space ?a blocksize=?b crd=0) blocksize=?b) => ?a  for "
           "a:nnnn",
       }) {
    Elaboration e = elaborate(instance_of(text));
    EXPECT_TRUE(e.derivation) << text << ": " << e.missing;
    if (!e.derivation) continue;
    EXPECT_EQ(why_refused(instance_of(text), *e.derivation), "");
  }
}

/// A normalisation that both sides have is paired as it is, over all five axes: nothing within it
/// is counted or cancelled out.
TEST(Derivations, LeaveAloneWhatBothSidesHave) {
  const char* text =
      "a (mul (layernorm ?a ?c ?d axis=0 epsilon=?e) ?b) => (mul ?b (layernorm ?a ?c ?d axis=0 "
      "epsilon=?e))  for a:nnnnn b:nnnnn c:nnnnn d:nnnnn";
  Elaboration e = elaborate(instance_of(text));
  ASSERT_TRUE(e.derivation) << e.missing;
  for (const char* step : {"\ncount ", "\ncancel ", "\ninside ", "\npin "})
    EXPECT_EQ(e.derivation->find(step), std::string::npos) << step << *e.derivation;
  EXPECT_EQ(why_refused(instance_of(text), *e.derivation), "");
}

/// What shows one member of a family shows the others in other words: axes and names differ.
TEST(Derivations, OfOneMemberFitTheOthers) {
  auto rule = parse_rule(
      "r (mul ?x (concat ?y ?z axis=?axis)) => (concat (mul ?x ?y) (mul ?x ?z) axis=?axis)  "
      "for x:- y:.. z:..");
  ASSERT_TRUE(rule) << rule.error().message;
  OtherProofs others;
  size_t members = 0, fit = 0;
  for (const Member& m : some_members(*rule, 12)) {
    auto instance = instance_at(m.rule, m.rule.domain[0], Assume::LeftSide);
    ASSERT_TRUE(instance) << to_string(m);
    ++members;
    auto known = fitted(*instance, others);
    fit += known.has_value();
    if (!known) known = searched(*instance, others).derivation;
    ASSERT_TRUE(known) << to_string(m);
    EXPECT_EQ(why_refused(*instance_at(m.rule, m.rule.domain[0], Assume::LeftSide), *known), "");
  }
  EXPECT_GE(members, 6u);
  EXPECT_GE(fit + 2, members);
}

/// A true rule's derivation is offered for a false one of the same outline.
TEST(Derivations, OfATrueRuleFitNoFalseOne) {
  OtherProofs others;
  ASSERT_TRUE(
      elaborate(instance_of("a (sub (add ?x ?y) ?y) => ?x  for x:nn y:nn"), others).derivation);
  for (const char* text : {"b (sub (add ?x ?y) ?x) => ?x  for x:nn y:nn",
                           "c (sub (add ?x ?y) ?y) => ?x  for x:nn y:1n"}) {
    const bool holds = std::string_view(text)[0] == 'c';
    EXPECT_EQ(fitted(instance_of(text), others).has_value(), holds) << text;
  }
}

TEST(Derivations, NoneOfFalseRules) {
  std::filesystem::path folder = std::filesystem::path(root()) / "tests/data/rules/invalid";
  int asked = 0, number = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    auto file = substitutions::read_candidates(entry.path().string());
    ASSERT_TRUE(file);
    for (const Rule& rule : file->rules) {
      if (is_family(rule) || number++ % 12 != 0) continue;
      for (const Candidate& c : candidate_signatures(rule, 2)) {
        auto check =
            check_numbers(c.instance, sample_sizes(c.instance, 7, 4), 7, Counterexamples::Any);
        if (!check.counterexample) continue;
        ++asked;
        EXPECT_FALSE(elaborate(c.instance).derivation) << to_string(rule);
        break;  // one signature, and one rule in twelve: a search that finds nothing lasts
      }
    }
  }
  EXPECT_GE(asked, 10);
}

/// A rule's derivations, those of another one with its name and digest, and no file at all.
TEST(Derivations, AtHandAreTriedBeforeTheProver) {
  Rule rule = *parse_rule(
      "r (relu (transpose ?x perm=1,0)) <=> (transpose (relu ?x) perm=1,0)  "
      "for x:nn  proved:solver");
  VerifyOptions options;
  options.verbosity = Verbosity::Quiet;
  Finding alone = examine(rule, options);
  EXPECT_EQ(alone.rule.verdict.kind, VerdictKind::ProvedAllSizes);
  EXPECT_EQ(alone.counters.kernel_checked, 2u);
  EXPECT_EQ(alone.counters.replayed, 0u);
  DerivedRule derived = derive_rule(rule, {}, nullptr);
  DerivationBook book({derived.derivations});
  options.derivations = &book;
  Finding replayed = examine(rule, options);
  EXPECT_EQ(to_string(replayed.rule), to_string(alone.rule));
  EXPECT_EQ(replayed.counters.replayed, 2u);
  RuleDerivations searched = derived.derivations;
  searched.none.insert(searched.by_name.extract("> x:nn").key());
  DerivationBook half({searched});
  options.derivations = &half;
  Finding by_provers =
      examine(rule, options);  // what was looked for in vain is not looked for again
  EXPECT_EQ(by_provers.rule.verdict.kind, VerdictKind::ProvedSolver);
  EXPECT_EQ(by_provers.counters.kernel_checked, 1u);
  ASSERT_EQ(by_provers.prover_only.size(), 1u);
  EXPECT_EQ(by_provers.prover_only[0].first, "> x:nn");
  std::string file = to_text({searched});
  auto read = parse_derivations(file, "file");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(*read), file);
  EXPECT_FALSE(parse_derivations(file + "none > x:nn\n", "file"));
  std::string proofs = file.substr(0, file.rfind("none "));  // the last line may lack its end
  auto unfinished = parse_derivations(proofs.substr(0, proofs.size() - 1), "file");
  ASSERT_TRUE(unfinished) << unfinished.error().message;
  EXPECT_EQ(to_text(*unfinished), proofs);
  Rule wrong = *parse_rule("w (relu (neg ?x)) => (neg (relu ?x))  for x:nn  proved:all-sizes");
  RuleDerivations lie{wrong, content_digest(wrong), {}, {}, 0};
  for (const auto& [name, text] : derived.derivations.by_name) lie.by_name["> x:nn"] = text;
  DerivationBook forged({lie});
  options.derivations = &forged;
  EXPECT_EQ(examine(wrong, options).rule.verdict.kind, VerdictKind::Refuted);
}

/// What is known to be proved at sample shapes alone is not asked about for all sizes again.
TEST(Derivations, NoneOfABoundedRuleIsLookedForAgain) {
  Rule rule = *parse_rule(
      "r (relu (transpose ?x perm=1,0)) => (transpose (relu ?x) perm=1,0)  for x:nn  "
      "proved:bounded[1 shapes: x=[1,1\\]]");
  RuleDerivations known{rule, content_digest(rule), {}, {"> x:nn"}, 0};
  auto read = parse_derivations(to_text({known}), "file");
  ASSERT_TRUE(read) << read.error().message;
  DerivationBook bounded(*std::move(read));
  VerifyOptions options;
  options.verbosity = Verbosity::Quiet;
  options.derivations = &bounded;
  EXPECT_EQ(examine(rule, options).rule.verdict.kind, VerdictKind::ProvedBounded);
  known.none = {"> x:nnn"};  // of another signature
  DerivationBook elsewhere({known});
  options.derivations = &elsewhere;
  EXPECT_EQ(examine(rule, options).rule.verdict.kind, VerdictKind::ProvedAllSizes);
}

/// Negation by a quotient: the prover does not see that the divisor is -1.
TEST(Derivations, AreFoundWhereTheProverFails) {
  Rule rule = *parse_rule(
      "r (sub (full shape=a.-2,a.-1 value=?v) (add ?a (full shape=a.-2,a.-1 value=?v))) => "
      "(div ?a (sub ?a (add ?a (full shape=a.-2,1 value=1))))  for a:nnn");
  VerifyOptions options;
  options.verbosity = Verbosity::Quiet;
  EXPECT_EQ(examine(rule, options).rule.verdict.kind, VerdictKind::ProvedAllSizes);
  options.kernel = false;
  EXPECT_FALSE(is_for_all_sizes(examine(rule, options).rule.verdict.kind));
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
      auto kind = static_cast<kernel::Attack>(static_cast<size_t>(k) % kernel::kAttacks.size());
      std::string text = kernel::attacked(*e.derivation, other, kind, random);
      ++tried;
      EXPECT_NE(why_refused(*instance, text), "") << to_string(m.rule) << "\n" << text;
    }
    other = *e.derivation;
  }
  std::printf("%zu false rules, %zu changed derivations, none accepted\n", known_false, tried);
  EXPECT_GE(known_false, 20u);
}

// Where a size is replaced by 0, what is divided by it has no value.
TEST(Questions, AQuotientByNothingIsAnyInteger) {
  kernel::Symbols symbols;
  kernel::Translation translation(symbols);
  SymbolPool pool;
  Budget budget{Limits{}};
  ArithmeticSolver solver(budget);
  Questions questions(translation, pool, solver);
  const kernel::Symbol a = symbols.make(kernel::Kind::Size, "a", 1);
  for (int64_t by : {0, -2}) {
    const auto q =
        kernel::Poly::symbol(symbols.quotient(kernel::Poly::symbol(a), kernel::Poly(by)));
    const kernel::Fact positive = kernel::non_negative(q - kernel::Poly(1));
    EXPECT_FALSE(questions.says_refuted({positive}));
    EXPECT_FALSE(questions.says_refuted({negated(positive)}));
    EXPECT_TRUE(questions.refuted({positive, negated(positive)}));
  }
}

}  // namespace
}  // namespace regraft::verify
