// Attacks the kernel with changed derivations:
//   kernel_attack SOURCES [--count N] [--false N] [--seed S] [--claims FILE] [DERIVATIONS...]
// Of N proofs of the rules in the files (or, where there are none, of the true rules for tests) the
// derivation is changed in one place; and derivations, whole and changed, are offered for N claims
// that are certainly false: the false rules for tests, with the derivations of the true rules that
// are most like them, and true rules changed in one place, with the derivation of what they were.
// Exit code 1: a false claim was accepted. FILE gets all claims, derivations and answers, for the
// kernel in Python: python -m regraft.kernel FILE.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/files/output_file.h"
#include "ir/rule/family.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"
#include "tests/verify/kernel/changes.h"
#include "tests/verify/mutation.h"
#include "verify/derivations/derive_rules.h"
#include "verify/refute/refute.h"
#include "verify/refute/sampling.h"
#include "verify/replay/claim_text.h"
#include "verify/replay/proofs.h"
#include "verify/signatures.h"

namespace regraft::verify {
namespace {

using kernel::Attack;
using kernel::kAttacks;

constexpr size_t kLongest = 6'000;  // bytes of a derivation that is changed
constexpr size_t kEach = 5;         // changes of one derivation

struct Options {
  std::string sources, claims;
  std::vector<std::string> derivations;
  size_t count = 400, wrong = 100;
  uint32_t seed = 24;
};

/// A proof and its derivation.
struct Known {
  Rule rule;  ///< directed, at one signature, no family
  std::string derivation;
};

std::set<std::string> operators_of(const Rule& rule) {
  std::set<std::string> names;
  for (const Pattern* side : {&rule.lhs, &rule.rhs})
    for (const PatternNode& n : side->nodes) names.emplace(n.op->name);
  return names;
}

class Campaign {
 public:
  explicit Campaign(const Options& options) : options_(options), random_(options.seed) {}

  Status run() {
    RETURN_IF_ERROR(read());
    if (known_.empty()) return error("there is no derivation to change");
    std::shuffle(known_.begin(), known_.end(), random_);
    while (tried_[0] < options_.count) change_one();
    RETURN_IF_ERROR(offer_to_false_rules());
    offer_to_mutants();
    print();
    if (options_.claims.empty()) return {};
    return write_file(options_.claims, std::string(kClaimsHeader) + text_);
  }
  size_t wrong() const { return accepted_[1]; }

 private:
  Status read() {
    for (const std::string& path : options_.derivations) {
      ASSIGN_OR_RETURN(auto rules, read_derivations(path));
      for (const RuleDerivations& r : rules) add(r);
    }
    if (!options_.derivations.empty()) return {};
    auto folder = std::filesystem::path(options_.sources) / "tests/data/rules/valid";
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      paths.insert(entry.path().string());
    for (const std::string& path : paths) {
      ASSIGN_OR_RETURN(auto file, substitutions::read_candidates(path));
      for (Rule& rule : file.rules) {
        if (rule.domain.empty() && !is_family(rule))
          for (Candidate& c : candidate_signatures(rule, 2)) rule.domain.push_back(c.signature);
        if (!is_family(rule)) add(derive_rule(rule, {}, nullptr).derivations);
      }
    }
    return {};
  }
  void add(const RuleDerivations& r) {
    for_each_proof(r.rule, [&](const ProofPlace& place) {
      auto it = r.by_name.find(place.name);
      if (it == r.by_name.end() || it->second.size() > kLongest) return true;
      known_.push_back({place.rule, it->second});
      known_.back().rule.domain = {place.signature};
      return true;
    });
  }
  const Known& any() { return known_[random_() % known_.size()]; }

  /// The kernel's answer to a derivation of a claim that is true (0) or false (1).
  void ask(const Rule& rule, const RuleInstance& instance, const std::string& derivation,
           bool is_false) {
    bool accepted = refusal(instance, derivation).empty();
    ++tried_[is_false ? 1 : 0];
    accepted_[is_false ? 1 : 0] += accepted;
    if (!options_.claims.empty()) text_ += derivation_text(derivation, accepted);
    if (accepted && is_false) fmt::print("ACCEPTED {}\n{}\n", to_string(rule), derivation);
  }
  std::optional<RuleInstance> begin(const Rule& rule) {
    auto instance = instance_at(rule, rule.domain.at(0), Assume::LeftSide);
    if (!instance) return std::nullopt;
    if (!options_.claims.empty()) text_ += claim_text(*instance, rule.name);
    return *std::move(instance);
  }

  void change_one() {
    const Known& k = any();
    auto instance = begin(k.rule);
    if (!instance) return;
    for (size_t n = 0; n < kEach && tried_[0] < options_.count; ++n) {
      size_t kind = tried_[0] % kAttacks.size();
      std::string text = attacked(k.derivation, any().derivation, Attack(kind), random_);
      if (text == k.derivation) text = attacked(text, any().derivation, Attack::Step, random_);
      size_t before = accepted_[0];
      ask(k.rule, *instance, text, false);
      ++by_kind_[kind].first;
      by_kind_[kind].second += accepted_[0] - before;
    }
  }

