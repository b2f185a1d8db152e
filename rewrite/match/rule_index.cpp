#include "rewrite/match/rule_index.h"

#include <algorithm>
#include <utility>

#include "rewrite/match/discrimination_tree.h"

namespace regraft::rewrite {

namespace {

Status admit(const Rule& rule, Scope scope) {
  auto refuse = [&](std::string why) { return error("rule " + rule.name + ": " + std::move(why)); };
  auto kind = rule.verdict.kind;
  VerdictKind least = scope == Scope::Kernel     ? VerdictKind::ProvedAllSizes
                      : scope == Scope::AllSizes ? VerdictKind::ProvedSolver
                                                 : VerdictKind::ProvedBounded;
  if (kind < least)
    return refuse("its verdict is " + to_string(kind) + ", only proved rules are applied");
  if (auto valid = validate(rule); !valid) return valid;
  if (rule.domain.empty()) return refuse("it names no shapes that it is proved for");
  if (rule.lhs.outputs.empty()) return refuse("its left side has no output");
  bool bare = std::any_of(rule.lhs.outputs.begin(), rule.lhs.outputs.end(), is_variable);
  if (bare) return refuse("an output of its left side is a bare variable");
  if (!DiscriminationTree::fits(rule.lhs) || (rule.both && !DiscriminationTree::fits(rule.rhs)))
    return refuse(std::to_string(DiscriminationTree::kMaxRegisters) +
                  " operands are more than can be matched");
  return {};
}

void mark_needs(const Pattern& side, PatternRef ref, std::vector<char>& needs) {
  if (is_variable(ref)) {
    needs[static_cast<size_t>(variable_of(ref))] = 1;
    return;
  }
  for (PatternRef r : side.nodes[static_cast<size_t>(ref.node)].inputs) mark_needs(side, r, needs);
}

}  // namespace

CompiledRule::Late::Late(const Rule& rule)
    : symmetries(rewrite::symmetries(rule)), instances(rule.domain.size()) {
  for (PatternRef out : rule.rhs.outputs)
    mark_needs(rule.rhs, out, rhs_needs.emplace_back(rule.variables.size(), 0));
}

CompiledRule::Late& CompiledRule::late() const {
  std::call_once(once_, [&] { late_ = std::make_unique<Late>(rule); });
  return *late_;
}

const RuleInstance* CompiledRule::instance(size_t k) const {
  Instance& instance = late().instances[k];
  std::call_once(instance.once, [&] {
    if (auto made = instantiate(rule, rule.domain[k]))
      instance.made = std::make_unique<const RuleInstance>(*std::move(made));
  });
  return instance.made.get();
}

const RuleInstance* CompiledRule::instance(const Signature& plain, const AxisValues& values) const {
  Late& made = late();
  std::lock_guard lock(made.mutex);
  auto [it, fresh] = made.members.try_emplace({plain, values});
  if (!fresh) return it->second.get();
  if (auto one = member(rule, values))
    if (auto instance = instantiate(*one, plain))
      it->second = std::make_unique<const RuleInstance>(*std::move(instance));
  return it->second.get();
}

bool CompiledRule::has_ranks(size_t k, std::span<const int> ranks) const {
  const Signature& signature = rule.domain[k];
  if (family) return open_axes(signature, ranks).has_value();
  return std::equal(ranks.begin(), ranks.end(), signature.begin(), signature.end(),
                    [](int rank, const std::string& word) {
                      return rank == (word == "-" ? 0 : static_cast<int>(word.size()));
                    });
}

Result<RuleIndex> RuleIndex::build(std::vector<Rule> rules, Scope scope, Numerics least) {
  RuleIndex index;
  index.least_ = least;
  for (Rule& rule : rules) {
    RETURN_IF_ERROR(admit(rule, scope));
    for (Rule& directed : directions(std::move(rule))) {
      if (directed.numerics.kind < least)
        index.left_out_.push_back(std::move(directed));
      else
        index.rules_.emplace_back(std::move(directed));
    }
  }
  index.tree_ = std::make_shared<const DiscriminationTree>(index.rules_);
  return index;
}

Numerics usual_numerics() { return Numerics::RoundingF32; }

bool RuleIndex::admits(const Rule& directed, DType type) const {
  bool half = type == DType::F16;
  return !half || least_ == Numerics::Unknown || directed.numerics.kind >= Numerics::Rounding;
}

}  // namespace regraft::rewrite
