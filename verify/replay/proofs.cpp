#include "verify/replay/proofs.h"

#include <map>

#include "ir/rule/op_digest.h"
#include "ir/rule/text.h"
#include "verify/kernel/derivation.h"

namespace regraft::verify {
namespace {

bool in_direction(const Rule& directed, const char* arrow, MemberLists& members,
                  const std::function<bool(const ProofPlace&)>& visit) {
  auto at = [&](const Member& m) {
    return visit({arrow + to_string(m), m.rule, m.rule.domain[0]});
  };
  Member one{directed, {}};
  for (const Signature& s : directed.domain) {
    if (!is_family(directed)) {
      one.rule.domain = {s};
      if (!at(one)) return false;
      continue;
    }
    for (int open = 0; open <= most_open(s); ++open)
      if (!members.for_each_member(directed, s, open, at)) return false;
  }
  return true;
}

// The name that what is said of a rule is written with.
constexpr const char* kNamed = "rule  ";

}  // namespace

bool for_each_proof(const Rule& rule, const std::function<bool(const ProofPlace&)>& visit) {
  MemberLists members;
  return for_each_proof(rule, members, visit);
}

bool for_each_proof(const Rule& rule, MemberLists& members,
                    const std::function<bool(const ProofPlace&)>& visit) {
  const char* arrow = "> ";
  for (const Rule& directed : directions(rule)) {
    if (!in_direction(directed, arrow, members, visit)) return false;
    arrow = "< ";
  }
  return true;
}

std::string proof_key(const Rule& directed, const Signature& signature) {
  return kNamed + content_text(directed, std::span(&signature, 1));
}

std::string content_digest(const Rule& rule) {
  Sha256 sha;
  sha.text(kNamed + content_text(rule, {}));
  std::map<std::string_view, const OpDef*> operators;
  for (const Pattern* side : {&rule.lhs, &rule.rhs})
    for (const PatternNode& n : side->nodes) operators.emplace(n.op->name, n.op);
  for (const auto& [name, op] : operators) sha.digest(known_meaning(*op));
  constexpr size_t kDigits = 32;
  return hex(sha.finish()).substr(0, kDigits);
}

std::string refusal(const RuleInstance& instance, const std::string& derivation) {
  kernel::Symbols symbols;
  kernel::Translation translation(symbols);
  try {
    check(symbols, claim_of(translation, instance), derivation);
  } catch (const kernel::Refused& refused) {
    return refused.why.empty() ? "refused" : refused.why;
  } catch (const PolyOverflow&) {
    return "integers too large";
  }
  return {};
}

}  // namespace regraft::verify
