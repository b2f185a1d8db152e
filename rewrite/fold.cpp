#include "rewrite/fold.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "ir/eval.h"

namespace regraft::rewrite {

namespace {

int64_t bytes_of(const TensorType& t) {
  auto dims = t.shape ? numeric(*t.shape) : std::nullopt;
  if (!dims) return -1;
  auto n = static_cast<int64_t>(size_of(t.dtype));
  for (int64_t d : *dims) n *= d;
  return n;
}

constexpr int64_t kEager = 1 << 16;  ///< bytes; larger values are computed when they are asked for

/// A call on constants with all that it is made of.
class Cone {
 public:
  /// `order`: the nodes, operands first, the call last.
  Cone(const Graph& g, const std::vector<int32_t>& order) {
    std::map<int32_t, int32_t> places;
    for (int32_t id : order) {
      Step step{g.node_ptr(id), {}};
      for (Value v : step.node->inputs) step.operands.push_back({places.at(v.node), v.output});
      places[id] = static_cast<int32_t>(steps_.size());
      steps_.push_back(std::move(step));
    }
  }

  /// The call's outputs. An Error when a constant cannot be read.
  Result<std::vector<Array<double>>> evaluate() const {
    std::vector<int64_t> uses(steps_.size(), 0);
    for (const Step& step : steps_)
      for (Value v : step.operands) ++uses[static_cast<size_t>(v.node)];
    std::vector<std::vector<Array<double>>> values(steps_.size());
    for (size_t k = 0; k < steps_.size(); ++k) {
      const Node& n = *steps_[k].node;
      if (n.kind == NodeKind::Constant) {
        ASSIGN_OR_RETURN(std::vector<double> data, n.constant->reals());
        values[k].push_back({n.constant->dims(), std::move(data)});
        continue;
      }
      std::vector<const Array<double>*> operands;
      for (Value v : steps_[k].operands)
        operands.push_back(&values[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)]);
      ASSIGN_OR_RETURN(values[k], evaluate_reals(*n.op, operands, *numeric(n.attrs)));
      for (Value v : steps_[k].operands)
        if (--uses[static_cast<size_t>(v.node)] == 0) values[static_cast<size_t>(v.node)] = {};
    }
    return std::move(values.back());
  }

 private:
  struct Step {
    NodePtr node;
    std::vector<Value> operands;  // node: place among the steps
  };
  std::vector<Step> steps_;
};

class Folder {
 public:
  Folder(const Graph& g, int64_t max_bytes)
      : graph_(g), max_bytes_(max_bytes), constant_(constant_nodes(g)), hashes_(value_hashes(g)) {}

  Result<FoldReport> run() {
    std::set<int32_t> roots;
    ASSIGN_OR_RETURN(std::vector<int32_t> order, topological_order(graph_));
    auto want = [&](Value v) {
      if (constant_[static_cast<size_t>(v.node)] && graph_.node(v.node).kind == NodeKind::Call)
        roots.insert(v.node);
    };
    for (int32_t id : order)
      if (!constant_[static_cast<size_t>(id)])
        for (Value v : graph_.node(id).inputs) want(v);
    for (Value v : graph_.outputs()) want(v);
    result_.graph = graph_;
    for (int32_t root : roots) RETURN_IF_ERROR(fold(root));
    remove_dead(result_.graph);
    return std::move(result_);
  }

 private:
  /// The calls that `root` is made of, operands first.
  std::vector<int32_t> cone(int32_t root) const {
    std::vector<int32_t> order, stack{root};
    std::set<int32_t> done;
    while (!stack.empty()) {
      int32_t id = stack.back();
      bool ready = true;
      for (Value v : graph_.node(id).inputs)
        if (!done.count(v.node)) {
          stack.push_back(v.node);
          ready = false;
        }
      if (!ready) continue;
      stack.pop_back();
      if (done.insert(id).second) order.push_back(id);
    }
    return order;
  }

