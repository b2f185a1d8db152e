#include "gen/derive/term_sizes.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace regraft::gen {

TermSizes::TermSizes(const SizedEGraph& graph, const std::vector<EValue>& roots)
    : graph_(graph), facts_(graph.node_count()) {
  for (size_t n = 0; n < graph.node_count(); ++n) {
    auto v = static_cast<EValue>(n);
    if (graph.classes().find(v) == v) classes_.push_back(v);
  }
  find_sizes();
  find_surroundings(roots);
  sort_calls();
}

int32_t TermSizes::call_size(EValue v) const {
  if (!graph_.classes().symbol(v).op) return 0;
  int32_t sum = 1;
  for (EValue x : graph_.classes().operands(v)) sum = std::min(sum + size(x), kMax);
  return sum;
}

/// Operands are mostly older than their users, so few passes suffice.
void TermSizes::find_sizes() {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t n = 0; n < graph_.node_count(); ++n) {
      auto v = static_cast<EValue>(n);
      if (graph_.classes().is_duplicate(v)) continue;
      int32_t own = call_size(v), &least = facts_[index(v)].size;
      changed = changed || own < least;
      least = std::min(least, own);
    }
  }
}

/// From the roots down, the nearest first.
void TermSizes::find_surroundings(const std::vector<EValue>& roots) {
  std::set<std::pair<int32_t, EValue>> open;
  auto reach = [&](EValue v, int32_t around) {
    v = graph_.classes().find(v);
    int32_t& known = facts_[index(v)].around;
    if (around >= known) return;
    open.erase({known, v});
    known = around;
    open.emplace(around, v);
  };
  for (EValue v : roots) reach(v, 0);
  while (!open.empty()) {
    auto [around, c] = *open.begin();
    open.erase(open.begin());
    for (EValue v : graph_.classes().members(c)) {
      if (!graph_.classes().symbol(v).op) continue;
      int32_t whole = around + call_size(v);
      for (EValue x : graph_.classes().operands(v)) reach(x, whole - size(x));
    }
  }
}

void TermSizes::sort_calls() {
  std::vector<std::pair<const OpDef*, Call>> own;
  for (EValue c : classes_) {
    own.clear();
    for (EValue v : graph_.classes().members(c))
      if (const OpDef* op = graph_.classes().symbol(v).op)
        own.push_back({op, {call_size(v), 0, v}});
    std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.first->name, a.second.size, a.second.value) <
             std::tuple(b.first->name, b.second.size, b.second.value);
    });
    Facts& facts = facts_[static_cast<size_t>(c)];
    facts.first_operator = static_cast<uint32_t>(operators_.size());
    for (auto& [op, call] : own) {
      auto at = static_cast<uint32_t>(in_classes_.size());
      if (operators_.size() == facts.first_operator || operators_.back() != op) {
        operators_.push_back(op);
        ranges_.push_back({at, at});
      }
      ranges_.back().last = at + 1;
      call.whole = std::min(facts.around + call.size, kMax);
      in_classes_.push_back(call);
      by_operator_[op].push_back(call);
    }
    facts.last_operator = static_cast<uint32_t>(operators_.size());
  }
  for (auto& [op, calls] : by_operator_)
    std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
      return std::tuple(a.whole, a.value) < std::tuple(b.whole, b.value);
    });
}

std::span<const TermSizes::Call> TermSizes::calls(EValue v, const OpDef& op) const {
  const Facts& facts = facts_[index(v)];
  for (uint32_t k = facts.first_operator; k < facts.last_operator; ++k)
    if (operators_[k] == &op)
      return std::span(in_classes_).subspan(ranges_[k].first, ranges_[k].last - ranges_[k].first);
  return {};
}

std::span<const TermSizes::Call> TermSizes::calls(const OpDef& op) const {
  auto at = by_operator_.find(&op);
  if (at == by_operator_.end()) return {};
  return at->second;
}

std::span<const OpDef* const> TermSizes::operators(EValue v) const {
  const Facts& facts = facts_[index(v)];
  return std::span(operators_)
      .subspan(facts.first_operator, facts.last_operator - facts.first_operator);
}

}  // namespace regraft::gen
