#include "cost/profile/profiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "base/hash.h"

namespace regraft::cost {
namespace {

Runtime runtime_of(const Profile& profile) {
  const Runtime* known = find_runtime(profile.key.runtime);
  CHECK(known != nullptr);
  Runtime r = *known;
  r.block = profile.block;
  return r;
}

/// In a model, an operand of a lower rank or size than the first is nearly always a weight.
bool looks_constant(const Node& node, size_t operand, std::span<const TensorType> operands) {
  if (operand == 0 || !operands[operand].shape) return false;
  if (node.op->work == Work::Product) return operands[operand].shape->size() <= 2;
  if (node.op->fusion != Fusion::Pointwise)
    return kind_of(*node.op, node.attrs, operands) != Kind::Movement;
  return operands[operand].shape->size() < operands[0].shape->size();
}

/// The call alone in a graph, its weights as constants that are never read.
Graph alone(const Node& node, std::span<const TensorType> operands) {
  Graph g;
  Node call;
  call.op = node.op;
  call.attrs = node.attrs;
  call.types = node.types;
  for (size_t k = 0; k < operands.size(); ++k) {
    auto dims = operands[k].shape ? numeric(*operands[k].shape) : std::nullopt;
    bool weight = dims && !dims->empty() && looks_constant(node, k, operands);
    if (!weight) {
      call.inputs.push_back(g.add_input(operands[k]));
      continue;
    }
    auto unread = [](const Constant::Visit&) { return Status(error("not there")); };
    call.inputs.push_back(
        g.add_constant(std::make_shared<const Constant>(operands[k].dtype, *dims, unread)));
  }
  int32_t id = g.add_node(std::move(call));
  std::vector<Value> outputs;
  for (size_t k = 0; k < node.types.size(); ++k) outputs.push_back({id, static_cast<int32_t>(k)});
  g.set_outputs(std::move(outputs));
  return g;
}

/// Equal for kernels that are equal but for names.
uint64_t hash_of(const Kernel& kernel) {
  const Graph& g = kernel.graph;
  uint64_t h = static_cast<uint64_t>(g.id_bound());
  auto add = [&](uint64_t x) { h = combine(h, x); };
  auto add_value = [&](Value v) {
    add(static_cast<uint64_t>(v.node));
    add(static_cast<uint64_t>(v.output));
  };
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    const Node& node = g.node(id);
    add(reinterpret_cast<uintptr_t>(node.op));
    if (node.op) add(hash(node.attrs));
    for (Value v : node.inputs) add_value(v);
    for (const TensorType& t : node.types) {
      add(static_cast<uint64_t>(t.dtype));
      for (const Poly& d : *t.shape) add(hash(d));
      add(t.shape->size());
    }
  }
  for (Value v : g.outputs()) add_value(v);
  for (char weight : kernel.weights) add(static_cast<uint64_t>(weight));
  for (Layout l : kernel.operand_layouts) add(static_cast<uint64_t>(l));
  for (Layout l : kernel.result_layouts) add(static_cast<uint64_t>(l));
  return h;
}

/// The same kernel on operands and results that lie blocked.
Kernel all_blocked(Kernel k) {
  for (size_t i = 0; i < k.operand_layouts.size(); ++i)
    if (!k.weights[i]) k.operand_layouts[i] = Layout::Blocked;
  std::fill(k.result_layouts.begin(), k.result_layouts.end(), Layout::Blocked);
  return k;
}

}  // namespace

// A collision would misprice a call or a kernel, no more.
struct Profiled::Memo {
  std::mutex mutex;
  std::unordered_map<uint64_t, Cost> costs;
  std::unordered_map<uint64_t, KernelPrice> kernels;
};

Profiled::Profiled(Profile profile)
    : profile_(std::move(profile)),
      runtime_(runtime_of(profile_)),
      memo_(std::make_unique<Memo>()) {}
Profiled::~Profiled() = default;

