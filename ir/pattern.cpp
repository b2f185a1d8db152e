// The text of patterns, and the key under which rules that differ in names only are one.
#include "ir/pattern.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "ir/scan.h"

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
    for (const auto& [a, b] : rule_.where)
      s += (s.empty() ? "" : ",") + polynomial(a) + "=" + polynomial(b);
    return s;
  }

 private:
  std::string polynomial(const Poly& p) const {
    return text::print(p, [&](Var v) { return symbol(v); });
  }
  const std::string& name(const std::string& old) const {
    auto it = style_.names.find(old);
    return it == style_.names.end() ? old : it->second;
  }

  std::string node(size_t k) const {
    const PatternNode& n = side_.nodes[k];
    std::vector<std::string> operands;
    for (PatternRef r : n.inputs) operands.push_back(value(r));
    if (n.op->commutative && operands.size() >= 2) {
      bool exchange = style_.operands == PatternStyle::Sorted
                          ? operands[1] < operands[0]
                          : k < style_.swapped.size() && style_.swapped[k];
      if (exchange) std::swap(operands[0], operands[1]);
    }
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
    return text::symbol_text(v);
  }

  std::string integers(const PatternNode& n, size_t k) const {
    if (!list_variable(n, k).empty()) return "?" + name(list_variable(n, k));
    const auto& list = n.attrs.ints[k];
    std::string s = text::print(list, [&](Var v) { return symbol(v); });
    if (list.empty()) return "";
    // A list of one bare variable must not read as a list variable.
    bool bare = list.size() == 1 && s[0] == '?' && s.find_first_of("+-*") == std::string::npos;
    return bare && n.op->ints[k].length != Length::One ? s + "+0" : s;
  }

  std::string real(const PatternNode& n, size_t k) const {
    if (!real_variable(n, k).empty()) return "?" + name(real_variable(n, k));
    double x = n.attrs.reals[k].value;
    bool at_fallback =
        std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(n.op->reals[k].fallback);
    return at_fallback ? "" : text::print(x);
  }

  const Rule& rule_;
  const Pattern& side_;
  const PatternStyle& style_;
};

/// Canonical names in the order in which a walk over the left side meets the variables.
class Namer {
 public:
  Namer(const Rule& rule, const std::vector<char>& swapped) : rule_(rule), swapped_(swapped) {}

  std::map<std::string, std::string> run(const std::vector<size_t>& output_order) {
    for (size_t k : output_order) tensors(rule_.lhs.outputs[k]);
    visited_.assign(rule_.lhs.nodes.size(), 0);
    for (size_t k : output_order) attributes(rule_.lhs.outputs[k]);
    return std::move(names_);
  }

 private:
  void add(const std::string& old, char prefix) {
    if (!old.empty()) names_.try_emplace(old, prefix + std::to_string(names_.size()));
  }
  std::vector<PatternRef> operands(size_t k) const {
    std::vector<PatternRef> inputs = rule_.lhs.nodes[k].inputs;
    if (swapped_[k]) std::swap(inputs[0], inputs[1]);
    return inputs;
  }
  bool first_visit(PatternRef r) {
    visited_.resize(rule_.lhs.nodes.size(), 0);
    return std::exchange(visited_[static_cast<size_t>(r.node)], char{1}) == 0;
  }
  void tensors(PatternRef r) {
    if (is_variable(r)) return add(rule_.variables[static_cast<size_t>(variable_of(r))], 't');
    if (!first_visit(r)) return;
    for (PatternRef x : operands(static_cast<size_t>(r.node))) tensors(x);
  }
  void attributes(PatternRef r) {
    if (is_variable(r) || !first_visit(r)) return;
    for (PatternRef x : operands(static_cast<size_t>(r.node))) attributes(x);
    const PatternNode& n = rule_.lhs.nodes[static_cast<size_t>(r.node)];
    for (size_t k = 0; k < n.attrs.ints.size(); ++k) {
      add(list_variable(n, k), 'e');
      for (const Poly& p : n.attrs.ints[k])
        for_each_symbol(p, [&](Var v) { add(number_name(*v).value_or(""), 'e'); });
    }
    for (size_t k = 0; k < n.attrs.reals.size(); ++k) add(real_variable(n, k), 'e');
  }

  const Rule& rule_;
  const std::vector<char>& swapped_;
  std::vector<char> visited_;
  std::map<std::string, std::string> names_;
};

std::string side_text(const Rule& rule, const Pattern& side, const std::vector<size_t>& order,
                      const PatternStyle& style) {
  std::string s;
  for (size_t k : order)
    s += (s.empty() ? "" : " ; ") + pattern_text(rule, side, side.outputs[k], style);
  return s;
}

/// The rule with attributes of one number that stand at their fallback left out.
Rule without_fallbacks(Rule rule) {
  for (Pattern* side : {&rule.lhs, &rule.rhs})
    for (PatternNode& n : side->nodes)
      for (size_t k = 0; k < n.op->ints.size(); ++k) {
        const IntAttr& a = n.op->ints[k];
        auto& list = n.attrs.ints[k];
        if (a.length == Length::One && a.fallback && list.size() == 1 &&
            same(list[0], Poly(*a.fallback)))
          list.clear();
      }
  return rule;
}

constexpr size_t kMaxCommuted = 12, kMaxPermuted = 5;  // beyond: as they stand

}  // namespace

std::string pattern_text(const Rule& rule, const Pattern& side, PatternRef value,
                         const PatternStyle& style) {
  return Printer(rule, side, style).value(value);
}

std::string where_text(const Rule& rule, const PatternStyle& style) {
  return Printer(rule, rule.lhs, style).conditions();
}

std::string canonical_key(const Rule& original) {
  Rule rule = without_fallbacks(original);
  std::vector<size_t> commutative;
  for (size_t k = 0; k < rule.lhs.nodes.size() && commutative.size() < kMaxCommuted; ++k)
    if (rule.lhs.nodes[k].op->commutative && rule.lhs.nodes[k].inputs.size() >= 2)
      commutative.push_back(k);
  std::vector<size_t> order(rule.lhs.outputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // The least left side decides the names; with the names fixed, sorting decides the right side.
  std::pair<std::string, std::string> best;
  do {
    for (size_t choice = 0; choice < size_t{1} << commutative.size(); ++choice) {
      PatternStyle style;
      style.swapped.assign(rule.lhs.nodes.size(), 0);
      for (size_t b = 0; b < commutative.size(); ++b)
        style.swapped[commutative[b]] = static_cast<char>(choice >> b & 1);
      style.names = Namer(rule, style.swapped).run(order);
      std::string left = side_text(rule, rule.lhs, order, style);
      if (!best.first.empty() && left > best.first) continue;
      style.operands = PatternStyle::Sorted;
      std::pair<std::string, std::string> key(
          std::move(left),
          side_text(rule, rule.rhs, order, style) + " where " + where_text(rule, style));
      if (best.first.empty() || key < best) best = std::move(key);
    }
  } while (order.size() <= kMaxPermuted && std::next_permutation(order.begin(), order.end()));
  return best.first + " => " + best.second;
}

}  // namespace regraft
