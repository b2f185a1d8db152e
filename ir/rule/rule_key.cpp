// The key under which rules that differ in names and in the order of operands are one.
#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "ir/algebra/real_expression.h"
#include "ir/rule/pattern.h"

namespace regraft {
namespace {

constexpr size_t kMaxOrders = 4096, kMaxPermuted = 5;  // beyond: as they stand

/// The operands of nodes, in an order of choice.
using Orders = std::map<size_t, std::vector<PatternRef>>;

/// Canonical names in the order in which a walk over the left side meets the variables.
class Namer {
 public:
  Namer(const Rule& rule, const Orders& orders) : rule_(rule), orders_(orders) {}

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
  const std::vector<PatternRef>& operands(size_t k) const {
    auto it = orders_.find(k);
    return it == orders_.end() ? rule_.lhs.nodes[k].inputs : it->second;
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
      std::vector<std::string> axes;
      if (const AxisTerm* term = axis_term(n, k)) add_names(*term, axes);
      for (const std::string& name : axes) add(name, 'e');
      for (const Poly& p : n.attrs.ints[k])
        for_each_symbol(p, [&](Var v) { add(number_name(*v).value_or(""), 'e'); });
    }
    for (size_t k = 0; k < n.attrs.reals.size(); ++k)
      if (const std::string& name = real_variable(n, k); !is_expression(name)) add(name, 'e');
  }

  const Rule& rule_;
  const Orders& orders_;
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

using Order = std::vector<PatternRef>;

/// Each of the orders followed by each permutation of the group.
std::vector<Order> followed_by(const std::vector<Order>& orders, Order group) {
  std::vector<Order> result;
  std::sort(group.begin(), group.end());
  do {
    for (const Order& before : orders) {
      result.push_back(before);
      result.back().insert(result.back().end(), group.begin(), group.end());
      if (result.size() > kMaxOrders) return result;
    }
  } while (std::next_permutation(group.begin(), group.end()));
  return result;
}

/// The orders of a node's operands that its key may be the least of: sorted by what they look like
/// without names, those that look alike in every order.
std::vector<Order> orders_of(const Rule& rule, size_t node) {
  Order operands = chain_of(rule.lhs, node);
  size_t moving = movable(*rule.lhs.nodes[node].op, operands.size());
  PatternStyle blind;
  blind.operands = PatternStyle::Blind;
  std::map<std::string, Order> alike;
  for (size_t k = 0; k < moving; ++k)
    alike[pattern_text(rule, rule.lhs, operands[k], blind)].push_back(operands[k]);
  std::vector<Order> orders = {{}};
  for (const auto& [look, group] : alike) orders = followed_by(orders, group);
  for (Order& order : orders)
    order.insert(order.end(), operands.begin() + static_cast<ptrdiff_t>(moving), operands.end());
  return orders;
}

/// The nodes of a side that are no inner part of a chain.
std::set<size_t> heads_of(const Pattern& side) {
  std::set<size_t> heads;
  auto visit = [&](auto& self, PatternRef r) -> void {
    if (is_variable(r) || !heads.insert(static_cast<size_t>(r.node)).second) return;
    for (PatternRef x : chain_of(side, static_cast<size_t>(r.node))) self(self, x);
  };
  for (PatternRef r : side.outputs) visit(visit, r);
  return heads;
}

/// All choices of an order for each node of the left side.
std::vector<Orders> all_orders(const Rule& rule) {
  std::vector<Orders> all = {{}};
  for (size_t k : heads_of(rule.lhs)) {
    if (!rule.lhs.nodes[k].op->commutative) continue;
    auto orders = orders_of(rule, k);
    if (all.size() * orders.size() > kMaxOrders) orders.resize(1);
    std::vector<Orders> next;
    for (const Orders& before : all)
      for (const auto& order : orders) {
        next.push_back(before);
        next.back()[k] = order;
      }
    all = std::move(next);
  }
  return all;
}

/// A key, and the names in it of the rule's variables.
struct Key {
  std::string left, right;
  std::map<std::string, std::string> names;
};

/// The least left side decides the names; with the names fixed, sorting decides the right side.
Key directed_key(const Rule& rule) {
  std::vector<size_t> order(rule.lhs.outputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<Orders> choices = all_orders(rule);
  Key best;
  do {
    for (const Orders& choice : choices) {
      PatternStyle style;
      style.chains = choice;
      style.names = Namer(rule, choice).run(order);
      std::string left = side_text(rule, rule.lhs, order, style);
      if (!best.left.empty() && left > best.left) continue;
      style.operands = PatternStyle::Chained;
      std::string right =
          side_text(rule, rule.rhs, order, style) + " where " + where_text(rule, style);
      if (best.left.empty() || std::tie(left, right) < std::tie(best.left, best.right))
        best = {std::move(left), std::move(right), std::move(style.names)};
    }
  } while (order.size() <= kMaxPermuted && std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace

std::string canonical_key(const Rule& original) {
  Rule rule = without_fallbacks(original);
  auto text = [&] {
    Key key = directed_key(rule);
    return key.left + " => " + key.right;
  };
  std::string key = text();
  if (!rule.both) return key;
  std::swap(rule.lhs, rule.rhs);
  return "both " + std::min(key, text());
}

std::vector<std::string> canonical_variables(const Rule& rule) {
  Key key = directed_key(without_fallbacks(rule));
  std::vector<std::string> r = rule.variables;
  std::sort(r.begin(), r.end(), [&](const std::string& a, const std::string& b) {
    return key.names.at(a) < key.names.at(b);
  });
  return r;
}

bool is_trivial(const Rule& rule) {
  PatternStyle style;
  style.operands = PatternStyle::Commuted;
  std::vector<size_t> order(rule.lhs.outputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Rule plain = without_fallbacks(rule);
  return side_text(plain, plain.lhs, order, style) == side_text(plain, plain.rhs, order, style);
}

}  // namespace regraft
