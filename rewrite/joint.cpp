#include "rewrite/joint.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/check.h"
#include "base/hash.h"

namespace regraft::rewrite {

namespace {

constexpr int32_t kNone = -1;

std::string first_name(const Node& n) { return n.names.empty() ? std::string{} : n.names[0]; }

/// By id in a: the opaque node of b that stands for the same node of the model, or kNone.
std::vector<int32_t> pair_opaque(const Graph& a, const Graph& b) {
  std::map<std::string, int32_t> by_name;
  std::map<int32_t, int32_t> by_origin;
  for (int32_t id = 0; id < b.id_bound(); ++id) {
    if (!b.contains(id) || b.node(id).kind != NodeKind::Opaque) continue;
    if (!first_name(b.node(id)).empty()) by_name.emplace(first_name(b.node(id)), id);
    if (b.node(id).origin >= 0) by_origin.emplace(b.node(id).origin, id);
  }
  std::vector<int32_t> partner(static_cast<size_t>(a.id_bound()), kNone);
  for (int32_t id = 0; id < a.id_bound(); ++id) {
    if (!a.contains(id) || a.node(id).kind != NodeKind::Opaque) continue;
    const Node& n = a.node(id);
    int32_t found = kNone;
    if (auto it = by_name.find(first_name(n)); it != by_name.end()) found = it->second;
    if (auto it = by_origin.find(n.origin); found == kNone && it != by_origin.end())
      found = it->second;
    if (found == kNone) continue;
    const Node& other = b.node(found);
    bool alike = same_opaque(n, other) && other.inputs.size() == n.inputs.size();
    if (alike) partner[static_cast<size_t>(id)] = found;
  }
  return partner;
}

class Joiner {
 public:
  Joiner(const Graph& a, const Graph& b) : graphs_{&a, &b} {
    partners_[0] = pair_opaque(a, b);
    partners_[1].assign(static_cast<size_t>(b.id_bound()), kNone);
    for (int32_t id = 0; id < a.id_bound(); ++id)
      if (int32_t p = partners_[0][static_cast<size_t>(id)]; p != kNone)
        partners_[1][static_cast<size_t>(p)] = id;
    for (size_t s = 0; s < 2; ++s)
      number_[s].assign(static_cast<size_t>(graphs_[s]->id_bound()), kNone);
  }

  Result<Joint> run() {
    std::array<std::vector<int32_t>, 2> left;
    for (size_t s = 0; s < 2; ++s) {
      ASSIGN_OR_RETURN(left[s], topological_order(*graphs_[s]));
    }
    // A paired opaque node waits until both graphs have its operands.
    while (!left[0].empty() || !left[1].empty()) {
      size_t before = left[0].size() + left[1].size();
      for (size_t s = 0; s < 2; ++s)
        std::erase_if(left[s], [&](int32_t id) { return number(s, id); });
      if (left[0].size() + left[1].size() == before)
        return error("the two graphs use their opaque nodes in an order that excludes each other");
    }
    for (size_t s = 0; s < 2; ++s)
      for (Value v : graphs_[s]->outputs())
        joint_.outputs[s].push_back({number_[s][static_cast<size_t>(v.node)], v.output});
    return std::move(joint_);
  }

 private:
  /// Operands in joint numbers; nullopt when one has none yet.
  std::optional<std::vector<Value>> operands(size_t s, int32_t id) const {
    std::vector<Value> result;
    for (Value v : graphs_[s]->node(id).inputs) {
      int32_t n = number_[s][static_cast<size_t>(v.node)];
      if (n == kNone) return std::nullopt;
      result.push_back({n, v.output});
    }
    return result;
  }

  bool number(size_t s, int32_t id) {
    int32_t& mine = number_[s][static_cast<size_t>(id)];
    if (mine != kNone) return true;
    auto inputs = operands(s, id);
    if (!inputs) return false;
    JointNode n{graphs_[s], &graphs_[s]->node(id), kNone, *std::move(inputs), {}, {}};
    if (int32_t p = partners_[s][static_cast<size_t>(id)]; p != kNone) {
      auto others = operands(1 - s, p);
      if (!others) return false;
      n.partner = *std::move(others);
      n.in = {true, true};
      mine = add(std::move(n));
      number_[1 - s][static_cast<size_t>(p)] = mine;
      return true;
    }
    const auto& ins = graphs_[s]->inputs();
    n.input = static_cast<int32_t>(std::find(ins.begin(), ins.end(), Value{id, 0}) - ins.begin());
    if (n.node->kind != NodeKind::Input) n.input = kNone;
    mine = n.node->kind == NodeKind::Opaque ? add(std::move(n)) : find_or_add(std::move(n));
    joint_.nodes[static_cast<size_t>(mine)].in[s] = true;
    return true;
  }

  int32_t add(JointNode n) {
    joint_.nodes.push_back(std::move(n));
    return static_cast<int32_t>(joint_.nodes.size() - 1);
  }

  int32_t find_or_add(JointNode n) {
    uint64_t h = combine(static_cast<uint64_t>(n.node->kind), static_cast<uint64_t>(n.input + 1));
    if (n.node->op) h = combine(h, hash_text(n.node->op->name));
    if (n.node->constant) h = combine(h, hash_of(n.node->constant));
    for (Value v : n.inputs)
      h = combine(combine(h, static_cast<uint64_t>(v.node)), static_cast<uint64_t>(v.output));
    auto [begin, end] = index_.equal_range(h);
    for (auto it = begin; it != end; ++it)
      if (equal(joint_.nodes[static_cast<size_t>(it->second)], n)) return it->second;
    int32_t id = add(std::move(n));
    index_.emplace(h, id);
    return id;
  }

  /// Large data is only itself: it is not read for the sake of this.
  static bool is_small(const Constant& c) {
    constexpr int64_t kElements = 1 << 16;
    return c.count() <= kElements;
  }
  static uint64_t hash_of(const std::shared_ptr<const Constant>& c) {
    return is_small(*c) ? c->hash().low : reinterpret_cast<uintptr_t>(c.get());
  }

  static bool equal(const JointNode& x, const JointNode& y) {
    const Node &a = *x.node, &b = *y.node;
    if (a.kind != b.kind || a.op != b.op || x.input != y.input || x.inputs != y.inputs)
      return false;
    if (a.kind == NodeKind::Constant)
      return a.constant == b.constant || (is_small(*a.constant) && same(*a.constant, *b.constant));
    return a.kind != NodeKind::Call || equal_attrs(x, y);
  }
  static bool equal_attrs(const JointNode& x, const JointNode& y) {
    if (x.graph->shared_pool() == y.graph->shared_pool()) return same(x.node->attrs, y.node->attrs);
    auto a = numeric(x.node->attrs), b = numeric(y.node->attrs);
    return a && b && same(symbolic(*a), symbolic(*b));
  }

  std::array<const Graph*, 2> graphs_;
  std::array<std::vector<int32_t>, 2> partners_, number_;
  std::unordered_multimap<uint64_t, int32_t> index_;
  Joint joint_;
};

}  // namespace

Result<Joint> join(const Graph& a, const Graph& b) {
  CHECK(a.inputs().size() == b.inputs().size());
  return Joiner(a, b).run();
}

}  // namespace regraft::rewrite
