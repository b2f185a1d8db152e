#include "certify/check.h"

#include <algorithm>
#include <set>

#include "certify/prefix.h"
#include "ir/rule/text.h"
#include "verify/verify.h"

namespace regraft::certify {
namespace {

/// A rule's text with its shapes and conditions in one order: equal for equal claims.
std::string claim_of(Rule rule) {
  std::sort(rule.domain.begin(), rule.domain.end());
  for (auto& [a, b, relation] : rule.where)
    if (relation == Relation::Equal && to_string(b) < to_string(a)) std::swap(a, b);
  rule.numerics = rule.numerics_back = {};  // compared by itself: a witness may be another
  if (is_for_all_sizes(rule.verdict.kind)) rule.verdict = {VerdictKind::ProvedAllSizes, {}};
  std::sort(rule.where.begin(), rule.where.end(), [](const auto& x, const auto& y) {
    return std::tuple(to_string(x.first), to_string(x.second), x.relation) <
           std::tuple(to_string(y.first), to_string(y.second), y.relation);
  });
  return to_string(rule);
}

/// What the written form of `g`, a graph made from the model's, is called.
Result<Digest> digest_as_written(const io::Imported& model, const Graph& g) {
  ASSIGN_OR_RETURN(io::Imported written, io::reimport(model, g));
  return digest_of(written);
}

}  // namespace

Result<Certificate> make_certificate(const io::Imported& input, const io::Imported& base,
                                     const Graph& result, const rewrite::RuleIndex& index,
                                     Derivation derivation) {
  Certificate c;
  c.opset = io::summarise(base, base.graph).opset;
  c.opset.microsoft = base.microsoft;
  c.done = std::move(derivation);
  ASSIGN_OR_RETURN(c.input, digest_of(input));
  ASSIGN_OR_RETURN(c.output, digest_as_written(base, result));
  std::set<std::string> used = used_rules(c.done);
  for (const rewrite::RuleIndex* part : {&index, index.selection()})
    for (size_t k = 0; part && k < part->rules().size(); ++k)
      if (const Rule& rule = part->rules()[k].rule; used.count(rule.name)) c.rules.push_back(rule);
  return c;
}

Result<std::vector<Rule>> prove_rules(const std::vector<Rule>& claims, uint64_t seed, int threads) {
  verify::VerifyOptions options;
  options.seed = seed;
  options.threads = threads;
  options.domains = verify::Domains::Given;
  options.verbosity = Verbosity::Quiet;
  std::vector<Rule> rules;
  for (const Rule& claimed : claims) {
    Rule proved = verify::verify_rule(claimed, options);
    if (claim_of(proved) != claim_of(claimed))
      return error("the rule " + claimed.name +
                   " is not proved as it stands; what is proved: " + to_string(proved));
    if (proved.numerics.kind < claimed.numerics.kind)
      return error("the rule " + claimed.name + " is " + to_string(proved.numerics.kind) +
                   " in floating point, not " + to_string(claimed.numerics.kind));
    rules.push_back(std::move(proved));
  }
  return rules;
}

Status check_certificate(const Certificate& c, const std::vector<Rule>& rules,
                         const Models& models) {
  if (models.input_digest != c.input) return error("the certificate is about another input model");
  if (models.output_digest != c.output)
    return error("the certificate is about another output model");
  int version = io::summarise(models.input, models.input.graph).opset;
  if (version != c.opset.version) return error("the certificate is about another operator set");
  // What a rule does in floating point is in its line; a step is right over the reals or not.
  ASSIGN_OR_RETURN(auto index,
                   rewrite::RuleIndex::build(rules, rewrite::Scope::Proved, Numerics::Unknown));
  ASSIGN_OR_RETURN(Derived derived, derive(models.input, c.done, index, c.opset));
  ASSIGN_OR_RETURN(Digest reached, digest_as_written(derived.base, derived.graph));
  if (reached == c.output) return {};
  return error("the steps lead to another model");
}

}  // namespace regraft::certify
