#include "ir/graph/equal_nodes.h"

#include "base/hash.h"

namespace regraft {
namespace {

bool is_comparable(const Node& n) {
  return n.kind == NodeKind::Call || n.kind == NodeKind::Constant ||
         (n.kind == NodeKind::Opaque && n.pure && !n.constant);
}

/// Of type and dimensions: data is read where another constant has the same.
uint64_t outline(const Constant& c) {
  uint64_t h = static_cast<uint64_t>(c.dtype());
  for (int64_t d : c.dims()) h = combine(h, static_cast<uint64_t>(d));
  return h;
}

uint64_t hash_of(const Node& n) {
  uint64_t h = combine(static_cast<uint64_t>(n.kind), n.inputs.size());
  if (n.kind == NodeKind::Constant) return combine(h, outline(*n.constant));
  if (n.kind == NodeKind::Call) h = combine(combine(h, hash_text(n.op->name)), hash(n.attrs));
  if (n.kind == NodeKind::Opaque) h = combine(h, short_hash(n.content));
  for (Value v : n.inputs)
    h = combine(combine(h, static_cast<uint64_t>(v.node)), static_cast<uint64_t>(v.output));
  return h;
}

bool equal(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.op != b.op || a.inputs != b.inputs) return false;
  if (a.kind == NodeKind::Constant)
    return a.constant->hash() == b.constant->hash() && same(*a.constant, *b.constant);
  return a.kind == NodeKind::Call ? same(a.attrs, b.attrs) : same_opaque(a, b);
}

}  // namespace

int32_t EqualNodes::find(const Node& node) const {
  if (!is_comparable(node)) return -1;
  for (auto [it, end] = nodes_.equal_range(hash_of(node)); it != end; ++it)
    if (equal(node, g_.node(it->second))) return it->second;
  return -1;
}

void EqualNodes::add(int32_t id) {
  if (is_comparable(g_.node(id))) nodes_.emplace(hash_of(g_.node(id)), id);
}

}  // namespace regraft
