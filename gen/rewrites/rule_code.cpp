#include "gen/rewrites/rule_code.h"

#include <algorithm>

#include "ir/algebra/real_expression.h"
#include "ir/rule/pattern.h"

namespace regraft::gen {

RuleCode::RuleCode(const Rule& rule) : rule_(rule), real_conditions_(real_conditions_of(rule)) {
  for (const PatternNode& n : rule.lhs.nodes) left_.push_back(call_of(n));
  for (const PatternNode& n : rule.rhs.nodes) right_.push_back(call_of(n));
  for (const Condition& c : rule.where) {
    note_symbols(c.first);
    note_symbols(c.second);
  }
}

size_t RuleCode::place_of(std::vector<std::string>& names, const std::string& name) {
  auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) it = names.insert(it, name);
  return static_cast<size_t>(it - names.begin());
}

RuleCode::Call RuleCode::call_of(const PatternNode& node) {
  Call call;
  call.node = &node;
  for (size_t k = 0; k < node.attrs.ints.size(); ++k) {
    Ints& ints = call.ints.emplace_back();
    ints.fallback = node.op->ints[k].fallback;
    const std::string& list = list_variable(node, k);
    if (!list.empty()) ints.list = place_of(lists_, list);
    for (const Poly& p : node.attrs.ints[k]) ints.numbers.push_back(number_of(p));
  }
  for (size_t k = 0; k < node.attrs.reals.size(); ++k) {
    RealNumber& real = call.reals.emplace_back();
    real.value = node.attrs.reals[k].value;
    const std::string& name = real_variable(node, k);
    if (is_expression(name)) {
      real.kind = Kind::Expression;
      real.expression = &name;
    } else if (!name.empty()) {
      real.kind = Kind::Place;
      real.place = place_of(numbers_, "." + name);
    }
  }
  return call;
}

RuleCode::Number RuleCode::number_of(const Poly& p) {
  note_symbols(p);
  if (p.is_constant()) return {Kind::Given, p.constant(), 0, &p};
  if (p.terms().size() == 1 && p.constant() == 0) {
    const auto& [monomial, coefficient] = p.terms()[0];
    if (coefficient == 1 && monomial.size() == 1)
      if (auto place = meaning(monomial[0]).place) return {Kind::Place, 0, *place, &p};
  }
  return {Kind::Expression, 0, 0, &p};
}

void RuleCode::note_symbols(const Poly& p) {
  for_each_symbol(p, [&](Var v) {
    bool known = std::any_of(meanings_.begin(), meanings_.end(),
                             [&](const auto& m) { return m.first == v; });
    if (known) return;
    if (auto name = number_name(*v)) place_of(numbers_, *name);
    meanings_.emplace_back(v, look_up(v));
  });
}

RuleCode::Meaning RuleCode::look_up(Var v) const {
  Meaning m;
  if (auto name = number_name(*v)) {
    auto at = std::find(numbers_.begin(), numbers_.end(), *name);
    if (at != numbers_.end()) m.place = static_cast<size_t>(at - numbers_.begin());
  } else if (auto size = size_name(*v)) {
    const auto& names = rule_.variables;
    auto at = std::find(names.begin(), names.end(), size->variable);
    if (at != names.end()) m.variable = static_cast<size_t>(at - names.begin());
    m.axis = size->axis;
  }
  return m;
}

RuleCode::Meaning RuleCode::meaning(Var v) const {
  for (const auto& [known, m] : meanings_)
    if (known == v) return m;
  return look_up(v);
}

std::optional<size_t> RuleCode::real_place(const std::string& name) const {
  auto at = std::find(numbers_.begin(), numbers_.end(), "." + name);
  if (at == numbers_.end()) return std::nullopt;
  return static_cast<size_t>(at - numbers_.begin());
}

}  // namespace regraft::gen
