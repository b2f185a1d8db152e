#include "gen/enumerate/shaped.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/rng.h"

namespace regraft::gen {
namespace {

constexpr int kComparingTrials = 16;  // of a grammar that compares values

}  // namespace

int64_t count_of(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

ShapedOps::ShapedOps(const Grammar& grammar, int trials, uint64_t seed)
    : grammar_(grammar), trials_(trials), seed_(seed) {}

Status ShapedOps::load() {
  for (const Instance& in : grammar_.instances) {
    ASSIGN_OR_RETURN(Label label, label_of(in));
    labels_.push_back(std::move(label));
    Label then;
    if (!in.then.empty()) {
      Instance follower;
      follower.op = in.then;
      follower.operands = {"."};
      ASSIGN_OR_RETURN(then, label_of(follower));
    }
    then_.push_back(std::move(then));
  }
  for (const Instance& in : grammar_.instances) {
    auto& own = siblings_.emplace_back();
    for (size_t k = 0; k < grammar_.instances.size(); ++k) {
      const Instance& other = grammar_.instances[k];
      if (other.op == in.op && other.attrs == in.attrs && other.operands == in.operands)
        own.emplace_back(then(k) ? then(k)->op : nullptr, static_cast<int>(k));
    }
  }
  if (compares()) trials_ = std::max(trials_, kComparingTrials);
  return {};
}

int ShapedOps::sibling(int instance, const OpDef* then_op) const {
  for (const auto& [follower, k] : siblings_[static_cast<size_t>(instance)])
    if (follower == then_op) return k;
  return -1;
}

bool ShapedOps::compares() const {
  auto is_comparison = [](const Label& label) {
    auto kernel = label.op ? kernel_of(*label.op) : nullptr;
    return kernel && kernel->compares();
  };
  return std::ranges::any_of(labels_, is_comparison) || std::ranges::any_of(then_, is_comparison);
}

bool ShapedOps::tells_apart() const {
  const std::array<DType, 2> numbers = {DType::F32, DType::F32};
  for (size_t k = 0; k < labels_.size(); ++k) {
    if (grammar_.instances[k].operands.size() != numbers.size()) continue;
    auto type = labels_[k].op->typed(*labels_[k].op, symbolic(labels_[k].attrs), numbers);
    if (type && *type == DType::Bool) return true;
  }
  return false;
}

std::vector<double> ShapedOps::bounds() const {
  // beyond it a bound means that there is none
  const double most = grammar_.compare == Compare::Doubles ? 300 : 100;
  std::vector<double> bounds;
  for (const Label& label : labels_)
    for (const Real& real : label.attrs.reals)
      if (std::abs(real.value) <= most) bounds.push_back(std::abs(real.value));
  return bounds;
}

bool ShapedOps::has_exponentials(size_t instance) const {
  auto reads = [](const OpDef& op) {
    auto kernel = kernel_of(op);
    return kernel && kernel->has_exponentials();
  };
  const Label* follower = then(instance);
  return reads(*labels_[instance].op) || (follower && reads(*follower->op));
}

ShapeId ShapedOps::shape(const Dims& dims, DType type) {
  std::lock_guard lock(mutex_);
  return shape_locked(dims, type);
}

ShapeId ShapedOps::shape_locked(const Dims& dims, DType type) {
  auto [it, fresh] =
      shape_ids_.try_emplace(std::pair(type, dims), static_cast<ShapeId>(shapes_.size()));
  if (!fresh) return it->second;
  ShapeInfo info{dims, type, {}, dims.size()};
  for (int64_t d : dims) info.salt = combine(info.salt, static_cast<uint64_t>(d));
  if (type != DType::F32) info.salt = combine(info.salt, static_cast<uint64_t>(type));
  Rng rng(combine(seed_, info.salt));
  for (int64_t k = 0; k < trials_ * count_of(dims); ++k)
    info.weights.push_back(rng.below(Residue::kPrime));
  shapes_.push_back(std::move(info));
  return it->second;
}

const ShapeInfo& ShapedOps::info(ShapeId shape) const {
  std::lock_guard lock(mutex_);
  return shapes_[shape];
}

namespace {

/// The element type of a call's results. Where F32 stands for a type that the operator wants it is
/// F32; nullopt: the operands' types do not fit.
std::optional<DType> type_of_results(const Label& label, std::span<const DType> operands) {
  auto type = label.op->typed(*label.op, symbolic(label.attrs), operands);
  if (type) return *type;
  bool plain = std::ranges::all_of(operands, [](DType t) { return t == DType::F32; });
  return plain ? std::optional(DType::F32) : std::nullopt;
}

}  // namespace

const ShapedOp* ShapedOps::make_plan(int instance, std::span<const ShapeId> operand_shapes) {
  auto index = static_cast<size_t>(instance);
  const Label& l = labels_[index];
  std::vector<Dims> operands;
  std::vector<DType> types;
  for (ShapeId s : operand_shapes) {
    operands.push_back(shapes_[s].dims);
    types.push_back(shapes_[s].type);
  }
  auto type = type_of_results(l, types);
  if (!type) return nullptr;
  algebra_.ok = true;
  auto outputs = l.op->field_semantics.infer(algebra_, operands, l.attrs);
  if (!outputs || !algebra_.ok) return nullptr;
  ShapedOp p;
  p.instance = instance;
  for (size_t k = 0; k < outputs->size(); ++k) {
    const Dims& dims = (*outputs)[k];
    bool empty = std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 1; });
    if (empty || count_of(dims) > grammar_.most_elements) return nullptr;
    p.outputs.push_back(shape_locked(dims, *type));
    p.kernels.push_back(Kernel::compile(l, operands, dims, static_cast<int>(k), grammar_.compare));
    if (!p.kernels.back()) return nullptr;
    if (const Label* follower = then(index)) {
      p.then.push_back(Kernel::compile(*follower, {dims}, dims, 0, grammar_.compare));
      if (!p.then.back()) return nullptr;
    }
    p.linear.emplace_back();
    for (size_t slot = 0; slot < operands.size(); ++slot)
      p.linear.back().push_back(p.then.empty() && p.kernels.back()->is_linear_in(slot));
  }
  plans_.push_back(std::move(p));
  return &plans_.back();
}

