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

constexpr size_t kMaxNoted = 24;

std::string joined_ops(const Pattern& p) {
  std::string s;
  for (const PatternNode& n : p.nodes) s += (s.empty() ? "" : "-") + std::string(n.op->name);
  return s.empty() ? "id" : s;
}

/// The shapes it was found at, and tensors of one rank, where it holds.
std::vector<Signature> of_equal_ranks(const Rule& rule, const Signature& found) {
  std::vector<Signature> r = {found};
  for (size_t rank : {4, 3, 2, 5, 1}) {
    Signature s(found.size(), std::string(rank, 'n'));
    if (s != found && check(rule, s, kShapeSeed, kManyShapes) == Evidence::Holds)
      r.push_back(std::move(s));
  }
  return r;
}

bool fits(const std::vector<Signature>& domain, size_t variables) {
  return std::all_of(domain.begin(), domain.end(),
                     [&](const Signature& s) { return s.size() == variables; });
}

/// `narrow` is `wide` with some extents of 1, of which the rule asks no more there: where the one
/// holds, the other does.
bool covers(const Rule& rule, const Signature& wide, const Signature& narrow) {
  auto at_wide = instantiate(rule, wide), at_narrow = instantiate(rule, narrow);
  if (!at_wide || !at_narrow || wide.size() != narrow.size()) return false;
  Substitution ones;
  for (size_t v = 0; v < wide.size(); ++v) {
    if (wide[v].size() != narrow[v].size() || (wide[v] == "-") != (narrow[v] == "-")) return false;
    for (size_t d = 0; d < wide[v].size(); ++d)
      if (wide[v][d] != narrow[v][d] && wide[v][d] == 'n')
        ones[*at_wide->sizes[v][d]] = Poly(1);
      else if (wide[v][d] != narrow[v][d])
        return false;
  }
  std::set<std::string> said;
  for (const Formula& f : at_narrow->requires_lhs) said.insert(to_string(f));
  Conjunction asked = substitute(at_wide->requires_lhs, ones);
  return std::all_of(asked.begin(), asked.end(),
                     [&](const Formula& f) { return said.count(to_string(f)) > 0; });
}

}  // namespace

bool Collector::add(const Rule& rule, const Signature& signature) {
  if (!validate(rule)) return false;
  if (is_trivial(rule)) {
    ++duplicates_;
    return false;
  }
  if (known(rule)) {
    size_t k = number_of(rule);
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
  noted_.emplace_back();
  return true;
}

void Collector::note(const Rule& rule, const Signature& signature) {
  if (!known(rule)) return;
  size_t k = number_of(rule);
  bool fits = rules_[k].variables.size() == signature.size();
  if (fits && noted_[k].size() < kMaxNoted) noted_[k].push_back(signature);
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
  for (const Signature& s : noted_[k]) {
    const Signature& found = signatures_[k][0];
    if (std::find(r.begin(), r.end(), s) != r.end() || covers(rules_[k], found, s) ||
        check(rules_[k], s, kShapeSeed, kManyShapes) != Evidence::Holds)
      continue;
    if (r.empty()) r = of_equal_ranks(rules_[k], found);
    if (std::find(r.begin(), r.end(), s) == r.end()) r.push_back(s);
  }
  return r;
}

size_t Collector::number_of(const Rule& rule) const {
  return keys_.at(canonical_key(directions(rule)[0]));
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
