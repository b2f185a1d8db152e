#include "gen/general.h"

#include <algorithm>

namespace regraft::gen {
namespace {

std::string variable_name(size_t index) { return "x" + std::to_string(index + 1); }

/// Builds the two sides of a rule over one pool.
class RuleBuilder {
 public:
  RuleBuilder(const Bank& bank, const GeneralPair& pair) : bank_(bank), pair_(pair) {
    leaves_ = rule_leaves(bank, pair);
    for (size_t k = 0; k < leaves_.size(); ++k) rule_.variables.push_back(variable_name(k));
  }
  Rule build() {
    rule_.lhs = side(pair_.lhs);
    rule_.rhs = side(pair_.rhs);
    return std::move(rule_);
  }

 private:
  Pattern side(TermId t) {
    Pattern p;
    std::map<int, int> nodes;
    PatternRef root = add(t, p, nodes);
    p.outputs = {root};
    return p;
  }
  PatternRef add(TermId t, Pattern& p, std::map<int, int>& nodes) {
    const TermNode& n = bank_.node(t);
    if (n.is_leaf()) return variable_ref(index_of(t));
    if (auto it = nodes.find(n.call); it != nodes.end()) return {it->second, n.output};
    PatternNode node;
    for (TermId o : n.operands) node.inputs.push_back(add(o, p, nodes));
    fill(node, bank_.label(n.label));
    nodes[n.call] = static_cast<int>(p.nodes.size());
    p.nodes.push_back(std::move(node));
    return {nodes[n.call], n.output};
  }
  void fill(PatternNode& node, const Label& label) {
    node.op = label.op;
    node.attrs.reals = label.attrs.reals;
    node.list_vars.resize(label.attrs.ints.size());
    node.real_vars.resize(label.attrs.reals.size());
    for (size_t k = 0; k < label.attrs.ints.size(); ++k) {
      const auto& given = label.attrs.ints[k];
      node.attrs.ints.emplace_back(given.begin(), given.end());
      auto it = pair_.plan.find(attr_key(label, k));
      if (it == pair_.plan.end() || label.op->ints[k].structural) continue;
      node.attrs.ints.back().clear();
      node.list_vars[k] = it->second.list;
      if (!it->second.list.empty()) continue;
      for (const Number& x : it->second.numbers) node.attrs.ints.back().push_back(poly(x));
    }
  }
  Poly poly(const Number& x) {
    if (x.kind == Number::Given) return Poly(x.value);
    if (x.kind == Number::Free) return Poly::symbol(rule_.pool->named("?" + x.name, 0));
    auto rank = static_cast<int>(bank_.node(x.leaf).shape.size());
    int axis = rank <= 2 ? x.axis - rank : x.axis;  // batches of matrices match too
    std::string name = variable_name(static_cast<size_t>(index_of(x.leaf)));
    return Poly::symbol(rule_.pool->named(name + "." + std::to_string(axis)));
  }
  int index_of(TermId leaf) const {
    auto it = std::find(leaves_.begin(), leaves_.end(), leaf);
    CHECK(it != leaves_.end());
    return static_cast<int>(it - leaves_.begin());
  }
  const Bank& bank_;
  const GeneralPair& pair_;
  std::vector<TermId> leaves_;
  Rule rule_;
};

}  // namespace

AttrKey attr_key(const Label& label, size_t attr) {
  return {label.op->ints[attr].name, label.attrs.ints[attr]};
}

std::vector<TermId> rule_leaves(const Bank& bank, const GeneralPair& pair) {
  std::vector<TermId> order;
  auto visit = [&](auto& self, TermId t) -> void {
    const TermNode& n = bank.node(t);
    if (n.is_leaf() && std::find(order.begin(), order.end(), t) == order.end()) order.push_back(t);
    for (TermId o : n.operands) self(self, o);
  };
  visit(visit, pair.lhs);
  return order;
}

Rule to_rule(const Bank& bank, const GeneralPair& pair) { return RuleBuilder(bank, pair).build(); }

}  // namespace regraft::gen
