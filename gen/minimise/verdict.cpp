#include "gen/minimise/verdict.h"

#include "base/files/bytes.h"
#include "gen/generalise/check.h"
#include "gen/minimise/pair.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

/// The numbers above 1 of all attributes.
std::set<int64_t> numbers_of(const Bank& bank, TermId t) {
  std::set<int64_t> r;
  for (TermId s : bank.subterms(t)) {
    if (bank.node(s).is_leaf()) continue;
    for (const auto& list : bank.label(bank.node(s).label).attrs.ints)
      for (int64_t n : list)
        if (n > 1) r.insert(n);
  }
  return r;
}

/// A number of `to` may be a product of numbers of `from`, as where strides follow strides.
bool multiplies(const Bank& bank, TermId from, TermId to) {
  std::set<int64_t> factors = numbers_of(bank, from), products = numbers_of(bank, to);
  for (int64_t a : factors)
    for (int64_t b : factors)
      if (products.count(a * b)) return true;
  return false;
}

/// How many numbers other than 0 a term's real attributes have.
size_t real_numbers(const Bank& bank, TermId t) {
  size_t n = 0;
  for (TermId s : bank.subterms(t))
    if (!bank.node(s).is_leaf())
      for (const Real& r : bank.label(bank.node(s).label).attrs.reals) n += r.value != 0;
  return n;
}

/// Numbers of `from` may be made of those of `to`, which has more, as a quotient of two is.
bool makes_numbers(const Bank& bank, TermId from, TermId to) {
  return bank.compare() == Compare::Doubles && real_numbers(bank, to) > real_numbers(bank, from);
}

/// The rule read from right to left holds as well.
bool holds_reversed(const Generalised& g, uint64_t seed) {
  if (!is_reversible(g.rule)) return false;
  Rule rule = g.rule;
  rule.domain = {g.signature};
  Rule back = reversed(rule);
  return check(back, back.domain[0], mix(seed), kManyShapes) == Evidence::Holds;
}

/// Whether a pair is a rule from left to right.
enum class Reading : uint8_t { False, Forward, Both };

/// Rules that lead from one side to the other; reversible where they lead back as well.
Reading direct(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed,
               std::vector<Verdict::Found>& found) {
  Reading reading = Reading::False;
  if (!bank.binds(lhs, rhs)) return reading;
  bool back = bank.binds(rhs, lhs) && bank.subterms(lhs).count(rhs) == 0;
  bool grows = bank.subterms(rhs).count(lhs) > 0;
  for (Generalised& g : generalise(bank, lhs, rhs, seed)) {
    g.rule.both = back && !grows && holds_reversed(g, seed);
    if (reading != Reading::Both) reading = g.rule.both ? Reading::Both : Reading::Forward;
    found.push_back({std::move(g.rule), std::move(g.signature), grows});
  }
  return reading;
}

/// Prunes what follows from the pair, at shapes like these.
std::optional<Verdict::Found> ground_of(const Bank& bank, Pair p) {
  if (bank.node(p.lhs).is_leaf() || !bank.binds(p.lhs, p.rhs)) std::swap(p.lhs, p.rhs);
  if (!bank.binds(p.lhs, p.rhs)) return std::nullopt;
  TemplatePair ground;
  ground.lhs = p.lhs;
  ground.rhs = p.rhs;
  return Verdict::Found{to_rule(bank, ground), leaf_signature(bank, ground.lhs)};
}

/// A rule with its shapes as a line of a rule file.
void write(ByteWriter& out, const Verdict::Found& found) {
  Rule rule = found.rule;
  rule.name = "found";
  rule.domain = {found.signature};
  out.text(to_string(rule)).number<uint8_t>(found.grows ? 1 : 0);
}

Result<Verdict::Found> read_found(ByteReader& in) {
  std::string text(in.text());
  bool grows = in.number<uint8_t>() != 0;
  if (!in.fits()) return error("a verdict that is cut off");
  ASSIGN_OR_RETURN(Rule rule, parse_rule(text));
  if (rule.domain.size() != 1) return error("a rule of a verdict without shapes");
  Verdict::Found found{std::move(rule), {}, grows};
  found.signature = std::move(found.rule.domain[0]);
  found.rule.domain.clear();
  found.rule.name.clear();
  return found;
}

}  // namespace

std::string to_bytes(const Verdict& v) {
  ByteWriter out;
  out.number<uint8_t>(v.kind).number<uint64_t>(v.found.size());
  for (const Verdict::Found& f : v.found) write(out, f);
  out.number<uint8_t>(v.ground ? 1 : 0);
  if (v.ground) write(out, *v.ground);
  return out.finish();
}

Result<Verdict> verdict_of(std::string_view bytes) {
  ByteReader in(bytes);
  Verdict v;
  auto kind = in.number<uint8_t>();
  if (kind > Verdict::Rules) return error("an unknown kind of verdict");
  v.kind = static_cast<Verdict::Kind>(kind);
  for (size_t left = in.count(9); left > 0 && in.fits(); --left) {
    ASSIGN_OR_RETURN(auto found, read_found(in));
    v.found.push_back(std::move(found));
  }
  if (in.number<uint8_t>() != 0) {
    ASSIGN_OR_RETURN(auto ground, read_found(in));
    v.ground = std::move(ground);
  }
  if (!in.at_end()) return error("a verdict that is none");
  return v;
}

Verdict judge(Bank& bank, Pair pair, uint64_t seed) {
  Verdict v;
  Pair p = without_common_subterms(bank, pair);
  if (p.lhs == p.rhs || directed_key(bank, p.lhs, p.lhs) == directed_key(bank, p.lhs, p.rhs))
    return v;
  if (!bank.same_value(p.lhs, p.rhs)) {  // other inputs than the enumeration's
    v.kind = Verdict::Chance;
    return v;
  }
  v.kind = Verdict::Constants;
  if (!bank.leaves(p.lhs).empty() || !bank.leaves(p.rhs).empty()) {
    Reading forward = direct(bank, p.lhs, p.rhs, seed, v.found);
    Reading backward = Reading::False;
    if (forward != Reading::Both || multiplies(bank, p.rhs, p.lhs) ||
        makes_numbers(bank, p.lhs, p.rhs))
      backward = direct(bank, p.rhs, p.lhs, seed, v.found);
    bool holds = forward != Reading::False || backward != Reading::False;
    v.kind = holds ? Verdict::Rules : Verdict::OtherShapes;
  }
  v.ground = ground_of(bank, p);
  return v;
}

}  // namespace regraft::gen
