#include "cost/model/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "base/hash.h"
#include "cost/model/kernel.h"

namespace regraft::cost {

namespace {

void collect(const Poly& p, Valuation& values) {
  for (const auto& [monomial, coefficient] : p.terms())
    for (Var v : monomial) {
      if (v->numerator) {
        collect(*v->numerator, values);
        collect(*v->denominator, values);
      } else {
        values.emplace(v, std::max(v->typical, v->min));
      }
    }
}

uint64_t hash_of(const TensorType& t) {
  uint64_t h = combine(static_cast<uint64_t>(t.dtype), t.shape ? t.shape->size() : 99);
  if (t.shape)
    for (const Poly& d : *t.shape) h = combine(h, hash(d));
  return h;
}

std::vector<int64_t> typical(const Shape& shape) {
  std::vector<int64_t> dims;
  for (const Poly& d : shape) dims.push_back(cost::typical(d));
  return dims;
}

double count(const std::vector<int64_t>& dims) {
  double n = 1;
  for (int64_t d : dims) n *= static_cast<double>(d);
  return n;
}

/// 0 when the shape is unknown.
double bytes_of(const TensorType& t) {
  return t.shape ? count(typical(*t.shape)) * static_cast<double>(size_of(t.dtype)) : 0;
}

double flops_of(const Node& node, std::span<const TensorType> operands) {
  std::vector<std::vector<int64_t>> shapes;
  for (const auto& t : operands) {
    if (!t.shape) return 0;
    shapes.push_back(typical(*t.shape));
  }
  Valuation values;
  for (const auto& list : node.attrs.ints)
    for (const Poly& p : list) collect(p, values);
  return operation_count(*node.op, shapes, evaluate(node.attrs, values));
}

/// A formula without arithmetic copies: it reads no more than it writes. A foreign node may look
/// into a table: of each operand it reads a few times what it writes at most.
double traffic(const Node& node, std::span<const TensorType> operands, double flops) {
  double read = 0, written = 0;
  constexpr double kLookup = 4;
  for (const auto& t : node.types) written += bytes_of(t);
  for (const auto& t : operands) {
    double bytes = bytes_of(t);
    bool foreign = node.kind == NodeKind::Opaque && written > 0;
    read += foreign ? std::min(bytes, kLookup * written) : bytes;
  }
  if (node.kind == NodeKind::Call && flops == 0) read = std::min(read, written);
  return read + written;
}

double efficiency(const Machine& m, double intensity) {
  double x = (intensity - m.low_intensity) / (m.high_intensity - m.low_intensity);
  return m.low_efficiency + (m.high_efficiency - m.low_efficiency) * std::clamp(x, 0.0, 1.0);
}

Cost estimate(const Machine& m, const Node& node, std::span<const TensorType> operands) {
  Cost c;
  Kind kind = Kind::Movement;
  if (node.kind == NodeKind::Call) {
    c.flops = flops_of(node, operands);
    kind = kind_of(*node.op, node.attrs, operands);
  }
  c.bytes = traffic(node, operands, c.flops);
  c.microseconds = microseconds(m, kind, c.flops, c.bytes);
  return c;
}

}  // namespace

double microseconds(const Machine& m, Kind kind, double flops, double bytes) {
  const Rate& rate = m.rates[static_cast<size_t>(kind)];
  double gflops =
      rate.gflops > 0 ? rate.gflops : m.peak_gflops * efficiency(m, flops / std::max(bytes, 1.0));
  double gbytes = rate.gbytes > 0 ? rate.gbytes : m.bandwidth_gbytes;
  return m.launch_microseconds + std::max(flops / (gflops * 1e3), bytes / (gbytes * 1e3));
}

Kind kind_of(const Kernel& kernel) {
  const Graph& g = kernel.graph;
  if (kernel.is_reorder()) return Kind::Reorder;
  for (int32_t id : full_order(g)) {
    const Node& node = g.node(id);
    if (node.kind != NodeKind::Call || node.inputs.empty()) continue;
    Kind kind = kind_of(*node.op, node.attrs, operand_types(g, node));
    bool blocked = kernel.result_layouts[0] == Layout::Blocked;
    return kind == Kind::GroupedConv && blocked ? Kind::BlockedGroupedConv : kind;
  }
  return Kind::Movement;
}

Cost estimate(const Machine& m, const Kernel& kernel) {
  const Graph& g = kernel.graph;
  Cost c;
  double written = 0;
  for (Value v : g.outputs()) written += bytes_of(g.type(v));
  for (Value v : g.inputs()) c.bytes += bytes_of(g.type(v));
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    const Node& node = g.node(id);
    if (node.kind != NodeKind::Call || node.inputs.empty()) continue;
    c.flops += flops_of(node, operand_types(g, node));
  }
  if (c.flops == 0) c.bytes = std::min(c.bytes, written);
  c.bytes += written;
  c.microseconds = microseconds(m, kind_of(kernel), c.flops, c.bytes);
  return c;
}

uint64_t call_hash(const Node& node, std::span<const TensorType> operands) {
  uint64_t h = combine(static_cast<uint64_t>(node.kind), operands.size());
  if (node.kind == NodeKind::Call)
    h = combine(combine(h, hash_text(node.op->name)), hash(node.attrs));
  for (const auto& t : operands) h = combine(h, hash_of(t));
  for (const auto& t : node.types) h = combine(h, hash_of(t));
  return h;
}

/// What a size counts as that has no number of 64 bits.
constexpr int64_t kHuge = int64_t{1} << 40;

int64_t value_at(const Poly& p) {
  if (p.is_constant()) return p.constant();
  Valuation values;
  collect(p, values);
  try {
    return evaluate(p, values);
  } catch (const PolyOverflow&) {
    return kHuge;
  }
}
int64_t typical(const Poly& size) { return std::max<int64_t>(value_at(size), 0); }

struct Roofline::Memo {
  std::mutex mutex;
  std::unordered_map<uint64_t, Cost> costs;  // a collision would misprice a call, no more
};

Roofline::Roofline(Machine machine) : machine_(machine), memo_(std::make_unique<Memo>()) {}
Roofline::~Roofline() = default;

Cost Roofline::cost(const Node& node, std::span<const TensorType> operands) const {
  if (node.kind != NodeKind::Call && node.kind != NodeKind::Opaque) return {};
  uint64_t key = call_hash(node, operands);
  {
    std::lock_guard lock(memo_->mutex);
    if (auto it = memo_->costs.find(key); it != memo_->costs.end()) return it->second;
  }
  Cost c = estimate(machine_, node, operands);
  std::lock_guard lock(memo_->mutex);
  memo_->costs.emplace(key, c);
  return c;
}

std::string Roofline::description() const {
  return fmt::format(
      "roofline: {} GFLOP/s peak, reached to {}% at {} and {}% at {} operations a byte, {} GB/s, "
      "{} us a call",
      machine_.peak_gflops, machine_.low_efficiency * 100, machine_.low_intensity,
      machine_.high_efficiency * 100, machine_.high_intensity, machine_.bandwidth_gbytes,
      machine_.launch_microseconds);
}

}  // namespace regraft::cost
