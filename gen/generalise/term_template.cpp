#include "gen/generalise/term_template.h"

#include <algorithm>

#include "ir/rule/pattern.h"

namespace regraft::gen {
namespace {

std::string variable_name(size_t index) { return "x" + std::to_string(index + 1); }

/// Builds the two sides of a rule over one pool.
class RuleBuilder {
 public:
  RuleBuilder(const Bank& bank, const TemplatePair& pair) : bank_(bank), pair_(pair) {
    leaves_ = rule_leaves(bank, pair.lhs);
    for (size_t k = 0; k < leaves_.size(); ++k) rule_.variables.push_back(variable_name(k));
  }
  Rule build() {
    rule_.pool = pair_.pool;
    rule_.where = pair_.where;
    rule_.lhs = side(pair_.lhs, Part::Left);
    rule_.rhs = side(pair_.rhs, Part::Right);
    return std::move(rule_);
  }

 private:
  Pattern side(TermId t, Part part) {
    Pattern p;
    std::map<int, int> nodes;
    PatternRef root = add(t, part, p, nodes);
    p.outputs = {root};
    return p;
  }
  PatternRef add(TermId t, Part part, Pattern& p, std::map<int, int>& nodes) {
    const TermNode& n = bank_.node(t);
    if (n.is_leaf()) return variable_ref(index_of(t));
    if (auto it = nodes.find(n.call); it != nodes.end()) return {it->second, n.output};
    PatternNode node;
    for (TermId o : n.operands) node.inputs.push_back(add(o, part, p, nodes));
    fill(node, bank_.label(n.label), part, n.call);
    // Calls whose numbers differed in the witness may have become one.
    for (size_t k = 0; k < p.nodes.size(); ++k)
      if (same(p.nodes[k], node)) {
        nodes[n.call] = static_cast<int>(k);
        return {static_cast<int>(k), n.output};
      }
    nodes[n.call] = static_cast<int>(p.nodes.size());
    p.nodes.push_back(std::move(node));
    return {nodes[n.call], n.output};
  }
  void fill(PatternNode& node, const Label& label, Part part, int call) {
    node.op = label.op;
    node.attrs.reals = label.attrs.reals;
    node.list_vars.resize(label.attrs.ints.size());
    node.real_vars = label.fractions;
    node.real_vars.resize(label.attrs.reals.size());
    for (size_t k = 0; k < label.attrs.ints.size(); ++k) {
      const IntAttr& attr = label.op->ints[k];
      const auto& given = label.attrs.ints[k];
      std::vector<Poly> numbers(given.begin(), given.end());
      if (auto it = pair_.plan.find({part, call, k}); it != pair_.plan.end()) {
        node.list_vars[k] = it->second.list;
        numbers = it->second.numbers;
      }
      // At the fallback an attribute fits every rank.
      bool left_out = attr.fallback && std::all_of(numbers.begin(), numbers.end(), [&](auto& p) {
                        return p.is_constant() && p.constant() == *attr.fallback;
                      });
      if (left_out && !attr.structural && attr.length != Length::Any) numbers.clear();
      node.attrs.ints.push_back(std::move(numbers));
    }
  }
  int index_of(TermId leaf) const {
    auto it = std::find(leaves_.begin(), leaves_.end(), leaf);
    CHECK(it != leaves_.end());
    return static_cast<int>(it - leaves_.begin());
  }
  const Bank& bank_;
  const TemplatePair& pair_;
  std::vector<TermId> leaves_;
  Rule rule_;
};

}  // namespace

Var extent_of(SymbolPool& pool, size_t leaf, size_t rank, size_t axis) {
  auto shown = static_cast<int>(axis) - (rank <= 2 ? static_cast<int>(rank) : 0);
  return pool.named(variable_name(leaf) + "." + std::to_string(shown));
}

std::vector<TermId> rule_leaves(const Bank& bank, TermId lhs) {
  std::vector<TermId> order;
  auto visit = [&](auto& self, TermId t) -> void {
    const TermNode& n = bank.node(t);
    if (n.is_leaf() && std::find(order.begin(), order.end(), t) == order.end()) order.push_back(t);
    for (TermId o : n.operands) self(self, o);
  };
  visit(visit, lhs);
  return order;
}

std::optional<AttrBinding> bind(const Form& form, const std::vector<int64_t>& numbers,
                                AttrBinding known) {
  if (!form.list.empty()) {
    auto it = known.lists.try_emplace(form.list, numbers).first;
    return it->second == numbers ? std::optional(std::move(known)) : std::nullopt;
  }
  if (form.numbers.size() != numbers.size()) return std::nullopt;
  for (size_t k = 0; k < numbers.size(); ++k) {
    const Poly& p = form.numbers[k];
    if (p.is_constant() && p.constant() != numbers[k]) return std::nullopt;
    Var v = symbol_of(p);
    if (v && number_name(*v) &&
        known.numbers.try_emplace(v, numbers[k]).first->second != numbers[k])
      return std::nullopt;
  }
  return known;
}

std::optional<std::vector<int64_t>> numbers_of(
    const Form& form, const AttrBinding& known,
    const std::function<int64_t(size_t variable, int axis)>& extent) {
  if (!form.list.empty()) {
    auto it = known.lists.find(form.list);
    return it == known.lists.end() ? std::nullopt : std::optional(it->second);
  }
  Valuation values = known.numbers;
  bool bound = true;
  for (const Poly& p : form.numbers)
    for_each_symbol(p, [&](Var v) {
      if (auto size = size_name(*v))
        values[v] = extent(std::stoul(size->variable.substr(1)) - 1, size->axis);
      else
        bound = bound && values.count(v) > 0;
    });
  if (!bound) return std::nullopt;
  std::vector<int64_t> r;
  for (const Poly& p : form.numbers) r.push_back(evaluate(p, values));
  return r;
}

Rule to_rule(const Bank& bank, const TemplatePair& pair) { return RuleBuilder(bank, pair).build(); }

Signature leaf_signature(const Bank& bank, TermId lhs) {
  Signature r;
  for (TermId leaf : rule_leaves(bank, lhs)) {
    std::string& word = r.emplace_back();
    for (int64_t extent : bank.node(leaf).shape) word += extent == 1 ? '1' : 'n';
    if (word.empty()) word = "-";
  }
  return r;
}

}  // namespace regraft::gen
