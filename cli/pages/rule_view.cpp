#include "cli/pages/rule_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/pages/page.h"
#include "cli/pages/text.h"
#include "ir/algebra/scan.h"
#include "ir/rule/family.h"
#include "ir/rule/pattern.h"

namespace regraft::cli {
namespace {

/// "strides=s", "pads=1,1": as rules write them, without the question marks. A call without
/// operands has all its real numbers, which are what it makes.
std::vector<std::string> attributes_of(const Rule& rule, const PatternNode& n) {
  Pattern alone{{n}, {{0, 0}}};
  alone.nodes[0].inputs.clear();
  std::string call = pattern_text(rule, alone, {0, 0}, {});
  std::erase(call, '?');
  std::vector<std::string> all;
  size_t at = call.find(' ');
  while (at != std::string::npos) {
    size_t end = std::min(call.find(' ', at + 1), call.size() - 1);
    all.push_back(call.substr(at + 1, end - at - 1));
    at = call[end] == ' ' ? end : std::string::npos;
  }
  for (size_t k = 0; k < n.op->reals.size() && n.inputs.empty(); ++k) {
    std::string start = std::string(n.op->reals[k].name) + "=";
    auto given = [&](const std::string& a) { return a.starts_with(start); };
    if (std::ranges::none_of(all, given))
      all.push_back(start + text::print(n.op->reals[k].fallback));
  }
  return all;
}

/// What makes one number, a scalar. Empty: it is something else.
std::string number_of(const PatternNode& n) {
  bool one = n.inputs.empty() && n.op->reals.size() == 1 && real_variable(n, 0).empty();
  for (size_t k = 0; k < n.attrs.ints.size(); ++k)
    one = one && n.attrs.ints[k].empty() && list_variable(n, k).empty();
  bool known = one && n.attrs.reals.size() == 1 && !n.attrs.reals[0].symbol;
  return known ? fmt::format("{:.9g}", n.attrs.reals[0].value) : std::string();
}

class Formulas {
 public:
  Formulas(const Rule& rule, const Pattern& side, Marking marking)
      : rule_(rule), side_(side), html_(marking == Marking::Html) {}

  /// `tight`: 0 as it stands, 1 within a sum, 2 within a product, 3 where only a call may stand.
  std::string value(PatternRef r, int tight) const {
    if (is_variable(r)) return shown("", rule_.variables[static_cast<size_t>(variable_of(r))]);
    const PatternNode& n = side_.nodes[static_cast<size_t>(r.node)];
    std::string s = number_of(n);
    if (s.empty()) s = infix(n, tight);
    if (s.empty()) s = call(n);
    return r.output == 0 ? s : fmt::format("{}#{}", s, r.output);
  }

