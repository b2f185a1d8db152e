#include "gen/minimise/egraph.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace regraft::gen {
namespace {

constexpr int64_t kMaxFolded = 4096;  // elements of a tensor
constexpr uint64_t kFoldSeed = 11;

uint64_t hash_numbers(uint64_t h, const std::vector<int64_t>& numbers) {
  h = combine(h, numbers.size());
  for (int64_t n : numbers) h = combine(h, static_cast<uint64_t>(n));
  return h;
}

uint64_t op_key(const OpDef& op, int output) {
  return combine(std::bit_cast<uintptr_t>(&op), static_cast<uint64_t>(output));
}

bool same_label(const EGraph::Label& a, const EGraph::Label& b) {
  auto same_real = [](const Real& x, const Real& y) {
    return std::bit_cast<uint64_t>(x.value) == std::bit_cast<uint64_t>(y.value);
  };
  return a.op == b.op && a.output == b.output && a.attrs.ints == b.attrs.ints &&
         std::equal(a.attrs.reals.begin(), a.attrs.reals.end(), b.attrs.reals.begin(),
                    b.attrs.reals.end(), same_real);
}

/// Axes counted from the front.
void normalise_axes(const OpDef& op, Attrs<int64_t>& attrs, int64_t rank) {
  for (size_t k = 0; k < attrs.ints.size(); ++k) {
    if (op.ints[k].kind != IntKind::Axis) continue;
    for (int64_t& n : attrs.ints[k])
      if (n < 0) n += rank;
  }
}

}  // namespace

NodeId EGraph::find(NodeId n) const {
  while (parent_[index(n)] != n) n = parent_[index(n)] = parent_[index(parent_[index(n)])];
  return n;
}

const std::vector<int64_t>& EGraph::shape(NodeId n) const {
  return shapes_[static_cast<size_t>(nodes_[index(n)].shape)];
}

const EGraph::Label& EGraph::label(NodeId n) const {
  return labels_[static_cast<size_t>(nodes_[index(n)].label)];
}

std::span<const NodeId> EGraph::operands(NodeId n) const {
  const Node& node = nodes_[index(n)];
  return {operands_.data() + node.first_operand, node.arity};
}

const std::vector<NodeId>& EGraph::nodes_of(const OpDef& op, int output) const {
  static const std::vector<NodeId> kNone;
  auto it = by_op_.find(op_key(op, output));
  return it == by_op_.end() ? kNone : it->second;
}

int32_t EGraph::intern_label(Label label) {
  uint64_t h = op_key(*label.op, label.output);
  for (const auto& list : label.attrs.ints) h = hash_numbers(h, list);
  for (const Real& r : label.attrs.reals) h = combine(h, std::bit_cast<uint64_t>(r.value));
  auto [first, last] = label_ids_.equal_range(h);
  for (auto it = first; it != last; ++it)
    if (same_label(labels_[static_cast<size_t>(it->second)], label)) return it->second;
  auto id = static_cast<int32_t>(labels_.size());
  labels_.push_back(std::move(label));
  label_ids_.emplace(h, id);
  return id;
}

int32_t EGraph::intern_shape(const std::vector<int64_t>& shape) {
  uint64_t h = hash_numbers(1, shape);
  auto [first, last] = shape_ids_.equal_range(h);
  for (auto it = first; it != last; ++it)
    if (shapes_[static_cast<size_t>(it->second)] == shape) return it->second;
  auto id = static_cast<int32_t>(shapes_.size());
  shapes_.push_back(shape);
  shape_ids_.emplace(h, id);
  return id;
}

uint64_t EGraph::key_of(int32_t label, std::span<const NodeId> operands) const {
  uint64_t h = combine(7, static_cast<uint64_t>(label));
  size_t k = 0;
  if (labels_[static_cast<size_t>(label)].op->commutative && operands.size() >= 2) {
    auto [low, high] = std::minmax({find(operands[0]), find(operands[1])});
    h = combine(combine(h, static_cast<uint64_t>(low)), static_cast<uint64_t>(high));
    k = 2;
  }
  for (; k < operands.size(); ++k) h = combine(h, static_cast<uint64_t>(find(operands[k])));
  return h;
}

