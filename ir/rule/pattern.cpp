// The text of patterns.
#include "ir/rule/pattern.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/algebra/real_expression.h"
#include "ir/algebra/scan.h"

namespace regraft {
namespace {

class Printer {
 public:
  Printer(const Rule& rule, const Pattern& side, const PatternStyle& style)
      : rule_(rule), side_(side), style_(style) {}

  std::string value(PatternRef r) const {
    if (is_variable(r)) return "?" + name(rule_.variables[static_cast<size_t>(variable_of(r))]);
    std::string s = node(static_cast<size_t>(r.node));
    return r.output == 0 ? s : s + "#" + std::to_string(r.output);
  }
  std::string conditions() const {
    std::string s;
    for (const AxisCondition& c : rule_.axis_where)
      s += (s.empty() ? "" : ",") + to_string(c, style_.names);
    for (const Condition& c : rule_.where)
      s += (s.empty() ? "" : ",") + polynomial(c.first) + std::string(text_of(c.relation)) +
           polynomial(c.second);
    for (const RealCondition& c : rule_.real_where)
      s += (s.empty() ? "" : ",") + expression(c.first) + std::string(text_of(c.relation)) +
           expression(c.second);
    return s;
  }

 private:
  std::string polynomial(const Poly& p) const {
    return text::print(p, [&](Var v) { return symbol(v); });
  }
  /// An expression over real attributes and sizes.
  std::string expression(const std::string& text) const {
    return print(expression_of("=" + text), [&](const std::string& old) {
      if (old[0] == '?') return "?" + name(old.substr(1));
      size_t dot = old.find('.');
      return name(old.substr(0, dot)) + old.substr(dot);
    });
  }
  std::string name(const std::string& old) const {
    if (style_.operands == PatternStyle::Blind) return {};
    auto it = style_.names.find(old);
    return it == style_.names.end() ? old : it->second;
  }

  std::vector<PatternRef> operands_of(size_t k) const {
    if (style_.operands == PatternStyle::Chained || style_.operands == PatternStyle::Blind)
      return chain_of(side_, k);
    auto it = style_.chains.find(k);
    return it == style_.chains.end() ? side_.nodes[k].inputs : it->second;
  }

  std::string node(size_t k) const {
    const PatternNode& n = side_.nodes[k];
    std::vector<std::string> operands;
    for (PatternRef r : operands_of(k)) operands.push_back(value(r));
    if (style_.operands != PatternStyle::AsTheyAre)
      std::sort(operands.begin(),
                operands.begin() + static_cast<ptrdiff_t>(movable(*n.op, operands.size())));
    std::string s = "(" + std::string(n.op->name);
    for (const std::string& operand : operands) s += " " + operand;
    for (size_t i = 0; i < n.op->ints.size(); ++i) {
      std::string text = integers(n, i);
      if (!text.empty()) s += " " + std::string(n.op->ints[i].name) + "=" + text;
    }
    for (size_t i = 0; i < n.op->reals.size(); ++i) {
      std::string text = real(n, i);
      if (!text.empty()) s += " " + std::string(n.op->reals[i].name) + "=" + text;
    }
    return s + ")";
  }

  std::string symbol(Var v) const {
    if (auto number = number_name(*v)) return "?" + name(*number);
    if (auto size = size_name(*v)) return name(size->variable) + "." + std::to_string(size->axis);
    if (auto at = size_at_axis(*v)) return name(at->variable) + ".?" + name(at->axis);
    return text::symbol_text(v);
  }

  std::string integers(const PatternNode& n, size_t k) const {
    if (!list_variable(n, k).empty()) return "?" + name(list_variable(n, k));
    if (const AxisTerm* term = axis_term(n, k))
      return style_.operands == PatternStyle::Blind ? "?" : to_string(*term, style_.names);
    const auto& list = n.attrs.ints[k];
    std::string s = text::print(list, [&](Var v) { return symbol(v); });
    if (list.empty()) return "";
    // A list of one bare variable must not read as a list variable.
    bool bare = list.size() == 1 && s[0] == '?' && s.find_first_of("+-*") == std::string::npos;
    return bare && n.op->ints[k].length != Length::One ? s + "+0" : s;
  }

  std::string real(const PatternNode& n, size_t k) const {
    const std::string& open = real_variable(n, k);
    if (is_expression(open)) return expression(open.substr(1));
    if (!open.empty()) return "?" + name(open);
    double x = n.attrs.reals[k].value;
    bool at_fallback =
        std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(n.op->reals[k].fallback);
    return at_fallback ? "" : text::print(x);
  }

  const Rule& rule_;
  const Pattern& side_;
  const PatternStyle& style_;
};

}  // namespace

std::vector<PatternRef> chain_of(const Pattern& side, size_t node) {
  const PatternNode& n = side.nodes[node];
  if (!n.op->associative) return n.inputs;
  std::vector<PatternRef> all;
  for (PatternRef r : n.inputs) {
    if (is_variable(r) || side.nodes[static_cast<size_t>(r.node)].op != n.op) {
      all.push_back(r);
      continue;
    }
    std::vector<PatternRef> inner = chain_of(side, static_cast<size_t>(r.node));
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

std::string pattern_text(const Rule& rule, const Pattern& side, PatternRef value,
                         const PatternStyle& style) {
  return Printer(rule, side, style).value(value);
}

std::string_view text_of(Relation r) {
  static constexpr std::string_view kTexts[] = {"=", "<=", "<", "!="};
  return kTexts[static_cast<size_t>(r)];
}

bool holds(double a, Relation r, double b) {
  switch (r) {
    case Relation::Equal:
      return a == b;
    case Relation::AtMost:
      return a <= b;
    case Relation::Below:
      return a < b;
    case Relation::Differs:
      return a != b && !std::isnan(a) && !std::isnan(b);
  }
  return false;
}

std::vector<RealCondition> real_conditions_of(const Rule& rule) {
  std::vector<RealCondition> all = rule.real_where;
  for (const Pattern* side : {&rule.lhs, &rule.rhs})
    for (const PatternNode& n : side->nodes)
      for (size_t k = 0; k < n.op->reals.size(); ++k) {
        const std::string& name = real_variable(n, k);
        if (name.empty() || !n.op->reals[k].zero_is_default) continue;
        all.push_back({is_expression(name) ? name.substr(1) : "?" + name, "0", Relation::Differs});
      }
  return all;
}

std::string where_text(const Rule& rule, const PatternStyle& style) {
  return Printer(rule, rule.lhs, style).conditions();
}

}  // namespace regraft
