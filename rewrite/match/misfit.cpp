#include "rewrite/match/misfit.h"

#include <algorithm>
#include <set>

#include "ir/rule/pattern.h"

namespace regraft::rewrite {

namespace {

std::string text_of(const std::vector<Poly>& numbers) {
  std::string text;
  for (const Poly& p : numbers) text += (text.empty() ? "" : ",") + to_string(p);
  return numbers.size() == 1 ? text : "[" + text + "]";
}

std::string text_of(const Real& r) {
  std::string text = std::to_string(r.value);
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text + "0" : text;
}

/// "its axis is 1, not -1".
std::string attribute(const Misfit& misfit, const CompiledRule& rule, const LiveGraph& g,
                      const Place& place) {
  const PatternNode& wanted = rule.rule.lhs.nodes[static_cast<size_t>(misfit.item)];
  const LiveGraph::Slot& slot = g.slot(place.nodes[static_cast<size_t>(misfit.item)]);
  if (slot.form < 0 || misfit.part < 0) return "an attribute is another one";
  const Form& form = g.interner().form(slot.form);
  auto part = static_cast<size_t>(misfit.part);
  std::string of = "of the " + std::string(wanted.op->name);
  if (part >= wanted.op->ints.size()) {
    part -= wanted.op->ints.size();
    return std::string(wanted.op->reals[part].name) + " " + of + " is " +
           text_of(form.attrs.reals[part]) + ", the rule has " + text_of(wanted.attrs.reals[part]);
  }
  const IntAttr& attr = wanted.op->ints[part];
  std::vector<Poly> numbers = wanted.attrs.ints[part];
  if (numbers.empty() && attr.fallback) numbers = {Poly(*attr.fallback)};
  std::string here = std::string(attr.name) + " " + of + " is " + text_of(form.attrs.ints[part]);
  if (const AxisTerm* term = axis_term(wanted, part))
    return here + ", which does not fit " + to_string(*term) + " of the rule";
  return here + (misfit.kind == Misfit::Attribute ? ", the rule has " + text_of(numbers)
                                                  : ", which does not agree with the sizes");
}

/// "its axes do not satisfy ?j<?k".
std::string axis_conditions(const CompiledRule& rule) {
  std::string text = "its axes do not satisfy ";
  for (const AxisCondition& c : rule.rule.axis_where)
    text += (&c == rule.rule.axis_where.data() ? "" : ", ") + to_string(c);
  return rule.rule.axis_where.empty() ? "the rule has no form at its axes" : text;
}

std::string ranks(const CompiledRule& rule, const LiveGraph& g, const Place& place) {
  std::string here;
  for (Value v : place.variables)
    here += (here.empty() ? "" : " ") + std::to_string(g.interner().rank(g.type(v)));
  std::set<std::string> proved;
  for (const Signature& s : rule.rule.domain) {
    std::string ranks;
    for (const std::string& word : s)
      ranks += (ranks.empty() ? "" : " ") +
               (rule.family ? word : std::to_string(word == "-" ? 0 : word.size()));
    proved.insert(ranks);
  }
  constexpr size_t kShown = 3;
  std::string text;
  size_t shown = 0;
  for (const std::string& r : proved)
    if (shown++ < kShown) text += (text.empty() ? "" : " or ") + r;
  if (proved.size() > kShown) text += " and " + std::to_string(proved.size() - kShown) + " more";
  return "its operands have ranks " + here + ", it is proved for " + text;
}

/// "axis 1 of b has size 64": counted from the front.
std::string size_at(const Misfit& misfit, const CompiledRule& rule, const LiveGraph& g,
                    const Place& place) {
  auto v = static_cast<size_t>(misfit.item), d = static_cast<size_t>(misfit.part);
  const Shape& shape = *g.interner().type(g.type(place.variables[v])).shape;
  return "axis " + std::to_string(d) + " of operand ?" + rule.rule.variables[v] + " has size " +
         to_string(shape[d]);
}

void collect_sizes(const Formula& f, std::set<std::pair<std::string, int>>& names) {
  for (const auto& term : f.poly.terms())
    for (Var v : term.monomial)
      if (auto name = size_name(*v)) names.insert({name->variable, name->axis});
  for (const Formula& part : f.parts) collect_sizes(part, names);
}

/// "it needs a.2-a.3=0; here a.2 is 8, a.3 is 4".
std::string condition(const Misfit& misfit, const CompiledRule& rule, const LiveGraph& g,
                      const Place& place) {
  if (!misfit.condition) return "its real attributes do not satisfy the rule's conditions";
  std::set<std::pair<std::string, int>> names;
  collect_sizes(*misfit.condition, names);
  std::string here;
  for (const auto& [variable, axis] : names) {
    auto at = std::ranges::find(rule.rule.variables, variable);
    if (at == rule.rule.variables.end()) continue;
    auto v = static_cast<size_t>(at - rule.rule.variables.begin());
    const auto& shape = g.interner().type(g.type(place.variables[v])).shape;
    int place_of = axis < 0 && shape ? axis + static_cast<int>(shape->size()) : axis;
    if (!shape || place_of < 0 || static_cast<size_t>(place_of) >= shape->size()) continue;
    here += (here.empty() ? "; here " : ", ") + variable + "." + std::to_string(axis) + " is " +
            regraft::to_string((*shape)[static_cast<size_t>(place_of)]);
  }
  return "it needs " + regraft::to_string(*misfit.condition) + here;
}

}  // namespace

std::string to_string(const Misfit& misfit, const CompiledRule& rule, const LiveGraph& g,
                      const Place& place) {
  switch (misfit.kind) {
    case Misfit::None:
      return "";
    case Misfit::Axes:
      if (misfit.item < 0) return axis_conditions(rule);
      return attribute(misfit, rule, g, place);
    case Misfit::Attribute:
    case Misfit::Number:
      return attribute(misfit, rule, g, place);
    case Misfit::Equality:
      return "two operands must be the same value";
    case Misfit::Unknown:
      return "the shape of an operand is not known";
    case Misfit::Float16:
      return "float16 is not accurate enough for it (" +
             regraft::to_string(rule.rule.numerics.kind) + ")";
    case Misfit::Ranks:
      return ranks(rule, g, place);
    case Misfit::Ones:
      return size_at(misfit, rule, g, place) + ", it is proved for size 1";
    case Misfit::Sizes:
      return size_at(misfit, rule, g, place) + ", not that of another operand";
    case Misfit::Data:
      return "a constant is not the number that the rule needs";
    case Misfit::Range:
      return "a size is below the least that the rule is proved for";
    case Misfit::Condition:
      return condition(misfit, rule, g, place);
    case Misfit::RightSide:
      return "its right side cannot be written for these types";
    case Misfit::Empty:
      return "it may not hold where an open size is 0";
    case Misfit::Fusion:
      return "it would take apart what the runtime computes in one go";
    case Misfit::Effect:
      return "it would change nothing there, or cannot be written";
  }
  return "";
}

}  // namespace regraft::rewrite
