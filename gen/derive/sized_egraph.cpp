#include "gen/derive/sized_egraph.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/hash.h"

namespace regraft::gen {
namespace {

constexpr int64_t kMaxFolded = 4096;  // elements of a tensor
constexpr int32_t kMaxTermSize = 1 << 20;
constexpr uint64_t kFoldSeed = 11;
constexpr size_t kMaxReasons = 16;  // of one value, beyond those that made it equal to others

uint64_t hash_of(const OpDef& op, const Attrs<int64_t>& attrs) {
  uint64_t h = std::bit_cast<uintptr_t>(&op);
  for (const auto& list : attrs.ints) {
    h = combine(h, list.size());
    for (int64_t n : list) h = combine(h, static_cast<uint64_t>(n));
  }
  for (const Real& r : attrs.reals) h = combine(h, std::bit_cast<uint64_t>(r.value));
  return h;
}

bool same_attrs(const Attrs<int64_t>& a, const Attrs<int64_t>& b) {
  return a.ints == b.ints &&
         std::equal(a.reals.begin(), a.reals.end(), b.reals.begin(), b.reals.end(), same_real);
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

uint64_t SizedEGraph::intern(Label label) {
  uint64_t h = hash_of(*label.op, label.attrs);
  auto [first, last] = label_ids_.equal_range(h);
  for (auto it = first; it != last; ++it) {
    const Label& known = labels_[it->second];
    if (known.op == label.op && same_attrs(known.attrs, label.attrs)) return it->second;
  }
  label_ids_.emplace(h, labels_.size());
  labels_.push_back(std::move(label));
  return labels_.size() - 1;
}

EValue SizedEGraph::add_node(const ESymbol& symbol, std::vector<int64_t> shape,
                             std::span<const EValue> operands) {
  Facts facts;
  facts.term_size = symbol.op ? 1 : 0;
  for (EValue x : operands)
    facts.term_size = std::min(facts.term_size + term_size(x), kMaxTermSize);
  facts_.push_back(facts);
  edges_of_.emplace_back();
  shapes_.push_back(std::move(shape));
  return graph_.add(symbol, operands);
}

EValue SizedEGraph::add_leaf(std::vector<int64_t> shape) {
  return add_node({}, std::move(shape), {});
}

std::optional<EValue> SizedEGraph::add(const OpDef& op, Attrs<int64_t> attrs, int output,
                                       std::span<const EValue> operands) {
  normalise_axes(op, attrs, operands.empty() ? 0 : static_cast<int64_t>(shape(operands[0]).size()));
  ESymbol symbol{&op, intern({&op, std::move(attrs)}), output};
  if (auto known = graph_.lookup(symbol, operands)) return known;
  Shapes<Field> in;
  in.reserve(operands.size());
  for (EValue x : operands) in.push_back(shape(x));
  Field algebra;
  auto shapes = op.field_semantics.infer(algebra, in, labels_[symbol.label].attrs);
  if (!shapes || !algebra.ok || static_cast<size_t>(output) >= shapes->size()) return std::nullopt;
  auto& own = (*shapes)[static_cast<size_t>(output)];
  if (std::any_of(own.begin(), own.end(), [](int64_t d) { return d < 1; })) return std::nullopt;
  EValue v = add_node(symbol, std::move(own), operands);
  fold(v);
  return v;
}

/// Evaluates a call whose operands are constants.
void SizedEGraph::fold(EValue v) {
  std::vector<const Array<Residue>*> values;
  Reason reason;
  for (EValue x : graph_.operands(v)) {
    EValue constant = facts_[index(graph_.find(x))].constant;
    if (constant < 0) return;
    values.push_back(&constants_.at(constant));
    reason.premises.emplace_back(x, constant);
  }
  Field algebra(kFoldSeed);
  const ESymbol& symbol = graph_.symbol(v);
  auto results = evaluate_call(algebra, *symbol.op, values, attrs(v), kMaxFolded);
  if (!results) return;
  Array<Residue>& value = (*results)[static_cast<size_t>(symbol.first_output)];
  if (!std::all_of(value.data.begin(), value.data.end(), is_defined)) return;
  std::vector<uint64_t> key = {value.shape.size()};
  key.insert(key.end(), value.shape.begin(), value.shape.end());
  for (Residue x : value.data) key.push_back(x.v);
  constants_[v] = std::move(value);
  facts_[index(graph_.find(v))].constant = v;
  auto [it, fresh] = by_value_.try_emplace(std::move(key), Folded{v, reason});
  if (fresh) return;
  const auto& other = it->second.reason.premises;
  reason.premises.insert(reason.premises.end(), other.begin(), other.end());
  merge(v, it->second.value, std::move(reason));
}

void SizedEGraph::connect(EValue a, EValue b, Reason reason) {
  auto edge = static_cast<uint32_t>(edges_.size());
  edges_.push_back({a, b, std::move(reason)});
  edges_of_[index(a)].push_back(edge);
  edges_of_[index(b)].push_back(edge);
}

bool SizedEGraph::merge(EValue a, EValue b, Reason reason) {
  if (a == b || shape(a) != shape(b)) return false;
  if (equal(a, b)) {
    size_t known = std::min(edges_of_[index(a)].size(), edges_of_[index(b)].size());
    if (known < kMaxReasons) connect(a, b, std::move(reason));
    return false;
  }
  connect(a, b, std::move(reason));
  auto [to, from] = std::minmax({graph_.find(a), graph_.find(b)});
  graph_.unite(to, from);
  Facts &all = facts_[index(to)], &other = facts_[index(from)];
  all.term_size = std::min(all.term_size, other.term_size);
  if (all.constant < 0) all.constant = other.constant;
  return true;
}

void SizedEGraph::rebuild() {
  graph_.rebuild([&](ENodeId newer, ENodeId older) {
    merge(newer, older, Reason{-1, differences(newer, graph_.operands(older))});
  });
}

std::vector<std::pair<EValue, EValue>> SizedEGraph::differences(
    EValue call, std::span<const EValue> operands) const {
  auto own = graph_.operands(call);
  std::vector<std::pair<EValue, EValue>> pairs;
  bool straight = own.size() < 2 || (equal(own[0], operands[0]) && equal(own[1], operands[1]));
  for (size_t k = 0; k < own.size(); ++k) {
    EValue other = operands[straight || k > 1 ? k : 1 - k];
    if (own[k] != other) pairs.emplace_back(own[k], other);
  }
  return pairs;
}

/// A rule that the proof has already costs less; what needs premises costs more.
uint32_t SizedEGraph::cost(const Edge& edge, const std::set<int>& used) const {
  uint32_t cost = 1;
  if (edge.reason.rule >= 0 && !used.count(edge.reason.rule)) cost += 8;
  for (const auto& [a, b] : edge.reason.premises) cost += a == b ? 0 : 12;
  return cost;
}

std::vector<uint32_t> SizedEGraph::path(EValue a, EValue b, uint32_t before,
                                        const std::set<int>& used) const {
  struct Reached {
    uint32_t cost = 0, edge = 0;
    EValue from = -1;
  };
  std::unordered_map<EValue, Reached> reached{{a, {}}};
  std::set<std::pair<uint32_t, EValue>> open{{0, a}};
  while (!open.empty() && open.begin()->second != b) {
    auto [so_far, v] = *open.begin();
    open.erase(open.begin());
    for (uint32_t e : edges_of_[index(v)]) {
      if (e >= before) break;
      const Edge& edge = edges_[e];
      EValue next = edge.a == v ? edge.b : edge.a;
      Reached way{so_far + cost(edge, used), e, v};
      auto [at, fresh] = reached.try_emplace(next, way);
      if (!fresh && at->second.cost <= way.cost) continue;
      if (!fresh) open.erase({at->second.cost, next});
      at->second = way;
      open.emplace(way.cost, next);
    }
  }
  CHECK(!open.empty());
  std::vector<uint32_t> edges;
  for (EValue v = b; v != a; v = reached.at(v).from) edges.push_back(reached.at(v).edge);
  return edges;
}

std::set<int> SizedEGraph::rules_between(EValue a, EValue b) const {
  struct Question {
    EValue a, b;
    uint32_t before;  ///< edges that may be used
  };
  std::set<int> rules;
  std::map<std::pair<EValue, EValue>, uint32_t> answered;  // by the fewest edges
  std::vector<Question> work = {{a, b, static_cast<uint32_t>(edges_.size())}};
  while (!work.empty()) {
    Question q = work.back();
    work.pop_back();
    if (q.a == q.b) continue;
    auto [known, fresh] = answered.try_emplace(std::minmax({q.a, q.b}), q.before);
    if (!fresh && known->second <= q.before) continue;
    known->second = q.before;
    for (uint32_t e : path(q.a, q.b, q.before, rules)) {
      const Reason& reason = edges_[e].reason;
      if (reason.rule >= 0) rules.insert(reason.rule);
      for (const auto& [x, y] : reason.premises) work.push_back({x, y, e});
    }
  }
  return rules;
}

}  // namespace regraft::gen
