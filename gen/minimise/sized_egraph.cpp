#include "gen/minimise/sized_egraph.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace regraft::gen {
namespace {

constexpr int64_t kMaxFolded = 4096;  // elements of a tensor
constexpr int32_t kMaxTermSize = 1 << 20;
constexpr uint64_t kFoldSeed = 11;

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
  steps_.emplace_back();
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

void SizedEGraph::make_root(EValue v) {
  Step next;
  while (v >= 0) {
    std::swap(steps_[index(v)], next);
    std::swap(v, next.toward);
  }
}

bool SizedEGraph::merge(EValue a, EValue b, Reason reason) {
  if (equal(a, b) || shape(a) != shape(b)) return false;
  make_root(a);
  steps_[index(a)] = {b, reasons_.size()};
  reasons_.push_back(std::move(reason));
  auto [to, from] = std::minmax({graph_.find(a), graph_.find(b)});
  graph_.unite(to, from);
  Facts &all = facts_[index(to)], &other = facts_[index(from)];
  all.term_size = std::min(all.term_size, other.term_size);
  if (all.constant < 0) all.constant = other.constant;
  return true;
}

void SizedEGraph::rebuild() {
  graph_.rebuild([&](ENodeId newer, ENodeId older) {
    merge(newer, older, Reason{-1, operand_pairs(newer, older)});
  });
}

std::vector<std::pair<EValue, EValue>> SizedEGraph::operand_pairs(EValue a, EValue b) const {
  auto x = graph_.operands(a), y = graph_.operands(b);
  std::vector<std::pair<EValue, EValue>> pairs;
  for (size_t k = 0; k < x.size(); ++k) pairs.emplace_back(x[k], y[k]);
  bool straight = x.size() < 2 || (equal(x[0], y[0]) && equal(x[1], y[1]));
  if (!straight) std::swap(pairs[0].second, pairs[1].second);
  return pairs;
}

std::vector<EValue> SizedEGraph::path(EValue a, EValue b) const {
  auto chain = [&](EValue v) {
    std::vector<EValue> r;
    for (; v >= 0; v = steps_[index(v)].toward) r.push_back(v);
    return r;
  };
  std::vector<EValue> x = chain(a), y = chain(b);
  while (!x.empty() && !y.empty() && x.back() == y.back()) x.pop_back(), y.pop_back();
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

std::set<int> SizedEGraph::rules_between(EValue a, EValue b) const {
  std::set<int> rules;
  std::set<std::pair<EValue, EValue>> seen;
  std::vector<std::pair<EValue, EValue>> work = {{a, b}};
  while (!work.empty()) {
    auto [x, y] = work.back();
    work.pop_back();
    if (x == y || !seen.insert(std::minmax({x, y})).second) continue;
    for (EValue step : path(x, y)) {
      const Reason& reason = reasons_[steps_[index(step)].reason];
      if (reason.rule >= 0) rules.insert(reason.rule);
      work.insert(work.end(), reason.premises.begin(), reason.premises.end());
    }
  }
  return rules;
}

}  // namespace regraft::gen
