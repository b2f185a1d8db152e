#include "rewrite/egraph/ematch.h"

#include <algorithm>

namespace regraft::rewrite {

void EMatcher::match(const CompiledRule& rule, int32_t number, const Visit& visit) {
  lhs_ = &rule.rule.lhs;
  number_ = number;
  visit_ = &visit;
  nodes_.assign(lhs_->nodes.size(), -1);
  variables_.assign(rule.rule.variables.size(), Value{});
  goals_.clear();
  next_output();
}

/// Reaches goal k and those after it. False: no more places are wanted.
bool EMatcher::next(size_t k) {
  if (k == goals_.size()) return next_output();
  auto [ref, name] = goals_[k];
  if (is_variable(ref)) {
    Value& bound = variables_[static_cast<size_t>(variable_of(ref))];
    if (bound.node >= 0) return bound != name || next(k + 1);
    bound = name;
    bool more = next(k + 1);
    bound = Value{};
    return more;
  }
  int32_t placed = nodes_[static_cast<size_t>(ref.node)];
  if (placed >= 0) return g_.name({placed, ref.output}) != name || next(k + 1);
  for (Value v : g_.members(name))
    if (v.output == ref.output && !enter(static_cast<size_t>(ref.node), v.node, k)) return false;
  return true;
}

bool EMatcher::fits(const PatternNode& pattern, int32_t id) const {
  const LiveGraph::Slot& s = g_.nodes().slot(id);
  if (std::find(nodes_.begin(), nodes_.end(), id) != nodes_.end()) return false;
  if (pattern.inputs.empty() && s.kind == NodeKind::Constant) return true;
  return s.kind == NodeKind::Call && s.op == pattern.op && s.inputs.size() == pattern.inputs.size();
}

bool EMatcher::enter(size_t pattern_node, int32_t id, size_t k) {
  if (tired()) return false;
  ++tried_;
  const PatternNode& pattern = lhs_->nodes[pattern_node];
  if (!fits(pattern, id)) return true;
  const LiveGraph::Slot& s = g_.nodes().slot(id);
  nodes_[pattern_node] = id;
  bool more = operands(pattern, s.inputs, k);
  if (more && pattern.op->commutative && s.inputs.size() >= 2 && s.inputs[0] != s.inputs[1]) {
    std::vector<Value> swapped = s.inputs;
    std::swap(swapped[0], swapped[1]);
    more = operands(pattern, swapped, k);
  }
  nodes_[pattern_node] = -1;
  return more;
}

bool EMatcher::operands(const PatternNode& pattern, std::span<const Value> names, size_t k) {
  size_t before = goals_.size();
  for (size_t j = 0; j < pattern.inputs.size(); ++j)
    goals_.push_back({pattern.inputs[j], names[j]});
  bool more = next(k + 1);
  goals_.resize(before);
  return more;
}

/// Goals of outputs count from the end: there is no goal that they are part of.
bool EMatcher::next_output() {
  for (PatternRef out : lhs_->outputs) {
    auto index = static_cast<size_t>(out.node);
    if (nodes_[index] >= 0) continue;
    for (int32_t id : candidates(lhs_->nodes[index]))
      if (!enter(index, id, goals_.size() - 1)) return false;
    return true;
  }
  return found();
}

/// Calls of the operator; those that read what is placed already where the pattern does.
std::vector<int32_t> EMatcher::candidates(const PatternNode& pattern) const {
  const LiveGraph& nodes = g_.nodes();
  std::vector<int32_t> ids;
  auto add = [&](int32_t id) {
    if (nodes.slot(id).op == pattern.op && g_.counts(id)) ids.push_back(id);
  };
  for (PatternRef r : pattern.inputs) {
    Value anchor;
    if (is_variable(r))
      anchor = variables_[static_cast<size_t>(variable_of(r))];
    else if (int32_t placed = nodes_[static_cast<size_t>(r.node)]; placed >= 0)
      anchor = g_.name({placed, r.output});
    if (anchor.node < 0) continue;
    nodes.for_uses(anchor.node, [&](int32_t user, int32_t) { add(user); });
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }
  nodes.for_calls(*pattern.op, add);
  std::sort(ids.begin(), ids.end());
  return ids;
}

bool EMatcher::found() {
  if (std::any_of(variables_.begin(), variables_.end(), [](Value v) { return v.node < 0; }))
    return true;  // a variable that no call reads
  return (*visit_)({number_, nodes_, variables_});
}

}  // namespace regraft::rewrite
