#include "cli/pages/graph_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/printable.h"
#include "cli/pages/page.h"
#include "cli/pages/text.h"
#include "ir/algebra/scan.h"

namespace regraft::cli {
namespace {

constexpr size_t kLongestName = 27;  // letters; a drawing cuts longer ones at their end

/// Its end: "…mlp/act/Mul_1_output_0".
std::string tail(const std::string& name) {
  std::string all = printable(name);
  if (letters(all) <= kLongestName) return all;
  size_t keep = all.size() - (kLongestName - 1);
  while (keep < all.size() && (static_cast<unsigned char>(all[keep]) & 0xC0) == 0x80) ++keep;
  return "…" + all.substr(keep);
}

bool at_fallback(const IntAttr& attr, const std::vector<Poly>& list) {
  return attr.fallback && std::ranges::all_of(list, [&](const Poly& p) {
           return p.is_constant() && p.constant() == *attr.fallback;
         });
}

/// All of them, also those at their fallback: two nodes may differ in these alone. Short ones share
/// a line.
std::vector<std::string> attribute_lines(const Node& n) {
  std::vector<std::string> lines;
  auto add = [&](std::string_view name, const std::string& value) {
    std::string text = fmt::format("{}={}", name, value);
    if (!lines.empty() && lines.back().size() + 1 + text.size() <= kLongestName)
      lines.back() += " " + text;
    else
      lines.push_back(text);
  };
  for (size_t k = 0; k < n.attrs.ints.size(); ++k)
    if (!n.attrs.ints[k].empty()) add(n.op->ints[k].name, text::print(n.attrs.ints[k]));
  for (size_t k = 0; k < n.attrs.reals.size(); ++k)
    add(n.op->reals[k].name, fmt::format("{:.6g}", n.attrs.reals[k].value));
  return lines;
}

/// Of a constant of one element.
std::string number_in(const Node& n) {
  if (!n.constant || n.constant->count() != 1) return {};
  if (!is_real(n.constant->dtype()) && !is_integer(n.constant->dtype())) return {};
  auto data = n.constant->reals();
  return data ? fmt::format("{:.6g}", data->front()) : std::string();
}

class PartDrawer {
 public:
  PartDrawer(const Graph& g, const GraphNames& names, Drawing& d) : g_(g), names_(names), d_(d) {}

  void run(const std::vector<int32_t>& nodes) {
    inside_.insert(nodes.begin(), nodes.end());
    for (int32_t id : nodes) add_node(id);
    for (int32_t id : nodes) add_edges(id);
    for (int32_t id : nodes) add_results(id);
  }

 private:
  std::string operator_of(int32_t id) const {
    const Node& n = g_.node(id);
    return n.op ? std::string(n.op->name) : names_.opaque(id);
  }
  std::string type_of(Value v) const {
    const Node& n = g_.node(v.node);
    bool known = static_cast<size_t>(v.output) < n.types.size();
    return known ? to_string(g_.type(v)) : std::string();
  }
  void add_node(int32_t id) {
    const Node& n = g_.node(id);
    DrawnNode box{DrawnNode::Operator, operator_of(id), {tail(names_.value({id, 0}))}, false};
    if (!n.types.empty()) box.details.push_back(type_of({id, 0}));
    if (n.op)
      for (std::string& line : attribute_lines(n)) box.details.push_back(std::move(line));
    place_[id] = d_.nodes.size();
    d_.nodes.push_back(std::move(box));
    d_.description += fmt::format("{}{} {} of ", d_.description.empty() ? "" : "; ",
                                  names_.value({id, 0}), operator_of(id));
    std::string operands;
    for (Value v : n.inputs)
      if (g_.node(v.node).kind != NodeKind::Absent)
        operands += (operands.empty() ? "" : ", ") + names_.value(v);
    d_.description += operands.empty() ? "nothing" : operands;
  }
  size_t outside(Value v) {
    auto [it, fresh] = read_.emplace(v, d_.nodes.size());
    if (!fresh) return it->second;
    const Node& n = g_.node(v.node);
    bool constant = n.kind == NodeKind::Constant;
    std::string number = number_in(n);
    DrawnNode box{constant ? DrawnNode::Constant : DrawnNode::Variable,
                  number.empty() ? tail(names_.value(v)) : number,
                  {},
                  false};
    if (number.empty()) box.details.push_back(type_of(v));
    if (!constant && names_.shared && names_.shared(v)) box.details.emplace_back("in both models");
    d_.nodes.push_back(std::move(box));
    return it->second;
  }
  void add_edges(int32_t id) {
    for (Value v : g_.node(id).inputs) {
      if (g_.node(v.node).kind == NodeKind::Absent) continue;
      used_.insert(v);
      std::string label = v.output > 0 ? fmt::format("#{}", v.output) : std::string();
      size_t from = inside_.count(v.node) > 0 ? place_.at(v.node) : outside(v);
      d_.edges.push_back({from, place_.at(id), label, false});
    }
  }
  /// What nothing in the part reads.
  void add_results(int32_t id) {
    auto outputs = static_cast<int32_t>(g_.node(id).types.size());
    for (Value v{id, 0}; v.output < outputs; ++v.output) {
      bool shown = v.output == 0 || outputs == 1;
      if (used_.count(v) > 0 || !shown) continue;
      d_.edges.push_back({place_.at(id), d_.nodes.size(), "", false});
      d_.nodes.push_back({DrawnNode::Output, tail(names_.value(v)), {}, false});
    }
  }

