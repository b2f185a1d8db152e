#include "gen/derive/derive.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "gen/derive/saturation.h"
#include "gen/generalise/check.h"
#include "gen/generalise/generalise.h"
#include "gen/generalise/sample.h"

namespace regraft::gen {
namespace {

constexpr int kShorter = 3;  // proofs from the rules of a proof

// --- the sizes at which a goal is looked at ---

constexpr size_t kMaxRankTried = 4;
constexpr size_t kMembersTried = 3;  // of a family at one signature and rank

/// The same rank for all variables.
std::vector<Signature> of_one_rank(size_t variables, std::initializer_list<size_t> ranks) {
  std::vector<Signature> r;
  for (size_t rank : ranks) r.emplace_back(variables, std::string(rank, 'n'));
  return r;
}

/// Shapes to try for a goal without a domain: the same rank for all, then every combination.
std::vector<Signature> guesses(size_t variables) {
  std::vector<Signature> r = of_one_rank(variables, {2, 4, 3, 1, 5});
  size_t count = 1;
  for (size_t v = 0; v < variables && count < 4000; ++v) count *= kMaxRankTried;
  for (size_t k = 0; k < count; ++k) {
    Signature s;
    for (size_t v = 0, rest = k; v < variables; ++v, rest /= kMaxRankTried)
      s.push_back(std::string(1 + rest % kMaxRankTried, 'n'));
    r.push_back(std::move(s));
  }
  return r;
}

/// Real variables that the goal says are equal to numbers and sizes become these.
Rule with_equal_numbers(Rule goal) {
  std::map<std::string, std::string> known;
  std::erase_if(goal.real_where, [&](const RealCondition& c) {
    for (auto [name, value] : {std::pair{c.first, c.second}, std::pair{c.second, c.first}}) {
      bool equal =
          c.relation == Relation::Equal && name[0] == '?' && value.find('?') == std::string::npos;
      if (equal && known.emplace(name.substr(1), "=" + value).second) return true;
    }
    return false;
  });
  for (Pattern* side : {&goal.lhs, &goal.rhs})
    for (PatternNode& n : side->nodes)
      for (std::string& v : n.real_vars)
        if (auto at = known.find(v); at != known.end()) v = at->second;
  return goal;
}

/// A goal at sizes, one after the other: at the shapes of its domain; without one, where variables
/// of the usual ranks satisfy it, since what explains it at one rank may not exist at another. Of a
/// family some members.
class Problems {
 public:
  Problems(const Rule& goal, const DeriveOptions& options)
      : goal_(with_equal_numbers(goal)), options_(options) {
    if (is_family(goal)) {
      members_ = some_members(goal, kMembersTried);
    } else if (goal.domain.empty()) {
      usual_ = of_one_rank(goal.variables.size(), {2, 4, 3});
      last_ = guesses(goal.variables.size());
    } else {
      usual_ = goal.domain;
    }
  }

  /// nullptr: no more.
  const Problem* next() {
    while (at_ == ready_.size()) {
      if (!more()) return nullptr;
    }
    return &ready_[at_++];
  }

 private:
  /// False: there are no more shapes.
  bool more() {
    ready_.clear();
    at_ = 0;
    if (next_member_ < members_.size()) {
      const Rule& member = members_[next_member_++].rule;
      add(member, member.domain[0]);
      return true;
    }
    if (shapes_ >= options_.max_signatures) return false;
    if (tried_ < usual_.size()) {
      const Signature& s = usual_[tried_++];
      bool holds =
          !goal_.domain.empty() || check(goal_, s, kShapeSeed, kManyShapes) == Evidence::Holds;
      if (holds) add(goal_, s);
      return true;
    }
    if (shapes_ > 0 || guessed_ == last_.size()) return false;
    add(goal_, last_[guessed_++]);
    return true;
  }
  void add(const Rule& goal, const Signature& signature) {
    auto instance = instantiate(goal, signature);
    if (!instance) return;
    instance_ = *std::move(instance);
    for (int k = 0; k < options_.assignments; ++k)
      if (auto sizes = distinct_sizes(instance_, combine(options_.seed, static_cast<uint64_t>(k))))
        ready_.push_back({&instance_, *std::move(sizes)});
    shapes_ += !ready_.empty();
  }