ShapedOps::Entry ShapedOps::make_entry(std::span<const ShapeId> shapes) {
  Entry e;
  std::vector<Dims> operands;
  for (ShapeId s : shapes) operands.push_back(shapes_[s].dims);
  std::vector<const Dims*> pointers;
  for (const Dims& d : operands) pointers.push_back(&d);
  for (size_t k = 0; k < grammar_.instances.size(); ++k) {
    const Instance& in = grammar_.instances[k];
    if (in.operands.size() < shapes.size() || !fits(in, pointers)) continue;
    if (in.operands.size() > shapes.size())
      e.partial.push_back(static_cast<int>(k));
    else if (const ShapedOp* p = make_plan(static_cast<int>(k), shapes))
      e.complete.push_back(p);
  }
  return e;
}

const ShapedOps::Entry& ShapedOps::entry(std::span<const ShapeId> shapes) {
  std::lock_guard lock(mutex_);
  std::vector<ShapeId> key(shapes.begin(), shapes.end());
  auto it = entries_.find(key);
  if (it == entries_.end()) it = entries_.emplace(key, make_entry(shapes)).first;
  return it->second;
}

const std::vector<const ShapedOp*>& ShapedOps::complete(std::span<const ShapeId> shapes) {
  return entry(shapes).complete;
}
const std::vector<int>& ShapedOps::partial(std::span<const ShapeId> shapes) {
  return entry(shapes).partial;
}

}  // namespace regraft::gen
