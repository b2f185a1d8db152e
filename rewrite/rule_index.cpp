#include "rewrite/rule_index.h"

#include <algorithm>

#include "rewrite/program.h"

namespace regraft::rewrite {

namespace {

Status admit(const Rule& rule, Scope scope) {
  auto refuse = [&](std::string why) { return error("rule " + rule.name + ": " + std::move(why)); };
  auto kind = rule.verdict.kind;
  bool proved = kind == VerdictKind::ProvedAllSizes ||
                (scope == Scope::Proved && kind == VerdictKind::ProvedBounded);
  if (!proved)
    return refuse("its verdict is " + to_string(kind) + ", only proved rules are applied");
  if (auto valid = validate(rule); !valid) return valid;
  if (rule.domain.empty()) return refuse("it names no shapes that it is proved for");
  if (rule.lhs.outputs.empty()) return refuse("its left side has no output");
  bool bare = std::any_of(rule.lhs.outputs.begin(), rule.lhs.outputs.end(), is_variable);
  if (bare) return refuse("an output of its left side is a bare variable");
  return {};
}

void mark_needs(const Pattern& side, PatternRef ref, std::vector<char>& needs) {
  if (is_variable(ref)) {
    needs[static_cast<size_t>(variable_of(ref))] = 1;
    return;
  }
  for (PatternRef r : side.nodes[static_cast<size_t>(ref.node)].inputs) mark_needs(side, r, needs);
}

CompiledRule compile(Rule rule) {
  CompiledRule compiled;
  for (const Signature& signature : rule.domain) {
    auto instance = std::make_unique<const LazyInstance>(signature);
    compiled.by_ranks[instance->ranks()].push_back(static_cast<int>(compiled.instances.size()));
    compiled.instances.push_back(std::move(instance));
  }
  for (PatternRef out : rule.rhs.outputs)
    mark_needs(rule.rhs, out, compiled.rhs_needs.emplace_back(rule.variables.size(), 0));
  compiled.symmetries = symmetries(rule);
  compiled.rule = std::move(rule);
  return compiled;
}

}  // namespace

const RuleInstance* LazyInstance::get(const Rule& rule) const {
  std::call_once(once_, [&] {
    if (auto made = instantiate(rule, signature_)) instance_ = *std::move(made);
  });
  return instance_ ? &*instance_ : nullptr;
}

std::vector<int> LazyInstance::ranks() const {
  std::vector<int> ranks;
  for (const std::string& word : signature_)
    ranks.push_back(word == "-" ? 0 : static_cast<int>(word.size()));
  return ranks;
}

Result<RuleIndex> RuleIndex::build(const std::vector<Rule>& rules, Scope scope) {
  RuleIndex index;
  for (const Rule& rule : rules) {
    RETURN_IF_ERROR(admit(rule, scope));
    for (Rule& directed : directions(rule)) index.rules_.push_back(compile(std::move(directed)));
  }
  index.program_ = std::make_shared<const Program>(index.rules_);
  return index;
}

}  // namespace regraft::rewrite