Cost Profiled::single(const Node& node, std::span<const TensorType> operands) const {
  Cost c = Roofline(profile_.machine).cost(node, operands);
  if (node.kind == NodeKind::Call) {
    for (const KernelCall& call : plan(alone(node, operands)).calls) {
      if (call.nodes.empty()) continue;
      auto at = profile_.kernels.find(call.signature);
      if (at == profile_.kernels.end() && runtime_.block > 0)
        at = profile_.kernels.find(signature(all_blocked(normalised(call.kernel))));
      c.microseconds = at != profile_.kernels.end()
                           ? at->second.microseconds
                           : estimate(profile_.machine, call.kernel).microseconds;
    }
  }
  c.microseconds += profile_.overhead;
  return c;
}

Cost Profiled::cost(const Node& node, std::span<const TensorType> operands) const {
  if (node.kind != NodeKind::Call && node.kind != NodeKind::Opaque) return {};
  uint64_t key = call_hash(node, operands);
  {
    std::lock_guard lock(memo_->mutex);
    if (auto it = memo_->costs.find(key); it != memo_->costs.end()) return it->second;
  }
  Cost c = single(node, operands);
  std::lock_guard lock(memo_->mutex);
  memo_->costs.emplace(key, c);
  return c;
}

std::string Profiled::description() const {
  if (profile_.kernels.empty())
    return fmt::format("{} of the kernels that {} fuses", Roofline(profile_.machine).description(),
                       profile_.key.runtime);
  return fmt::format("profile of {}: {} kernels measured, others by a roofline {}",
                     to_string(profile_.key), profile_.kernels.size(),
                     profile_.calibrated ? "fitted to them" : "that is not calibrated");
}

KernelPlan Profiled::plan(const Graph& g, bool signatures) const {
  return plan_kernels(g, runtime_, signatures);
}

KernelPrice Profiled::price(const KernelCall& call) const {
  return call.signature.empty() ? remembered(call.kernel) : price(call.kernel, call.signature);
}

KernelPrice Profiled::price(const Kernel& kernel, std::string_view signature) const {
  auto at = profile_.kernels.find(signature);
  if (at != profile_.kernels.end()) return {at->second.microseconds, true};
  return {estimate(profile_.machine, kernel).microseconds, false};
}

KernelPrice Profiled::remembered(const Kernel& kernel) const {
  const uint64_t key = hash_of(kernel);
  {
    std::lock_guard lock(memo_->mutex);
    if (auto it = memo_->kernels.find(key); it != memo_->kernels.end()) return it->second;
  }
  KernelPrice made = price(kernel, signature(normalised(kernel)));
  std::lock_guard lock(memo_->mutex);
  memo_->kernels.emplace(key, made);
  return made;
}

KernelPrice Profiled::price_of_opaque(const Graph& g, int32_t id) const {
  const Node& node = g.node(id);
  return {Roofline(profile_.machine).cost(node, operand_types(g, node)).microseconds, false};
}

Prediction Profiled::predict(const Graph& g, const KernelPlan& plan) const {
  Prediction p;
  std::unordered_set<std::string_view> missing;
  auto add = [&](const KernelPrice& price) {
    ++p.kernels;
    p.microseconds += price.microseconds + profile_.overhead;
    if (price.measured) return;
    ++p.estimated;
    p.estimated_microseconds += price.microseconds;
  };
  for (const KernelCall& call : plan.calls) {
    KernelPrice price = this->price(call);
    add(price);
    if (price.measured || call.signature.empty()) continue;
    if (missing.insert(call.signature).second) p.missing.push_back(call.signature);
  }
  for (int32_t id : plan.opaque) add(price_of_opaque(g, id));
  return p;
}

std::map<std::string, Kernel> missing_kernels(const KernelPlan& plan, const Profile& profile) {
  std::map<std::string, Kernel> missing;
  for (const KernelCall& call : plan.calls)
    if (!profile.kernels.count(call.signature))
      missing.emplace(call.signature, normalised(call.kernel));
  return missing;
}

}  // namespace regraft::cost
