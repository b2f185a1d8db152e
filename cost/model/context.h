#pragma once
// What the planning of kernels looks up in a graph.
#include <algorithm>
#include <set>

#include "base/check.h"
#include "cost/model/kernel.h"

namespace regraft::cost {

/// Of each node: the numbers of those that read it, and as which operand, by number.
class Uses {
 public:
  using Use = std::pair<int32_t, int32_t>;
  Uses() = default;
  /// By live nodes, which have a position.
  Uses(const Graph& g, const std::vector<int32_t>& position)
      : first_(static_cast<size_t>(g.id_bound()) + 1, 0) {
    auto visit = [&](auto&& use) {
      for (int32_t id = 0; id < g.id_bound(); ++id) {
        if (position[static_cast<size_t>(id)] < 0) continue;
        const auto& inputs = g.node(id).inputs;
        for (size_t k = 0; k < inputs.size(); ++k)
          use(static_cast<size_t>(inputs[k].node), Use{id, static_cast<int32_t>(k)});
      }
    };
    visit([&](size_t of, Use) { ++first_[of + 1]; });
    for (size_t k = 1; k < first_.size(); ++k) first_[k] += first_[k - 1];
    all_.resize(first_.back());
    std::vector<size_t> next(first_.begin(), first_.end() - 1);
    visit([&](size_t of, Use use) { all_[next[of]++] = use; });
  }
  std::span<const Use> operator[](size_t id) const {
    return std::span(all_).subspan(first_[id], first_[id + 1] - first_[id]);
  }

 private:
  std::vector<size_t> first_;  // by node; the end of all behind them
  std::vector<Use> all_;
};

/// A graph with numbers for sizes, and what the planning looks up in it.
struct Context {
  const Graph& g;
  const Runtime& runtime;
  std::vector<int32_t> order;     // live nodes, operands first
  std::vector<int32_t> position;  // of each id in `order`; -1: dead
  std::vector<char> constant;     // of each id that is live
  Uses uses;                      // by live nodes
  std::set<Value> outputs;

  Context(const Graph& graph, const Runtime& r) : g(graph), runtime(r) {
    auto sorted = topological_order(g);
    CHECK(sorted.has_value());
    order = *std::move(sorted);
    position.assign(static_cast<size_t>(g.id_bound()), -1);
    for (size_t k = 0; k < order.size(); ++k)
      position[static_cast<size_t>(order[k])] = static_cast<int32_t>(k);
    constant.assign(position.size(), 0);
    for (int32_t id : order) {
      const Node& n = g.node(id);
      constant[static_cast<size_t>(id)] =
          n.kind != NodeKind::Input && n.kind != NodeKind::Opaque &&
          std::ranges::all_of(n.inputs, [&](Value v) { return is_constant(v); });
    }
    uses = Uses(g, position);
    outputs.insert(g.outputs().begin(), g.outputs().end());
  }
  bool is_constant(Value v) const { return constant[static_cast<size_t>(v.node)] != 0; }
  bool runs(int32_t id) const {
    return g.node(id).kind == NodeKind::Call && !constant[static_cast<size_t>(id)];
  }
  int32_t at(int32_t id) const { return position[static_cast<size_t>(id)]; }
  Fusion fusion(int32_t id) const { return g.node(id).op->fusion; }
};

}  // namespace regraft::cost
