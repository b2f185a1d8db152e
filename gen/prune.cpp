#include "gen/prune.h"

#include <algorithm>
#include <functional>

namespace regraft::gen {
namespace {

/// What a rule's variables stand for.
struct Binding {
  std::map<TermId, TermId> leaves;
  AttrBinding attrs;
};

/// Matches patterns against terms; commutative operators in both orders.
class TermMatcher {
 public:
  TermMatcher(Bank& bank, const Plan& plan) : bank_(bank), plan_(plan) {}
  using Next = std::function<bool()>;

  /// Calls `next` for each way to match until it returns true.
  bool match(TermId pattern, TermId subject, const Next& next) {
    const TermNode p = bank_.node(pattern), s = bank_.node(subject);
    if (p.is_leaf()) return bind_leaf(pattern, subject, next);
    if (s.is_leaf() || p.output != s.output || p.operands.size() != s.operands.size()) return false;
    Binding saved = binding;
    if (!bind_label(p.call, bank_.label(p.label), bank_.label(s.label))) {
      binding = std::move(saved);
      return false;
    }
    if (operands(p.operands, s.operands, 0, next)) return true;
    if (bank_.label(p.label).op->commutative &&
        operands(p.operands, {s.operands[1], s.operands[0]}, 0, next))
      return true;
    binding = std::move(saved);
    return false;
  }
  Binding binding;

 private:
  bool bind_leaf(TermId pattern, TermId subject, const Next& next) {
    auto it = binding.leaves.find(pattern);
    if (it != binding.leaves.end()) return it->second == subject && next();
    const auto* value = bank_.value(subject);
    if (!value || value->shape.size() != bank_.node(pattern).shape.size()) return false;
    binding.leaves[pattern] = subject;
    if (next()) return true;
    binding.leaves.erase(pattern);
    return false;
  }
  bool bind_label(int call, const Label& p, const Label& s) {
    if (p.op != s.op) return false;
    for (size_t k = 0; k < p.attrs.ints.size(); ++k) {
      const auto& given = s.attrs.ints[k];
      auto it = plan_.find({Part::Left, call, k});
      if (p.attrs.ints[k].size() != given.size()) return false;
      if (it == plan_.end()) {
        if (p.attrs.ints[k] != given) return false;
        continue;
      }
      auto bound = bind(it->second, given, std::move(binding.attrs));
      if (!bound) return false;
      binding.attrs = *std::move(bound);
    }
    for (size_t k = 0; k < p.attrs.reals.size(); ++k)
      if (!same_real(p.attrs.reals[k], s.attrs.reals[k])) return false;
    return true;
  }
  bool operands(const std::vector<TermId>& p, const std::vector<TermId>& s, size_t k,
                const Next& next) {
    if (k == p.size()) return next();
    return match(p[k], s[k], [&] { return operands(p, s, k + 1, next); });
  }
  Bank& bank_;
  const Plan& plan_;
};

/// The right side under a binding; -1 when an attribute is not determined.
class Builder {
 public:
  Builder(Bank& bank, const GeneralPair& rule, const Binding& binding)
      : bank_(bank), rule_(rule), binding_(binding), leaves_(rule_leaves(bank, rule.lhs)) {}
  TermId build(TermId t) {
    const TermNode n = bank_.node(t);
    if (n.is_leaf()) {
      auto it = binding_.leaves.find(t);
      return it == binding_.leaves.end() ? -1 : it->second;
    }
    std::vector<TermId> operands;
    for (TermId o : n.operands) {
      operands.push_back(build(o));
      if (operands.back() < 0) return -1;
    }
    Label label = bank_.label(n.label);
    for (size_t k = 0; k < label.attrs.ints.size(); ++k)
      if (!fill(n.call, label, k)) return -1;
    return bank_.call(bank_.add_label(label), std::move(operands), n.output);
  }

 private:
  bool fill(int call, Label& label, size_t k) {
    auto it = rule_.plan.find({Part::Right, call, k});
    if (it == rule_.plan.end()) return true;
    auto numbers = numbers_of(it->second, binding_.attrs, [&](size_t variable, int axis) {
      const auto& shape = bank_.value(binding_.leaves.at(leaves_[variable]))->shape;
      return shape[static_cast<size_t>(axis < 0 ? axis + static_cast<int>(shape.size()) : axis)];
    });
    if (!numbers) return false;
    label.attrs.ints[k] = *std::move(numbers);
    return true;
  }
  Bank& bank_;
  const GeneralPair& rule_;
  const Binding& binding_;
  std::vector<TermId> leaves_;
};

bool meet(const std::set<TermId>& a, const std::set<TermId>& b) {
  return std::any_of(a.begin(), a.end(), [&](TermId t) { return b.count(t) > 0; });
}

std::pair<std::string_view, int> root_of(const Bank& bank, TermId t) {
  const TermNode& n = bank.node(t);
  return {bank.label(n.label).op->name, n.output};
}

}  // namespace

void KeptRules::add(const GeneralPair& pair) {
  if (bank_.node(pair.lhs).is_leaf()) return;
  by_root_[root_of(bank_, pair.lhs)].push_back(rules_.size());
  rules_.push_back(pair);
}

std::vector<TermId> KeptRules::at_top(TermId t) {
  std::vector<TermId> r;
  if (bank_.node(t).is_leaf()) return r;
  auto it = by_root_.find(root_of(bank_, t));
  if (it == by_root_.end()) return r;
  for (size_t index : it->second) {
    const GeneralPair& rule = rules_[index];
    TermMatcher m(bank_, rule.plan);
    m.match(rule.lhs, t, [&] {
      TermId u = Builder(bank_, rule, m.binding).build(rule.rhs);
      if (u >= 0 && u != t && bank_.same_value(t, u)) r.push_back(u);
      return false;
    });
  }
  return r;
}

std::vector<TermId> KeptRules::anywhere(TermId t) {
  if (memo_rules_ != rules_.size()) memo_.clear();
  memo_rules_ = rules_.size();
  if (auto it = memo_.find(t); it != memo_.end()) return it->second;
  std::vector<TermId> r;
  for (TermId part : bank_.subterms(t))
    for (TermId u : at_top(part)) r.push_back(bank_.replace(t, {{part, u}}));
  std::sort(r.begin(), r.end());
  r.erase(std::unique(r.begin(), r.end()), r.end());
  return memo_[t] = r;
}

std::set<TermId> KeptRules::near(TermId t) {
  std::vector<TermId> steps = anywhere(t);
  std::set<TermId> r(steps.begin(), steps.end());
  r.insert(t);
  return r;
}

std::set<TermId> KeptRules::beyond(Pair p, const std::set<TermId>& terms) {
  constexpr size_t kMaxTerms = 60;
  size_t limit = std::max(bank_.size(p.lhs), bank_.size(p.rhs)) + 1;
  std::set<TermId> r = terms;
  size_t expanded = 0;
  for (TermId t : terms)
    if (bank_.size(t) <= limit && ++expanded <= kMaxTerms) r.merge(near(t));
  return r;
}

Redundancy KeptRules::judge(Pair p) {
  for (auto [from, to] : {std::pair{p.lhs, p.rhs}, std::pair{p.rhs, p.lhs}})
    for (TermId t : at_top(from))
      if (t == to) return Redundancy::Instance;
  std::set<TermId> left = near(p.lhs), right = near(p.rhs);
  if (meet(left, right)) return Redundancy::Derivable;
  return meet(beyond(p, left), right) || meet(left, beyond(p, right)) ? Redundancy::Derivable
                                                                      : Redundancy::None;
}

}  // namespace regraft::gen