  const Rule goal_;
  const DeriveOptions& options_;
  std::vector<Member> members_;
  std::vector<Signature> usual_, last_;
  size_t next_member_ = 0, tried_ = 0, guessed_ = 0, shapes_ = 0, at_ = 0;
  RuleInstance instance_;
  std::vector<Problem> ready_;
};

/// One goal against a set of rules.
class Derivations {
 public:
  Derivations(const RuleSet& rules, const DeriveOptions& options, const Stop& stop)
      : rules_(rules), options_(options), stop_(stop) {}

  Derivation of(const Rule& goal) {
    Problems problems(goal, options_);
    std::set<int> used;
    while (const Problem* p = problems.next()) {
      if (!result_.tried || !run_from(*p, used).equal) {
        Outcome outcome = run(*p, rules_);
        if (!outcome.equal) {
          result_.stopped = outcome.stopped;
          result_.limited = outcome.limited;
          result_.matched = std::move(outcome.matched);
          result_.candidates = std::move(outcome.candidates);
          return std::move(result_);
        }
        used.merge(shortened(*p, std::move(outcome.explained)));
      }
    }
    result_.derived = result_.tried;
    result_.used.assign(used.begin(), used.end());
    return result_;
  }

 private:
  Outcome run(const Problem& p, const RuleSet& rules) {
    result_.tried = true;
    Outcome outcome = saturate(p, rules, options_, stop_);
    result_.rounds = std::max(result_.rounds, outcome.rounds);
    result_.nodes = std::max(result_.nodes, outcome.nodes);
    result_.refused += outcome.refused;
    result_.well_formed = result_.well_formed && outcome.well_formed;
    return outcome;
  }
  Outcome run_from(const Problem& p, const std::set<int>& numbers) {
    RuleSet few = rules_;
    few.few = numbers;
    return run(p, few);
  }
  std::set<int> shortened(const Problem& p, std::set<int> used) {
    for (int k = 0; k < kShorter && used.size() > 1; ++k) {
      Outcome again = run_from(p, used);
      if (!again.equal || again.explained.size() >= used.size()) break;
      used = std::move(again.explained);
    }
    return used;
  }

  const RuleSet& rules_;
  const DeriveOptions& options_;
  const Stop& stop_;
  Derivation result_;
};

}  // namespace

Deriver::Deriver(std::vector<Rule> rules, DeriveOptions options)
    : rules_(std::move(rules)), options_(options) {
  for (const Rule& r : rules_) matchables_.push_back(std::make_unique<const Matchable>(r));
  filter_ = std::make_unique<const RuleFilter>(matchables_);
  trie_ = std::make_unique<const PatternTrie>(matchables_);
}
Deriver::~Deriver() = default;

Derivation Deriver::derive(const Rule& goal, const Stop& stop) const {
  return derive(goal, {&matchables_, filter_.get(), trie_.get(), nullptr, {}}, stop);
}

Derivation Deriver::derive(const Rule& goal, const std::vector<char>& allowed,
                           const Stop& stop) const {
  CHECK(allowed.size() == rules_.size());
  return derive(goal, {&matchables_, filter_.get(), trie_.get(), &allowed, {}}, stop);
}

Derivation Deriver::derive(const Rule& goal, const RuleSet& rules, const Stop& stop) const {
  try {
    return Derivations(rules, options_, stop).of(goal);
  } catch (const PolyOverflow&) {  // sizes beyond 64 bits
    return {};
  }
}

std::vector<Derivation> derive_all(const Deriver& deriver, const std::vector<Rule>& goals,
                                   int threads, const Stop& stop) {
  std::vector<Derivation> r(goals.size());
  parallel_for(goals.size(), threads, [&](size_t k) {
    if (stop.must_end())
      r[k].stopped = true;
    else
      r[k] = deriver.derive(goals[k], stop);
  });
  return r;
}

}  // namespace regraft::gen
