#include "cli/macros/generalise_macro.h"

#include <algorithm>

#include "gen/generalise/check.h"
#include "gen/generalise/reals.h"

namespace regraft::cli {
namespace {

constexpr uint64_t kSeed = 29;  // of the shapes that are tried
constexpr int kShapes = 12;     // at which a step must hold

gen::Evidence evidence(const Rule& rule, const Signature& signature) {
  return gen::check(rule, signature, kSeed, kShapes);
}
bool holds(const Rule& rule, const Signature& signature) {
  return evidence(rule, signature) == gen::Evidence::Holds;
}

void drop_conditions(Rule& rule, const Signature& signature) {
  for (size_t k = rule.where.size(); k-- > 0;) {
    Rule weaker = rule;
    weaker.where.erase(weaker.where.begin() + static_cast<std::ptrdiff_t>(k));
    if (holds(weaker, signature)) rule = std::move(weaker);
  }
}

}  // namespace

std::optional<Rule> generalise_macro(const rewrite::Composed& composed) try {
  Rule rule = composed.open;
  Signature signature = rule.domain.at(0);
  const gen::Evidence open = evidence(rule, signature);
  if (open == gen::Evidence::Unusable) rule = composed.closed;
  if (open == gen::Evidence::Fails || !holds(rule, signature)) return std::nullopt;
  drop_conditions(rule, signature);
  Signature wide = signature;
  for (std::string& word : wide) std::ranges::replace(word, '1', 'n');
  if (holds(rule, wide)) signature = wide;
  rule = gen::open_reals(std::move(rule), signature, kSeed);
  rule.domain = {signature};
  return rule;
} catch (const PolyOverflow&) {
  return std::nullopt;
}

}  // namespace regraft::cli
