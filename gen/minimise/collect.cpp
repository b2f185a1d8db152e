#include "gen/minimise/collect.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "gen/generalise/check.h"
#include "gen/minimise/domain.h"

namespace regraft::gen {
namespace {

std::string joined_ops(const Pattern& p) {
  std::string s;
  for (const PatternNode& n : p.nodes) s += (s.empty() ? "" : "-") + std::string(n.op->name);
  return s.empty() ? "id" : s;
}

bool fits(const std::vector<Signature>& domain, size_t variables) {
  return std::all_of(domain.begin(), domain.end(),
                     [&](const Signature& s) { return s.size() == variables; });
}

}  // namespace

bool Collector::add(const Rule& rule, const Signature& signature) {
  if (!validate(rule)) return false;
  if (is_trivial(rule)) {
    ++duplicates_;
    return false;
  }
  if (known(rule)) {
    size_t k = keys_.at(canonical_key(directions(rule)[0]));
    std::vector<Signature>& all = signatures_[k];
    bool fits = rules_[k].variables.size() == signature.size();
    if (fits && std::find(all.begin(), all.end(), signature) == all.end() &&
        check(rules_[k], signature, kShapeSeed, kManyShapes) == Evidence::Holds)
      all.push_back(signature);
    ++duplicates_;
    return false;
  }
  for (const Rule& r : directions(rule)) keys_.emplace(canonical_key(r), rules_.size());
  rules_.push_back(rule);
  signatures_.push_back({signature});
  return true;
}

/// All shapes where the rule was found, and those like them.
std::vector<Signature> Collector::domain(size_t k) const {
  std::vector<Signature> r;
  for (const Signature& s : signatures_[k]) {
    std::vector<Signature> more = domain_of(rules_[k], s, kShapeSeed);
    if (more.empty() && signatures_[k].size() > 1) more = {s};
    for (Signature& m : more)
      if (std::find(r.begin(), r.end(), m) == r.end()) r.push_back(std::move(m));
  }
  return r;
}

/// Every direction is there.
bool Collector::known(const Rule& rule) const {
  std::vector<Rule> all = directions(rule);
  return std::all_of(all.begin(), all.end(),
                     [&](const Rule& r) { return keys_.count(canonical_key(r)) > 0; });
}

std::vector<Signature> Domains::of(size_t k, size_t variables,
                                   const std::function<std::vector<Signature>()>& find) {
  {
    std::lock_guard lock(mutex_);
    if (auto at = known_.find(k); at != known_.end() && fits(at->second, variables))
      return at->second;
  }
  std::vector<Signature> found = find();
  std::lock_guard lock(mutex_);
  known_[k] = found;
  if (added_) added_(known_);
  return found;
}

std::vector<Rule> Collector::finished(const std::vector<char>& keep, int threads,
                                      Domains& domains) const {
  std::vector<size_t> kept;
  for (size_t k = 0; k < rules_.size(); ++k)
    if (keep[k]) kept.push_back(k);
  std::vector<Rule> r(kept.size());
  parallel_for(kept.size(), threads, [&](size_t k) {
    Rule rule = rules_[kept[k]];
    rule.domain = domains.of(kept[k], rule.variables.size(), [&] { return domain(kept[k]); });
    r[k] = renamed(rule);
  });
  std::set<std::string> names;
  for (Rule& rule : r) {
    std::string base = joined_ops(rule.lhs) + "=" + joined_ops(rule.rhs) + ".";
    const std::string digits = hex(hash_text(canonical_key(rule)));
    for (size_t k = 4; k <= digits.size(); ++k) {
      rule.name = base + digits.substr(0, k);
      if (names.insert(rule.name).second) break;
    }
  }
  return r;
}

}  // namespace regraft::gen
