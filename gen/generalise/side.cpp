#include "gen/generalise/side.h"

#include <algorithm>
#include <array>
#include <bit>
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

const Array<Residue>& SideValues::at(Side::Ref r, const Computed& of) const {
  if (r.call < 0) return leaves_[static_cast<size_t>(~r.call)];
  return (*of.results[static_cast<size_t>(r.call)])[static_cast<size_t>(r.output)];
}

std::vector<const Array<Residue>*> SideValues::operands(const Side::Call& call,
                                                        const Computed& of) const {
  std::vector<const Array<Residue>*> in;
  for (Side::Ref r : call.operands) in.push_back(&at(r, of));
  return in;
}

/// The first calls of the side; false when one is not well-formed or too large.
bool SideValues::compute(const Side& side, const std::vector<int64_t>& numbers,
                         int64_t max_elements, size_t calls, Computed& to) {
  constexpr size_t kMost = 64;  // calls that are kept
  Field alg(key_);
  for (size_t c = 0; c < calls; ++c) {
    const Side::Call& call = side.calls[c];
    const Attrs<int64_t> attrs = attrs_of(call, numbers);
    std::vector<int64_t> key = {std::bit_cast<int64_t>(call.label->op)};
    for (Side::Ref r : call.operands) {
      key.push_back(r.call < 0 ? r.call : to.numbers[static_cast<size_t>(r.call)]);
      key.push_back(r.output);
    }
    for (const auto& list : attrs.ints) {
      key.push_back(static_cast<int64_t>(list.size()));
      key.insert(key.end(), list.begin(), list.end());
    }
    for (const Real& r : attrs.reals) key.push_back(std::bit_cast<int64_t>(r.value));
    auto known = known_.find(key);
    if (known == known_.end()) {
      auto values = evaluate_call(alg, *call.label->op, operands(call, to), attrs, max_elements);
      if (!values) return false;
      if (known_.size() >= kMost) known_.clear();
      auto results = std::make_shared<const std::vector<Array<Residue>>>(*std::move(values));
      known = known_.emplace(std::move(key), std::pair(next_++, std::move(results))).first;
    }
    const auto& [number, results] = known->second;
    if (std::ranges::any_of(*results, [&](const Array<Residue>& a) {
          return static_cast<int64_t>(a.data.size()) > max_elements;
        }))
      return false;
    to.results.push_back(results);
    to.numbers.push_back(number);
  }
  return true;
}

std::optional<Array<Residue>> SideValues::value(const Side& side,
                                                const std::vector<int64_t>& numbers,
                                                int64_t max_elements) {
  Computed all;
  if (!compute(side, numbers, max_elements, side.calls.size(), all)) return std::nullopt;
  return at(side.root, all);
}

std::optional<bool> SideValues::differs(const Array<Residue>& expected, const Side& side,
                                        const std::vector<int64_t>& numbers, int64_t max_elements,
                                        Compare compare) {
  auto differ = [&](size_t first, std::span<const Residue> found) {
    for (size_t k = 0; k < found.size(); ++k) {
      const Residue a = expected.data[first + k], b = found[k];
      if (!is_defined(a) || !is_defined(b)) continue;
      if (compare == Compare::Residues ? !(a == b) : !nearly_equal(a.r, b.r)) return true;
    }
    return false;
  };
  Computed most;
  const int last = static_cast<int>(side.calls.size()) - 1;
  const bool is_call = side.root.call >= 0 && side.root.call == last;  // it is evaluated in pieces
  if (!compute(side, numbers, max_elements, side.calls.size() - (is_call ? 1 : 0), most))
    return std::nullopt;
  if (!is_call) {
    const Array<Residue>& found = at(side.root, most);
    return found.shape != expected.shape || differ(0, found.data);
  }
  Field alg(key_);
  const Side::Call& root = side.calls.back();
  bool differs = false;
  auto go_on = [&](size_t first, std::span<const Residue> found) {
    differs = first + found.size() > expected.data.size() || differ(first, found);
    return !differs;
  };
  if (!evaluate_pieces<Field>(alg, *root.label->op, operands(root, most), attrs_of(root, numbers),
                              side.root.output, max_elements, go_on))
    return std::nullopt;
  return differs;
}

void leave_out_infinite(Array<Residue>& a) {
  for (Residue& x : a.data)
    if (std::isinf(x.r)) x.r = std::numeric_limits<double>::quiet_NaN();
}

bool is_truth(const Side& side, size_t leaf) {
  for (const Side::Call& call : side.calls)
    for (size_t k = 0; k < call.operands.size(); ++k)
      if (call.label->op->wants_truth(k) && call.operands[k].call == ~static_cast<int>(leaf))
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
