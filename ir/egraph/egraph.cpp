#include "ir/egraph/egraph.h"

#include "base/hash.h"

namespace regraft {

namespace {

/// Operands of two calls of an operator are the same: the first two may be exchanged if it
/// commutes.
template <class Same>
bool same_operands(const OpDef& op, size_t count, Same&& same) {
  auto from = [&](size_t first) {
    for (size_t k = first; k < count; ++k)
      if (!same(k, k)) return false;
    return true;
  };
  return from(0) || (op.commutative && count >= 2 && same(0, 1) && same(1, 0) && from(2));
}

}  // namespace

EValue EGraph::find(EValue v) const {
  while (parent_[index(v)] != v) v = parent_[index(v)] = parent_[index(parent_[index(v)])];
  return v;
}

const std::vector<ENodeId>& EGraph::calls_of(const OpDef& op) const {
  static const std::vector<ENodeId> kNone;
  auto it = by_op_.find(&op);
  return it == by_op_.end() ? kNone : it->second;
}

std::span<const EValue> EGraph::operands(ENodeId n) const {
  return {operands_.data() + node(n).first_operand, node(n).arity};
}

ENodeId EGraph::twin(ENodeId n) const {
  while (is_duplicate(n)) n = node(n).twin;
  return n;
}

int32_t EGraph::output_of(EValue v) const {
  const Node& n = node(node_of(v));
  return v - n.first_value + n.symbol.first_output;
}

EValue EGraph::value(ENodeId n, int32_t output) const {
  return node(n).first_value + output - node(n).symbol.first_output;
}

ENodeId EGraph::add_unconnected(const ESymbol& symbol) {
  auto id = static_cast<ENodeId>(nodes_.size());
  auto first = static_cast<EValue>(node_of_.size());
  nodes_.push_back({symbol, 0, 0, first, id});
  for (EValue v = first; v < first + symbol.outputs; ++v) {
    node_of_.push_back(id);
    parent_.push_back(v);
    classes_.push_back({{v}, {}});
  }
  if (symbol.op) by_op_[symbol.op].push_back(id);
  return id;
}

void EGraph::set_operands(ENodeId n, std::span<const EValue> given) {
  nodes_[index(n)].first_operand = operands_.size();
  nodes_[index(n)].arity = given.size();
  operands_.insert(operands_.end(), given.begin(), given.end());
  for (EValue v : given) {
    auto& users = classes_[index(find(v))].users;
    if (users.empty() || users.back() != n) users.push_back(n);
  }
}

void EGraph::connect(ENodeId n, std::span<const EValue> given) {
  set_operands(n, given);
  pending_.push_back(n);
}

ENodeId EGraph::add(const ESymbol& symbol, std::span<const EValue> given) {
  ENodeId n = add_unconnected(symbol);
  set_operands(n, given);
  if (symbol.op) ids_.emplace(key_of(symbol, given), n);
  return n;
}

uint64_t EGraph::key_of(const ESymbol& symbol, std::span<const EValue> given) const {
  uint64_t h = combine(symbol.label, static_cast<uint64_t>(symbol.first_output));
  size_t k = 0;
  if (symbol.op->commutative && given.size() >= 2) {
    auto [low, high] = std::minmax({find(given[0]), find(given[1])});
    h = combine(combine(h, static_cast<uint64_t>(low)), static_cast<uint64_t>(high));
    k = 2;
  }
  for (; k < given.size(); ++k) h = combine(h, static_cast<uint64_t>(find(given[k])));
  return h;
}

bool EGraph::is_call(ENodeId n, const ESymbol& wanted, std::span<const EValue> given) const {
  const ESymbol& own = symbol(n);
  auto have = operands(n);
  return own.label == wanted.label && own.first_output == wanted.first_output &&
         have.size() == given.size() &&
         same_operands(*own.op, have.size(),
                       [&](size_t j, size_t k) { return equal(have[j], given[k]); });
}

std::optional<ENodeId> EGraph::lookup(const ESymbol& wanted, std::span<const EValue> given) const {
  auto [first, last] = ids_.equal_range(key_of(wanted, given));
  std::optional<ENodeId> oldest;
  for (auto it = first; it != last; ++it)
    if ((!oldest || it->second < *oldest) && is_call(it->second, wanted, given))
      oldest = it->second;
  return oldest;
}

bool EGraph::unite(EValue a, EValue b) {
  a = find(a), b = find(b);
  if (a == b) return false;
  if (b < a) std::swap(a, b);
  parent_[index(b)] = a;
  Class &to = classes_[index(a)], &from = classes_[index(b)];
  pending_.insert(pending_.end(), from.users.begin(), from.users.end());
  to.members.insert(to.members.end(), from.members.begin(), from.members.end());
  std::vector<ENodeId> users;
  std::set_union(to.users.begin(), to.users.end(), from.users.begin(), from.users.end(),
                 std::back_inserter(users));
  to.users = std::move(users);
  from = {};
  return true;
}

std::vector<ENodeId> EGraph::take_pending() {
  std::vector<ENodeId> nodes = std::exchange(pending_, {});
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

std::optional<std::pair<ENodeId, ENodeId>> EGraph::rekey(ENodeId n) {
  if (is_duplicate(n) || !symbol(n).op) return std::nullopt;
  auto other = lookup(symbol(n), operands(n));
  if (other == n) return std::nullopt;
  if (!other || n < *other) ids_.emplace(key_of(symbol(n), operands(n)), n);
  if (!other) return std::nullopt;
  auto [older, newer] = std::minmax({n, *other});
  if (!is_duplicate(newer)) retire(newer, older);
  return std::pair(newer, older);
}

void EGraph::retire(ENodeId n, ENodeId twin) {
  nodes_[index(n)].twin = twin;
  ++duplicates_;
  EValue first = node(n).first_value;
  for (EValue v = first; v < first + symbol(n).outputs; ++v)
    std::erase(classes_[index(find(v))].members, v);
}

}  // namespace regraft