bool EGraph::same_key(NodeId n, int32_t label, std::span<const NodeId> given) const {
  auto own = operands(n);
  if (nodes_[index(n)].label != label || own.size() != given.size()) return false;
  auto from = [&](size_t first) {
    for (size_t k = first; k < own.size(); ++k)
      if (!equal(own[k], given[k])) return false;
    return true;
  };
  if (from(0)) return true;
  return labels_[static_cast<size_t>(label)].op->commutative && own.size() >= 2 &&
         equal(own[0], given[1]) && equal(own[1], given[0]) && from(2);
}

std::optional<NodeId> EGraph::lookup(int32_t label, std::span<const NodeId> given) const {
  auto [first, last] = ids_.equal_range(key_of(label, given));
  std::optional<NodeId> oldest;
  for (auto it = first; it != last; ++it)
    if (same_key(it->second, label, given) && (!oldest || it->second < *oldest))
      oldest = it->second;
  return oldest;
}

NodeId EGraph::add_node(int32_t label, int32_t shape, const std::vector<NodeId>& given) {
  auto id = static_cast<NodeId>(nodes_.size());
  Node node;
  node.label = label;
  node.shape = shape;
  node.first_operand = operands_.size();
  node.arity = given.size();
  operands_.insert(operands_.end(), given.begin(), given.end());
  nodes_.push_back(node);
  parent_.push_back(id);
  Class own;
  own.nodes = {id};
  own.term_size = label < 0 ? 0 : 1;
  for (NodeId x : given) {
    own.term_size = std::min(own.term_size + class_of(x).term_size, 1 << 20);
    classes_[index(find(x))].users.push_back(id);
  }
  classes_.push_back(std::move(own));
  return id;
}

NodeId EGraph::add_leaf(std::vector<int64_t> shape) {
  return add_node(-1, intern_shape(shape), {});
}

std::optional<NodeId> EGraph::add(const OpDef& op, Attrs<int64_t> attrs, int output,
                                  const std::vector<NodeId>& given) {
  normalise_axes(op, attrs, given.empty() ? 0 : static_cast<int64_t>(shape(given[0]).size()));
  int32_t label = intern_label({&op, std::move(attrs), output});
  if (auto known = lookup(label, given)) return known;
  Shapes<Field> in;
  in.reserve(given.size());
  for (NodeId x : given) in.push_back(shape(x));
  Field algebra;
  auto shapes = op.field_semantics.infer(algebra, in, labels_[static_cast<size_t>(label)].attrs);
  if (!shapes || !algebra.ok || static_cast<size_t>(output) >= shapes->size()) return std::nullopt;
  const auto& own = (*shapes)[static_cast<size_t>(output)];
  if (std::any_of(own.begin(), own.end(), [](int64_t d) { return d < 1; })) return std::nullopt;
  NodeId id = add_node(label, intern_shape(own), given);
  ids_.emplace(key_of(label, given), id);
  by_op_[op_key(op, output)].push_back(id);
  fold(id);
  return id;
}

/// Evaluates a call whose operands are constants.
void EGraph::fold(NodeId n) {
  std::vector<const Array<Residue>*> values;
  Reason reason;
  for (NodeId x : operands(n)) {
    NodeId constant = class_of(x).constant;
    if (constant < 0) return;
    values.push_back(&constants_.at(constant));
    reason.premises.emplace_back(x, constant);
  }
  Field algebra(kFoldSeed);
  const Label& l = label(n);
  auto results = evaluate_call(algebra, *l.op, values, l.attrs, kMaxFolded);
  if (!results) return;
  Array<Residue>& value = (*results)[static_cast<size_t>(l.output)];
  if (!std::all_of(value.data.begin(), value.data.end(), is_defined)) return;
  std::vector<uint64_t> key = {value.shape.size()};
  key.insert(key.end(), value.shape.begin(), value.shape.end());
  for (Residue x : value.data) key.push_back(x.v);
  constants_[n] = std::move(value);
  classes_[index(find(n))].constant = n;
  auto [it, fresh] = by_value_.try_emplace(std::move(key), Folded{n, reason});
  if (fresh) return;
  const auto& other = it->second.reason.premises;
  reason.premises.insert(reason.premises.end(), other.begin(), other.end());
  merge(n, it->second.node, std::move(reason));
}

