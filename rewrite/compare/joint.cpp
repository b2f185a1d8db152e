#include "rewrite/compare/joint.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "base/hash.h"

namespace regraft::rewrite {

namespace {

constexpr int32_t kNone = -1;

std::string first_name(const Node& n) { return n.names.empty() ? std::string{} : n.names[0]; }

/// Nothing in the types excludes that they are one: no rank, and no dimension known in both,
/// differs.
bool may_be_one(const TensorType& x, const TensorType& y) {
  if (x.dtype != y.dtype) return false;
  if (!x.shape || !y.shape) return true;
  if (x.shape->size() != y.shape->size()) return false;
  for (size_t d = 0; d < x.shape->size(); ++d) {
    const Poly &p = (*x.shape)[d], &q = (*y.shape)[d];
    if (p.is_constant() && q.is_constant() && !same(p, q)) return false;
  }
  return true;
}

bool may_be_one(const Node& x, const Node& y) {
  return x.inputs.size() == y.inputs.size() &&
         std::equal(x.types.begin(), x.types.end(), y.types.begin(), y.types.end(),
                    [](const TensorType& s, const TensorType& t) { return may_be_one(s, t); });
}

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
    if (same_opaque(n, other) && may_be_one(n, other)) partner[static_cast<size_t>(id)] = found;
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
    size_t nodes = 0;
    for (size_t s = 0; s < 2; ++s) {
      ASSIGN_OR_RETURN(auto order, topological_order(*graphs_[s]));
      place(s, order);
      nodes += order.size();
    }
    part_from_dead();
    size_t numbered = 0;
    while (!ready_.empty()) {
      auto [s, place] = *ready_.begin();
      ready_.erase(ready_.begin());
      numbered += number(s, order_[s][place]);
    }
    if (numbered < nodes)
      return error("the two graphs use their opaque nodes in an order that excludes each other");
    for (size_t s = 0; s < 2; ++s)
      for (Value v : graphs_[s]->outputs())
        joint_.outputs[s].push_back({number_[s][static_cast<size_t>(v.node)], v.output});
    return std::move(joint_);
  }

 private:
  /// A node that no output needs has no number, and stands for none.
  void part_from_dead() {
    for (size_t s = 0; s < 2; ++s)
      for (size_t id = 0; id < partners_[s].size(); ++id) {
        int32_t& p = partners_[s][id];
        if (p == kNone || place_[s][id] == kNone || place_[1 - s][static_cast<size_t>(p)] == kNone)
          p = kNone;
      }
  }

  /// Each node waits for its operands, an opaque one with a partner for the partner's too.
  void place(size_t s, std::vector<int32_t>& order) {
    const Graph& g = *graphs_[s];
    order_[s] = std::move(order);
    for (auto* per_node : {&waits_[s], &place_[s], &input_[s]})
      per_node->assign(static_cast<size_t>(g.id_bound()), kNone);
    for (size_t k = 0; k < g.inputs().size(); ++k)
      input_[s][static_cast<size_t>(g.inputs()[k].node)] = static_cast<int32_t>(k);
    readers_[s].resize(static_cast<size_t>(g.id_bound()));
    for (size_t k = 0; k < order_[s].size(); ++k) {
      int32_t id = order_[s][k];
      place_[s][static_cast<size_t>(id)] = static_cast<int32_t>(k);
      for (Value v : g.node(id).inputs) readers_[s][static_cast<size_t>(v.node)].push_back(id);
      waits_[s][static_cast<size_t>(id)] = static_cast<int32_t>(g.node(id).inputs.size());
      if (waits_[s][static_cast<size_t>(id)] == 0) ready_.emplace(s, k);
    }
  }
  void has_number(size_t s, int32_t id, int32_t number) {
    number_[s][static_cast<size_t>(id)] = number;
    for (int32_t reader : readers_[s][static_cast<size_t>(id)])
      if (--waits_[s][static_cast<size_t>(reader)] == 0)
        ready_.emplace(s, static_cast<size_t>(place_[s][static_cast<size_t>(reader)]));
  }

  std::vector<Value> operands(size_t s, int32_t id) const {
    std::vector<Value> result;
    for (Value v : graphs_[s]->node(id).inputs)
      result.push_back({number_[s][static_cast<size_t>(v.node)], v.output});
    return result;
  }

  /// How many nodes have a number by this. The node's operands have theirs.
  size_t number(size_t s, int32_t id) {
    JointNode n{graphs_[s], &graphs_[s]->node(id), kNone, operands(s, id), {}, {}};
    if (int32_t p = partners_[s][static_cast<size_t>(id)]; p != kNone) {
      if (waits_[1 - s][static_cast<size_t>(p)] > 0) return 0;  // the partner comes when it can
      if (number_[s][static_cast<size_t>(id)] != kNone) return 0;
      n.partner = operands(1 - s, p);
      n.in = {true, true};
      int32_t both = add(std::move(n));
      has_number(s, id, both);
      has_number(1 - s, p, both);
      return 2;
    }
    n.input = input_[s][static_cast<size_t>(id)];
    int32_t mine = n.node->kind == NodeKind::Opaque ? add(std::move(n)) : find_or_add(std::move(n));
    joint_.nodes[static_cast<size_t>(mine)].in[s] = true;
    has_number(s, id, mine);
    return 1;
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
  std::array<std::vector<int32_t>, 2> order_, place_,
      waits_;                                  // by place; by id; by id: operands left
  std::array<std::vector<int32_t>, 2> input_;  // by id: which input of the graph
  std::array<std::vector<std::vector<int32_t>>, 2> readers_;  // by id; once for each operand
  std::set<std::pair<size_t, size_t>> ready_;                 // graph and place
  std::unordered_multimap<uint64_t, int32_t> index_;
  Joint joint_;
};

}  // namespace

Result<Joint> join(const Graph& a, const Graph& b) {
  CHECK(a.inputs().size() == b.inputs().size());
  return Joiner(a, b).run();
}

}  // namespace regraft::rewrite
