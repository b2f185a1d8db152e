#include "verify/distinct.h"

#include <map>

namespace regraft::verify {
namespace {

/// The key of the rule and its reverse; of the rule alone when it has no reverse.
std::string undirected_key(const Rule& rule) {
  Rule both = rule;
  both.both = is_reversible(rule);
  return canonical_key(both);
}

/// What an earlier rule of the same undirected key makes of a later one.
void absorb(Rule& earlier, const Rule& later, Distinct& result) {
  bool known = earlier.both || (!later.both && canonical_key(earlier) == canonical_key(later));
  if (!known) earlier.both = true;
  ++(known || later.both ? result.duplicates : result.joined);
}

}  // namespace

Distinct distinct_rules(std::span<const Rule> candidates) {
  Distinct result;
  std::map<std::string, size_t> places;
  for (const Rule& r : candidates) {
    if (!validate(r)) {
      result.rules.push_back(r);
    } else if (is_trivial(r)) {
      ++result.trivial;
    } else if (auto [it, fresh] = places.emplace(undirected_key(r), result.rules.size()); fresh) {
      result.rules.push_back(r);
    } else {
      absorb(result.rules[it->second], r, result);
    }
  }
  return result;
}

}  // namespace regraft::verify
