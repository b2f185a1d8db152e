#include "verify/model/congruence.h"

#include <algorithm>

#include "base/hash.h"

namespace regraft::verify {
namespace {

/// Operands that may be exchanged, in one order, without those at the end that are absent. What
/// computes with sizes has known elements, however it gets them.
void tidy(const Graph& g, const Node& n, std::vector<Value>& operands) {
  if (n.sizes) operands.clear();
  while (n.kind == NodeKind::Opaque && !operands.empty() &&
         g.node(operands.back().node).kind == NodeKind::Absent)
    operands.pop_back();
  if (n.op && n.op->commutative && operands.size() >= 2 && operands[1] < operands[0])
    std::swap(operands[0], operands[1]);
}

uint64_t outline(const Node& n, const std::vector<Value>& operands) {
  uint64_t h = combine(static_cast<uint64_t>(n.kind), operands.size());
  if (n.kind == NodeKind::Constant) {
    h = combine(h, static_cast<uint64_t>(n.constant->dtype()));
    for (int64_t d : n.constant->dims()) h = combine(h, static_cast<uint64_t>(d));
  }
  if (n.kind == NodeKind::Call) h = combine(combine(h, hash_text(n.op->name)), hash(n.attrs));
  if (n.kind == NodeKind::Opaque && !n.sizes) h = combine(h, short_hash(n.content));
  if (n.sizes)
    for (const SizeElement& e : n.sizes->elements) h = combine(h, hash(e.value));
  for (Value v : operands)
    h = combine(combine(h, static_cast<uint64_t>(v.node)), static_cast<uint64_t>(v.output));
  return h;
}

bool same_sizes(const SizeTensor& a, const SizeTensor& b) {
  return a.dtype == b.dtype && a.dims == b.dims &&
         std::ranges::equal(a.elements, b.elements, [](const auto& x, const auto& y) {
           return x.divisor == y.divisor && same(x.value, y.value);
         });
}

bool same_data(const Node& a, const Node& b) {
  return a.constant && b.constant ? same(*a.constant, *b.constant) : !a.constant && !b.constant;
}

/// One may have more of the outputs, which its content does not say where that changes nothing.
bool same_node(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.op != b.op || !a.sizes != !b.sizes) return false;
  switch (a.kind) {
    case NodeKind::Constant:
      return a.constant->hash() == b.constant->hash() && same(*a.constant, *b.constant);
    case NodeKind::Call:
      return same(a.attrs, b.attrs) && (!a.inputs.empty() || a.types[0].dtype == b.types[0].dtype);
    case NodeKind::Opaque:
      return a.sizes ? same_sizes(*a.sizes, *b.sizes)
                     : a.pure && b.pure && a.content == b.content && same_data(a, b);
    case NodeKind::Absent:
      return true;
    case NodeKind::Input:
      return false;
  }
  return false;
}

}  // namespace

int32_t Congruence::find(const Node& node, std::vector<Value> operands) const {
  tidy(g_, node, operands);
  auto [begin, end] = entries_.equal_range(outline(node, operands));
  int32_t found = -1;
  for (auto it = begin; it != end; ++it) {
    const Entry& e = it->second;
    const Node& other = g_.node(e.id);
    bool fits =
        e.operands == operands && node.types.size() <= other.types.size() && same_node(other, node);
    if (fits && (found < 0 || e.id < found)) found = e.id;
  }
  return found;
}

void Congruence::add(int32_t id, std::vector<Value> operands) {
  const Node& n = g_.node(id);
  tidy(g_, n, operands);
  uint64_t h = outline(n, operands);
  entries_.emplace(h, Entry{id, std::move(operands)});
}

}  // namespace regraft::verify
