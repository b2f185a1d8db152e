#include "gen/generalise/side.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ir/graph/eval.h"

namespace regraft::gen {
namespace {

/// Builds a side, each call once.
struct Builder {
  const Bank& bank;
  const std::vector<TermId>& leaves;
  Side side = {};
  std::map<int, int> known = {};  // by TermNode::call

  Side::Ref add(TermId t) {
    const TermNode& n = bank.node(t);
    if (n.is_leaf()) {
      auto it = std::find(leaves.begin(), leaves.end(), t);
      CHECK(it != leaves.end());
      return {~static_cast<int>(it - leaves.begin()), 0};
    }
    if (auto it = known.find(n.call); it != known.end()) return {it->second, n.output};
    Side::Call call{n.call, &bank.label(n.label), {}, {}};
    for (TermId o : n.operands) call.operands.push_back(add(o));
    auto position = static_cast<int>(side.calls.size());
    for (size_t k = 0; k < call.label->attrs.ints.size(); ++k) {
      bool structural = call.label->op->ints[k].structural;
      call.first.push_back(structural ? -1 : static_cast<int>(side.numbers.size()));
      const auto& list = call.label->attrs.ints[k];
      for (size_t i = 0; !structural && i < list.size(); ++i)
        side.numbers.push_back({position, k, i, list[i]});
    }
    side.calls.push_back(std::move(call));
    known[n.call] = position;
    return {position, n.output};
  }
};

Attrs<int64_t> attrs_of(const Side::Call& call, const std::vector<int64_t>& numbers) {
  Attrs<int64_t> at = call.label->attrs;
  for (size_t k = 0; k < at.ints.size(); ++k)
    for (size_t i = 0; call.first[k] >= 0 && i < at.ints[k].size(); ++i)
      at.ints[k][i] = numbers[static_cast<size_t>(call.first[k]) + i];
  return at;
}

/// The operands of a call among leaves and earlier results.
template <class T>
const T& operand(Side::Ref r, const std::vector<T>& leaves,
                 const std::vector<std::vector<T>>& results) {
  if (r.call < 0) return leaves[static_cast<size_t>(~r.call)];
  return results[static_cast<size_t>(r.call)][static_cast<size_t>(r.output)];
}

}  // namespace

Side side_of(const Bank& bank, TermId t, const std::vector<TermId>& leaves) {
  Builder b{bank, leaves};
  b.side.root = b.add(t);
  return std::move(b.side);
}

std::optional<std::vector<int64_t>> shape_of(const Side& side, const ShapeList& leaves,
                                             const std::vector<int64_t>& numbers) {
  Field alg;
  std::vector<ShapeList> results;
  for (const Side::Call& call : side.calls) {
    ShapeList in;
    for (Side::Ref r : call.operands) in.push_back(operand(r, leaves, results));
    auto shapes = call.label->op->field_semantics.infer(alg, in, attrs_of(call, numbers));
    if (!shapes || !alg.ok) return std::nullopt;
    for (const auto& shape : *shapes)
      if (std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 1; }))
        return std::nullopt;
    results.push_back(*std::move(shapes));
  }
  return operand(side.root, leaves, results);
}

std::optional<Array<Residue>> value_of(const Side& side, const std::vector<Array<Residue>>& leaves,
                                       const std::vector<int64_t>& numbers, uint64_t key,
                                       int64_t max_elements) {
  Field alg(key);
  std::vector<std::vector<Array<Residue>>> results;
  for (const Side::Call& call : side.calls) {
    std::vector<const Array<Residue>*> in;
    for (Side::Ref r : call.operands) in.push_back(&operand(r, leaves, results));
    auto values = evaluate_call(alg, *call.label->op, in, attrs_of(call, numbers), max_elements);
    if (!values) return std::nullopt;
    results.push_back(*std::move(values));
  }
  return operand(side.root, leaves, results);
}

void leave_out_infinite(Array<Residue>& a) {
  for (Residue& x : a.data)
    if (std::isinf(x.r)) x.r = std::numeric_limits<double>::quiet_NaN();
}

bool is_truth(const Side& side, size_t leaf) {
  for (const Side::Call& call : side.calls)
    for (size_t k = 0; k < call.operands.size() && k < 32; ++k)
      if ((call.label->op->truths >> k & 1) != 0 &&
          call.operands[k].call == ~static_cast<int>(leaf))
        return true;
  return false;
}

bool needs_positive(const OpDef& op, size_t k) {
  auto arity = static_cast<size_t>(op.max_arity);
  bool plain = op.work == Work::Elementwise && op.ints.empty() && op.min_arity == op.max_arity;
  if (!plain || k >= arity) return false;
  std::vector<Array<double>> numbers(arity, {{}, {0.5}});
  numbers[k].data[0] = -0.5;
  std::vector<const Array<double>*> operands;
  for (const auto& n : numbers) operands.push_back(&n);
  Attrs<int64_t> attrs;
  for (const RealAttr& a : op.reals) attrs.reals.push_back({a.fallback, nullptr});
  auto result = evaluate_reals(op, operands, attrs);
  return result && result->size() == 1 && std::isnan((*result)[0].data[0]);
}

bool is_positive(const Side& side, size_t leaf) {
  for (const Side::Call& call : side.calls)
    for (size_t k = 0; k < call.operands.size(); ++k)
      if (call.operands[k].call == ~static_cast<int>(leaf) && needs_positive(*call.label->op, k))
        return true;
  return false;
}

Array<Residue> random_positive(Rng& rng, const std::vector<int64_t>& shape) {
  Array<Residue> a{shape, {}};
  size_t count = 1;
  for (int64_t d : shape) count *= static_cast<size_t>(d);
  append_random(rng, Signs::Plus, count, a.data);
  return a;
}

Array<Residue> random_truths(Rng& rng, const std::vector<int64_t>& shape) {
  Array<Residue> a = random_array(rng, shape);
  for (Residue& x : a.data) x = residue_of(int64_t{x.r > 0});
  return a;
}

Array<Residue> random_array(Rng& rng, const std::vector<int64_t>& shape) {
  constexpr std::array kSigns = {Signs::Mixed, Signs::Mixed, Signs::Plus, Signs::Minus};
  Array<Residue> a{shape, {}};
  size_t count = 1;
  for (int64_t d : shape) count *= static_cast<size_t>(d);
  append_random(rng, kSigns[rng.below(kSigns.size())], count, a.data);
  return a;
}

}  // namespace regraft::gen
