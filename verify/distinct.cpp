#include "verify/distinct.h"

#include <algorithm>
#include <map>

namespace regraft::verify {
namespace {

/// The key of the rule and its reverse; of the rule alone when it has no reverse.
std::string undirected_key(const Rule& rule) {
  Rule both = rule;
  both.both = is_reversible(rule);
  return canonical_key(both);
}

/// Adds the signatures of a rule that is the same up to names.
void add_signatures(Rule& rule, const Rule& same) {
  std::vector<std::string> mine = canonical_variables(rule), theirs = canonical_variables(same);
  auto place = [](const std::vector<std::string>& names, const std::string& name) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (const Signature& s : same.domain) {
    Signature moved;
    for (const std::string& name : rule.variables)
      moved.push_back(s[place(same.variables, theirs[place(mine, name)])]);
    if (std::find(rule.domain.begin(), rule.domain.end(), moved) == rule.domain.end())
      rule.domain.push_back(std::move(moved));
  }
}

/// What an earlier rule of the same undirected key makes of a later one.
void absorb(Rule& earlier, const Rule& later, Distinct& result) {
  bool known = earlier.both || (!later.both && canonical_key(earlier) == canonical_key(later));
  ++(known || later.both ? result.duplicates : result.joined);
  if (known) return;
  if (!later.both) add_signatures(earlier, reversed(later));
  earlier.both = true;
}

}  // namespace

Distinct distinct_rules(std::span<const Rule> candidates) {
  Distinct result;
  std::map<std::string, size_t> places;
  for (const Rule& r : candidates) {
    size_t place = result.rules.size();
    if (!validate(r)) {
      result.rules.push_back(r);
    } else if (is_trivial(r)) {
      ++result.trivial;
      result.places.emplace_back();
      continue;
    } else if (auto [it, fresh] = places.emplace(undirected_key(r), place); fresh) {
      result.rules.push_back(r);
    } else {
      place = it->second;
      absorb(result.rules[place], r, result);
    }
    result.places.emplace_back(place);
  }
  return result;
}

}  // namespace regraft::verify