 private:
  std::string shown(const char* element, const std::string& text) const {
    if (!html_) return text;
    std::string inner = escape_html(text);
    return *element ? fmt::format("<{0}>{1}</{0}>", element, inner) : inner;
  }
  std::string infix(const PatternNode& n, int tight) const {
    if (n.op->arithmetic == Arithmetic::None || n.inputs.size() != 2) return {};
    if (!attributes_of(rule_, n).empty()) return {};
    bool sum = n.op->arithmetic == Arithmetic::Sum || n.op->arithmetic == Arithmetic::Difference;
    static const char* const kSigns[] = {"", " + ", " − ", " · ", " / "};
    int own = sum ? 1 : 2;
    std::string s = value(n.inputs[0], own) + kSigns[static_cast<size_t>(n.op->arithmetic)] +
                    value(n.inputs[1], own + 1);
    return tight > own ? "(" + s + ")" : s;
  }
  std::string call(const PatternNode& n) const {
    std::string s;
    for (PatternRef r : n.inputs) s += (s.empty() ? "" : ", ") + value(r, 0);
    for (const std::string& a : attributes_of(rule_, n))
      s += (s.empty() ? "" : ", ") + shown("i", a);
    return shown("b", std::string(n.op->name)) + "(" + s + ")";
  }
  const Rule& rule_;
  const Pattern& side_;
  bool html_;
};

}  // namespace

std::string side_formula(const Rule& rule, const Pattern& side, Marking marking) {
  std::string s;
  for (PatternRef r : side.outputs)
    s += (s.empty() ? "" : " ; ") + Formulas(rule, side, marking).value(r, 0);
  return s;
}

std::string conditions_of(const Rule& rule) {
  std::string s;
  for (char c : where_text(rule, {})) {
    bool relation = c == '=' || c == '<', second = s.ends_with("< ");
    if (relation && second)
      s.replace(s.size() - 1, 1, "= ");
    else if (relation)
      s += std::string(" ") + c + " ";
    else if (c == ',')
      s += ", ";
    else if (c != '?')
      s += c;
  }
  return s;
}

std::string signature_text(const Rule& rule, const Signature& signature) {
  std::string s;
  for (size_t v = 0; v < signature.size(); ++v) {
    std::string axes;
    if (auto word = word_of(signature[v]); word && word->open != Word::None) {
      s += (s.empty() ? "" : " ") + rule.variables[v] + "[" + signature[v] + "]";
      continue;
    }
    for (char c : signature[v] == "-" ? "" : signature[v])
      axes += (axes.empty() ? "" : ",") + std::string(1, c);
    s += (s.empty() ? "" : " ") + rule.variables[v] + "[" + axes + "]";
  }
  return s;
}

Drawing draw_side(const Rule& rule, const Pattern& side, const std::string& title) {
  Drawing d{title, side_formula(rule, side, Marking::Plain), {}, {}};
  std::vector<size_t> place(rule.variables.size(), SIZE_MAX);
  auto place_of = [&](PatternRef r) {
    if (!is_variable(r)) return static_cast<size_t>(r.node);
    size_t& p = place[static_cast<size_t>(variable_of(r))];
    if (p == SIZE_MAX) {
      p = d.nodes.size();
      d.nodes.push_back(
          {DrawnNode::Variable, rule.variables[static_cast<size_t>(variable_of(r))], {}, false});
    }
    return p;
  };
  auto label_of = [](PatternRef r) {
    return !is_variable(r) && r.output > 0 ? fmt::format("#{}", r.output) : std::string();
  };
  for (const PatternNode& n : side.nodes) {
    std::string number = number_of(n);
    if (!number.empty())
      d.nodes.push_back({DrawnNode::Constant, number, {}, false});
    else
      d.nodes.push_back({n.inputs.empty() ? DrawnNode::Constant : DrawnNode::Operator,
                         std::string(n.op->name), attributes_of(rule, n), false});
  }
  for (size_t k = 0; k < side.nodes.size(); ++k)
    for (PatternRef r : side.nodes[k].inputs) {
      size_t from = place_of(r);
      d.edges.push_back({from, k, label_of(r), false});
    }
  for (size_t k = 0; k < side.outputs.size(); ++k) {
    size_t from = place_of(side.outputs[k]);
    d.edges.push_back({from, d.nodes.size(), label_of(side.outputs[k]), false});
    std::string label = side.outputs.size() == 1 ? "result" : fmt::format("result {}", k);
    d.nodes.push_back({DrawnNode::Output, label, {}, false});
  }
  return d;
}

std::string draw_rule(const Rule& rule, const std::string& id) {
  auto side = [&](const Pattern& p, const char* name, const char* letter) {
    auto n = std::ranges::count_if(p.nodes, [](const auto& x) { return number_of(x).empty(); });
    std::string caption = fmt::format("{}: {} operator{}", name, n, n == 1 ? "" : "s");
    return figure(to_svg(draw_side(rule, p, caption), id + letter), caption);
  };
  return "<div class=\"pair\">" + side(rule.lhs, "Left side", "-l") +
         side(rule.rhs, "Right side", "-r") + "</div>";
}

std::string formula_box(const Rule& rule) {
  std::string s = "<div class=\"formula f\"><span></span><span>" +
                  side_formula(rule, rule.lhs, Marking::Html) + "</span><span>" +
                  (rule.both ? "⇔" : "⇒") + "</span><span>" +
                  side_formula(rule, rule.rhs, Marking::Html) + "</span>";
  if (!conditions_of(rule).empty())
    s += "<span>where</span><span>" + escape_html(conditions_of(rule)) + "</span>";
  return s + "</div>";
}

std::vector<std::string> operators_of(const Rule& rule) {
  std::set<std::string> names;
  for (const Pattern* p : {&rule.lhs, &rule.rhs})
    for (const PatternNode& n : p->nodes) names.emplace(n.op->name);
  return {names.begin(), names.end()};
}

std::string verdict_badge(const Verdict& verdict) {
  if (verdict.kind == VerdictKind::ProvedAllSizes)
    return badge("proved for all sizes, checked by the kernel", "good");
  if (verdict.kind == VerdictKind::ProvedSolver) return badge("proved for all sizes", "good");
  if (verdict.kind == VerdictKind::ProvedBounded) return badge("proved at some sizes", "fair");
  return badge(to_string(verdict.kind), "bad");
}

std::string numerics_badge(Numerics numerics) {
  static const char* const kKinds[] = {"plain", "bad", "fair", "good", "good"};
  return badge("numerics: " + to_string(numerics), kKinds[static_cast<size_t>(numerics)]);
}

}  // namespace regraft::cli
