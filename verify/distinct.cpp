#include "verify/distinct.h"

#include <algorithm>
#include <map>

namespace regraft::verify {
namespace {

Rule directed(Rule rule) {
  rule.both = false;
  return rule;
}
std::string directed_key(const Rule& rule) { return canonical_key(directed(rule)); }

/// The key of the rule and its reverse; of the rule alone when it has no reverse.
std::string undirected_key(const Rule& rule) {
  Rule both = rule;
  both.both = is_reversible(rule);
  return canonical_key(both);
}

/// The signatures, sorted, each in the order of these variables.
std::vector<Signature> signatures_for(const Rule& rule, const std::vector<std::string>& variables) {
  std::vector<Signature> all;
  for (const Signature& s : rule.domain) {
    all.emplace_back();
    for (const std::string& name : variables) {
      auto at = std::find(rule.variables.begin(), rule.variables.end(), name);
      all.back().push_back(s[static_cast<size_t>(at - rule.variables.begin())]);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}
std::vector<Signature> canonical_domain(const Rule& rule) {
  return signatures_for(rule, canonical_variables(directed(rule)));
}

std::string directed_text(const Rule& rule) {
  std::string text = directed_key(rule) + " for";
  for (const Signature& s : canonical_domain(rule)) {
    for (const std::string& word : s) text += " " + word;
    text += " |";
  }
  return text;
}

/// Equal exactly for the same candidates.
std::string text_of(const Rule& rule) {
  std::string text = directed_text(rule);
  return rule.both ? "both " + std::min(text, directed_text(reversed(rule))) : text;
}

/// Adds the signatures of a rule that has the same directed key.
void add_signatures(Rule& rule, const Rule& same) {
  std::vector<std::string> mine = canonical_variables(directed(rule));
  std::vector<std::string> theirs = canonical_variables(directed(same));
  std::vector<std::string> order;  // their name of each of the rule's variables
  for (const std::string& name : rule.variables) {
    auto at = std::find(mine.begin(), mine.end(), name) - mine.begin();
    order.push_back(theirs[static_cast<size_t>(at)]);
  }
  for (Signature& s : signatures_for(same, order))
    if (std::find(rule.domain.begin(), rule.domain.end(), s) == rule.domain.end())
      rule.domain.push_back(std::move(s));
}

/// Everything at which `part` is proved is in `whole`, of the same directed key.
bool includes(const Rule& whole, const Rule& part) {
  auto all = canonical_domain(whole), some = canonical_domain(part);
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

/// Of one direction at the shapes of both rules: the worse, or the one that states this direction.
NumericVerdict joined(const NumericVerdict& a, const NumericVerdict& b) {
  if (a.kind == Numerics::Unknown) return b;
  return b.kind != Numerics::Unknown && b.kind < a.kind ? b : a;
}

/// One is proved where both are as the other is.
void join_verdicts(Rule& rule, const Rule& other) {
  if (other.verdict.kind < rule.verdict.kind) rule.verdict = other.verdict;
}

void join_findings(Rule& rule, const Rule& other) {
  join_verdicts(rule, other);
  rule.numerics = joined(rule.numerics, other.numerics);
  rule.numerics_back = joined(rule.numerics_back, other.numerics_back);
}

/// Makes `earlier` state what `later` does as well; false when one rule cannot.
bool absorb(Rule& earlier, const Rule& later) {
  bool same_way = directed_key(earlier) == directed_key(later);
  Rule turned = same_way ? later : reversed(later);  // one key, so both have a reverse
  if (!same_way && directed_key(earlier) != directed_key(turned)) return false;
  if (same_way ? earlier.both == later.both : earlier.both && later.both) {
    add_signatures(earlier, turned);
    join_findings(earlier, turned);
    return true;
  }
  bool covered =
      (later.both || includes(earlier, turned)) && (earlier.both || includes(turned, earlier));
  if (!covered) return false;
  add_signatures(earlier, turned);
  join_findings(earlier, turned);
  earlier.both = true;
  return true;
}

}  // namespace

Distinct distinct_rules(std::span<const Rule> candidates) {
  Distinct result;
  std::map<std::string, size_t> places;
  for (const Rule& r : candidates) {
    size_t place = result.rules.size();
    bool valid = validate(r).ok();
    if (valid && is_trivial(r)) {
      ++result.trivial;
      result.places.emplace_back();
      continue;
    }
    auto known = valid ? places.emplace(text_of(r), place).first->second : place;
    if (known == place)
      result.rules.push_back(r);
    else
      ++result.duplicates;
    result.places.emplace_back(known);
  }
  return result;
}

Joined join_proved(std::span<const Rule> rules) {
  Joined result;
  std::map<std::string, std::vector<size_t>> alike;  // by key, both directions
  for (const Rule& r : rules) {
    result.places.push_back(result.rules.size());
    if (is_for_all_sizes(r.verdict.kind)) {
      auto& earlier = alike[undirected_key(r)];
      auto it = std::find_if(earlier.begin(), earlier.end(),
                             [&](size_t k) { return absorb(result.rules[k], r); });
      if (it != earlier.end()) {
        result.places.back() = *it;
        continue;
      }
      earlier.push_back(result.rules.size());
    }
    result.rules.push_back(r);
  }
  return result;
}

}  // namespace regraft::verify