  /// Whole and changed in each way.
  void offer(const Rule& wrong, const RuleInstance& instance, const Known& k) {
    ask(wrong, instance, k.derivation, true);
    for (size_t n = 0; n < kEach; ++n)
      ask(wrong, instance,
          attacked(k.derivation, any().derivation, Attack(random_() % kAttacks.size()), random_),
          true);
  }

  /// Those with the most operators in common.
  std::vector<const Known*> most_like(const Rule& wrong) {
    constexpr size_t kOffered = 3;
    std::set<std::string> mine = operators_of(wrong);
    std::vector<std::pair<double, const Known*>> ranked;
    for (const Known& k : known_) {
      std::set<std::string> theirs = operators_of(k.rule);
      auto common = static_cast<double>(
          std::count_if(mine.begin(), mine.end(), [&](auto& n) { return theirs.count(n) > 0; }));
      ranked.emplace_back(-common / static_cast<double>(mine.size() + theirs.size()), &k);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](auto& a, auto& b) { return a.first < b.first; });
    std::vector<const Known*> best;
    std::set<std::string> names;
    for (const auto& [rank, k] : ranked)
      if (best.size() < kOffered && names.insert(k->rule.name).second) best.push_back(k);
    return best;
  }
  Status offer_to_false_rules() {
    auto folder = std::filesystem::path(options_.sources) / "tests/data/rules/invalid";
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      paths.insert(entry.path().string());
    for (const std::string& path : paths) {
      ASSIGN_OR_RETURN(auto file, substitutions::read_candidates(path));
      for (const Rule& rule : file.rules) {
        auto one = example_of(rule);
        if (!one) continue;
        for (const Candidate& c : candidate_signatures(*one, 1)) offer_if_false(*one, c);
      }
    }
    return {};
  }
  void offer_if_false(const Rule& rule, const Candidate& c) {
    auto check = check_numbers(c.instance, sample_sizes(c.instance, 7, 6), 7, Counterexamples::Any);
    if (!check.counterexample) return;
    Rule wrong = rule;
    wrong.domain = {c.signature};
    std::vector<const Known*> offered = most_like(wrong);
    auto instance = begin(wrong);
    if (!instance) return;
    ++false_rules_;
    for (const Known* k : offered) offer(wrong, *instance, *k);
  }

  void offer_to_mutants() {
    std::vector<Rule> rules;
    std::map<std::string, const Known*> by_name;
    for (const Known& k : known_) {
      if (!by_name.emplace(k.rule.name, &k).second) continue;
      rules.push_back(k.rule);
    }
    for (const Mutant& m : mutants(rules, options_.wrong, options_.seed)) {
      auto instance = instance_at(m.rule, m.rule.domain.at(0), Assume::LeftSide);
      if (!instance || !shown_false(*instance, options_.seed, Search::Usual)) continue;
      auto told = begin(m.rule);
      if (!told) continue;
      ++false_mutants_;
      offer(m.rule, *told, *by_name.at(m.origin));
    }
  }

  void print() const {
    fmt::print("true claims: {} changed derivations, {} accepted\n", tried_[0], accepted_[0]);
    for (size_t k = 0; k < kAttacks.size(); ++k)
      fmt::print("  {:<12} {:6} changed, {:5} accepted\n", kAttacks[k], by_kind_[k].first,
                 by_kind_[k].second);
    fmt::print(
        "false claims: {} false rules, {} rules made false by a change; {} derivations "
        "offered, {} accepted\n",
        false_rules_, false_mutants_, tried_[1], accepted_[1]);
  }

  Options options_;
  std::mt19937 random_;
  std::vector<Known> known_;
  size_t tried_[2] = {}, accepted_[2] = {};  // of true claims, and of false ones
  std::array<std::pair<size_t, size_t>, kAttacks.size()> by_kind_{};
  size_t false_rules_ = 0, false_mutants_ = 0;
  std::string text_;
};

int run(int argc, char** argv) {
  Options o;
  for (int k = 1; k < argc; ++k) {
    std::string word = argv[k];
    auto value = [&] { return k + 1 < argc ? std::string(argv[++k]) : std::string(); };
    if (word == "--count")
      o.count = std::strtoull(value().c_str(), nullptr, 10);
    else if (word == "--false")
      o.wrong = std::strtoull(value().c_str(), nullptr, 10);
    else if (word == "--seed")
      o.seed = static_cast<uint32_t>(std::strtoul(value().c_str(), nullptr, 10));
    else if (word == "--claims")
      o.claims = value();
    else if (o.sources.empty())
      o.sources = word;
    else
      o.derivations.push_back(word);
  }
  Campaign campaign(o);
  if (Status s = campaign.run(); !s) {
    fmt::print(stderr, "{}\n", s.error().message);
    return 3;
  }
  return campaign.wrong() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace regraft::verify

int main(int argc, char** argv) { return regraft::verify::run(argc, argv); }