void EGraph::make_root(NodeId n) {
  NodeId next = -1;
  size_t reason = 0;
  while (n >= 0) {
    Node& node = nodes_[index(n)];
    std::swap(node.toward, next);
    std::swap(node.reason, reason);
    std::swap(n, next);
  }
}

bool EGraph::merge(NodeId a, NodeId b, Reason reason) {
  NodeId x = find(a), y = find(b);
  if (x == y || nodes_[index(a)].shape != nodes_[index(b)].shape) return false;
  make_root(a);
  nodes_[index(a)].toward = b;
  nodes_[index(a)].reason = reasons_.size();
  reasons_.push_back(std::move(reason));
  auto weight = [&](NodeId n) {
    return classes_[index(n)].nodes.size() * 4 + classes_[index(n)].users.size();
  };
  if (weight(x) < weight(y)) std::swap(x, y);
  parent_[index(y)] = x;
  Class &to = classes_[index(x)], &from = classes_[index(y)];
  to.nodes.insert(to.nodes.end(), from.nodes.begin(), from.nodes.end());
  to.users.insert(to.users.end(), from.users.begin(), from.users.end());
  to.term_size = std::min(to.term_size, from.term_size);
  if (to.constant < 0) to.constant = from.constant;
  from = {};
  dirty_.push_back(x);
  return true;
}

/// Files a node under its present key, or merges it with the one that has that key.
void EGraph::rekey(NodeId n) {
  if (is_duplicate(n)) return;
  int32_t label = nodes_[index(n)].label;
  auto other = lookup(label, operands(n));
  if (!other) {
    ids_.emplace(key_of(label, operands(n)), n);
  } else if (*other != n) {
    NodeId older = std::min(*other, n), newer = std::max(*other, n);
    nodes_[index(newer)].duplicate = true;
    if (older == n) ids_.emplace(key_of(label, operands(n)), n);
    merge(newer, older, Reason{-1, operand_pairs(newer, older)});
  }
}

void EGraph::rebuild() {
  while (!dirty_.empty()) {
    std::vector<NodeId> work = std::move(dirty_);
    dirty_.clear();
    for (NodeId& n : work) n = find(n);
    std::sort(work.begin(), work.end());
    work.erase(std::unique(work.begin(), work.end()), work.end());
    for (NodeId n : work) {
      std::vector<NodeId> users = classes_[index(find(n))].users;
      std::sort(users.begin(), users.end());
      users.erase(std::unique(users.begin(), users.end()), users.end());
      classes_[index(find(n))].users = users;
      for (NodeId user : users) rekey(user);
    }
  }
}

std::vector<std::pair<NodeId, NodeId>> EGraph::operand_pairs(NodeId a, NodeId b) const {
  auto x = operands(a), y = operands(b);
  std::vector<std::pair<NodeId, NodeId>> pairs;
  for (size_t k = 0; k < x.size(); ++k) pairs.emplace_back(x[k], y[k]);
  bool straight = x.size() < 2 || (equal(x[0], y[0]) && equal(x[1], y[1]));
  if (!straight) std::swap(pairs[0].second, pairs[1].second);
  return pairs;
}

std::vector<NodeId> EGraph::path(NodeId a, NodeId b) const {
  auto chain = [&](NodeId n) {
    std::vector<NodeId> r;
    for (; n >= 0; n = nodes_[index(n)].toward) r.push_back(n);
    return r;
  };
  std::vector<NodeId> x = chain(a), y = chain(b);
  while (!x.empty() && !y.empty() && x.back() == y.back()) x.pop_back(), y.pop_back();
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

std::set<int> EGraph::rules_between(NodeId a, NodeId b) const {
  std::set<int> rules;
  std::set<std::pair<NodeId, NodeId>> seen;
  std::vector<std::pair<NodeId, NodeId>> work = {{a, b}};
  while (!work.empty()) {
    auto [x, y] = work.back();
    work.pop_back();
    if (x == y || !seen.insert(std::minmax({x, y})).second) continue;
    for (NodeId step : path(x, y)) {
      const Reason& reason = reasons_[nodes_[index(step)].reason];
      if (reason.rule >= 0) rules.insert(reason.rule);
      work.insert(work.end(), reason.premises.begin(), reason.premises.end());
    }
  }
  return rules;
}

}  // namespace regraft::gen