  const Graph& g_;
  const GraphNames& names_;
  Drawing& d_;
  std::set<int32_t> inside_;
  std::map<int32_t, size_t> place_;  // of nodes of the part, in the drawing
  std::map<Value, size_t> read_;     // of what they read
  std::set<Value> used_;
};

Pattern pattern_of(const Graph& g) {
  Pattern p;
  std::map<int32_t, int32_t> place;  // by node: ~variable, or the pattern's node
  for (size_t k = 0; k < g.inputs().size(); ++k)
    place[g.inputs()[k].node] = ~static_cast<int32_t>(k);
  auto ref = [&](Value v) { return PatternRef{place.at(v.node), v.output}; };
  for (int32_t id : full_order(g)) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call) continue;
    PatternNode& node = p.nodes.emplace_back();
    node.op = n.op;
    node.attrs = n.attrs;
    bool number = n.inputs.empty() && n.op->reals.size() == 1;
    for (size_t k = 0; k < node.attrs.ints.size(); ++k)
      if (number || at_fallback(n.op->ints[k], node.attrs.ints[k])) node.attrs.ints[k].clear();
    for (Value v : n.inputs) node.inputs.push_back(ref(v));
    place[id] = static_cast<int32_t>(p.nodes.size()) - 1;
  }
  for (Value v : g.outputs()) p.outputs.push_back(ref(v));
  return p;
}

std::string name_of_input(const Graph& g, size_t k) {
  const Node& n = g.node(g.inputs()[k].node);
  return n.names.empty() ? fmt::format("x{}", k) : n.names[0];
}

}  // namespace

Drawing draw_part(const Graph& g, const std::vector<int32_t>& nodes, const GraphNames& names,
                  const std::string& title) {
  Drawing d{title, {}, {}, {}};
  size_t left_out = nodes.size() - std::min(nodes.size(), kMostDrawn);
  PartDrawer(g, names, d).run({nodes.begin() + static_cast<std::ptrdiff_t>(left_out), nodes.end()});
  return d;
}

std::string part_figure(const Graph& g, const std::vector<int32_t>& nodes, const GraphNames& names,
                        const std::string& caption, const std::string& id) {
  if (nodes.empty())
    return figure("<p class=\"soft\">No node: the value is an input or a constant.</p>", caption);
  std::string shown =
      fmt::format("{}: {} node{}", caption, nodes.size(), nodes.size() == 1 ? "" : "s");
  if (nodes.size() > kMostDrawn) shown += fmt::format(", the last {} drawn", kMostDrawn);
  std::string list;
  for (size_t k = nodes.size() - std::min(nodes.size(), kMostDrawn); k < nodes.size(); ++k)
    list += "<li>" + escape_html(names.value({nodes[k], 0})) + "</li>";
  return figure(
      to_svg(draw_part(g, nodes, names, shown), id), shown,
      "<details><summary>Names in full</summary><ol class=\"f\">" + list + "</ol></details>");
}

Rule shown_rule(const RuleInstance& instance) {
  Rule rule;
  rule.pool = instance.lhs.shared_pool();
  for (size_t k = 0; k < instance.lhs.inputs().size(); ++k)
    rule.variables.push_back(name_of_input(instance.lhs, k));
  rule.lhs = pattern_of(instance.lhs);
  rule.rhs = pattern_of(instance.rhs);
  return rule;
}

std::vector<std::string> inputs_of(const RuleInstance& instance) {
  std::vector<std::string> all;
  for (size_t k = 0; k < instance.lhs.inputs().size(); ++k)
    all.push_back(name_of_input(instance.lhs, k) + " " +
                  to_string(instance.lhs.type(instance.lhs.inputs()[k])));
  return all;
}

}  // namespace regraft::cli