  bool worthwhile(int32_t root, const std::vector<int32_t>& order) const {
    int64_t result = 0, leaves = 0;
    for (const TensorType& t : graph_.node(root).types) result += bytes_of(t);
    for (int32_t id : order)
      if (graph_.node(id).kind == NodeKind::Constant) leaves += bytes_of(graph_.node(id).types[0]);
    return result <= max_bytes_ || result <= leaves || graph_.node(root).inputs.empty();
  }

  bool possible(const std::vector<int32_t>& order) const {
    return std::all_of(order.begin(), order.end(), [&](int32_t id) {
      const Node& n = graph_.node(id);
      bool known =
          std::all_of(n.types.begin(), n.types.end(), [](auto& t) { return bytes_of(t) >= 0; });
      bool usable = n.kind == NodeKind::Constant || (n.kind == NodeKind::Call && numeric(n.attrs));
      return known && usable;
    });
  }

  Status fold(int32_t root) {
    if (!done_.insert(root).second) return {};
    std::vector<int32_t> order = cone(root);
    if (possible(order) && worthwhile(root, order)) return replace(root, order);
    for (Value v : graph_.node(root).inputs)
      if (graph_.node(v.node).kind == NodeKind::Call) RETURN_IF_ERROR(fold(v.node));
    return {};
  }

  Status replace(int32_t root, const std::vector<int32_t>& order) {
    auto cone = std::make_shared<const Cone>(graph_, order);
    const Node& old = graph_.node(root);
    int64_t bytes = 0;
    for (const TensorType& t : old.types) bytes += bytes_of(t);
    std::vector<std::shared_ptr<const Constant>> constants;
    if (bytes <= kEager) {
      ASSIGN_OR_RETURN(auto results, cone->evaluate());
      for (size_t k = 0; k < results.size(); ++k)
        constants.push_back(make_constant(old.types[k].dtype, results[k].shape, results[k].data));
    } else {
      for (size_t k = 0; k < old.types.size(); ++k) constants.push_back(late(cone, root, k));
    }
    put(root, constants);
    return {};
  }

  /// Output k of the cone, computed each time that it is asked for: only one is in memory then.
  std::shared_ptr<const Constant> late(const std::shared_ptr<const Cone>& cone, int32_t root,
                                       size_t k) const {
    const TensorType& type = graph_.node(root).types[k];
    auto load = [cone, k, dtype = type.dtype]() -> Result<std::vector<std::byte>> {
      ASSIGN_OR_RETURN(auto results, cone->evaluate());
      auto data = make_constant(dtype, results[k].shape, results[k].data);
      results.clear();
      return data->bytes();
    };
    return std::make_shared<const Constant>(type.dtype, *numeric(*type.shape), load,
                                            combine(hashes_[static_cast<size_t>(root)], k));
  }

  /// A node with one output becomes a constant in its place; others are redirected to new ones.
  void put(int32_t root, const std::vector<std::shared_ptr<const Constant>>& constants) {
    const Node& old = graph_.node(root);
    ++result_.calls_folded;
    for (size_t k = 0; k < constants.size(); ++k) {
      std::string name = k < old.names.size() ? old.names[k] : std::string{};
      Node constant;
      constant.kind = NodeKind::Constant;
      constant.types = {old.types[k]};
      constant.constant = constants[k];
      if (!name.empty()) constant.names = {name};
      if (constants.size() == 1) {
        result_.graph.replace_node(root, std::move(constant));
      } else {
        int32_t id = result_.graph.add_node(std::move(constant));
        replace_uses(result_.graph, {root, static_cast<int32_t>(k)}, {id, 0});
      }
    }
  }

  const Graph& graph_;
  int64_t max_bytes_;
  std::vector<char> constant_;
  std::vector<uint64_t> hashes_;
  std::set<int32_t> done_;
  FoldReport result_;
};

}  // namespace

Result<FoldReport> fold(const Graph& g, int64_t max_bytes) { return Folder(g, max_bytes).run(); }

}  // namespace regraft::rewrite
