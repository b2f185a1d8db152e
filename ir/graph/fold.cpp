// Constant folding.
#include <algorithm>
#include <map>

#include "ir/graph/eval.h"

namespace regraft {
namespace {

class Folder {
 public:
  Folder(const Graph& g, int64_t max_bytes)
      : g_(g),
        max_bytes_(max_bytes),
        values_(static_cast<size_t>(g.id_bound())),
        uses_left_(static_cast<size_t>(g.id_bound()), 0) {}

  Result<Graph> run() {
    ASSIGN_OR_RETURN(std::vector<int32_t> order, topological_order(g_));
    for (int32_t id : order)
      for (Value v : g_.node(id).inputs) ++uses_left_[static_cast<size_t>(v.node)];
    for (Value v : g_.outputs()) ++uses_left_[static_cast<size_t>(v.node)];
    for (int32_t id : order) RETURN_IF_ERROR(fold(id));
    return with_constants();
  }

 private:
  /// The call has numbers only and its results are small enough.
  bool foldable(const Node& n) const {
    if (n.kind != NodeKind::Call || !numeric(n.attrs)) return false;
    for (const TensorType& t : n.types) {
      auto dims = t.shape ? numeric(*t.shape) : std::nullopt;
      if (!dims) return false;
      auto bytes = static_cast<int64_t>(size_of(t.dtype));
      for (int64_t d : *dims)
        if (d < 1 || __builtin_mul_overflow(bytes, d, &bytes)) return false;
      if (bytes > max_bytes_) return false;
    }
    return std::all_of(n.inputs.begin(), n.inputs.end(), [&](Value v) {
      const Node& operand = g_.node(v.node);
      return operand.kind == NodeKind::Constant || !values_[static_cast<size_t>(v.node)].empty();
    });
  }

  Status fold(int32_t id) {
    const Node& n = g_.node(id);
    if (!foldable(n)) return {};
    std::map<int32_t, Array<double>> loaded;  // dropped after this call
    for (Value v : n.inputs) {
      const Node& operand = g_.node(v.node);
      if (operand.kind != NodeKind::Constant || loaded.count(v.node)) continue;
      ASSIGN_OR_RETURN(std::vector<double> data, operand.constant->reals());
      loaded[v.node] = {operand.constant->dims(), std::move(data)};
    }
    std::vector<const Array<double>*> operands;
    for (Value v : n.inputs) {
      auto it = loaded.find(v.node);
      operands.push_back(
          it != loaded.end()
              ? &it->second
              : &values_[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)]);
    }
    auto results = evaluate_reals(*n.op, operands, *numeric(n.attrs));
    if (!results) return {};  // not well-formed at these numbers: stays as it is
    values_[static_cast<size_t>(id)] = *std::move(results);
    for (Value v : n.inputs)
      if (--uses_left_[static_cast<size_t>(v.node)] == 0) values_[static_cast<size_t>(v.node)] = {};
    return {};
  }

  std::shared_ptr<const Constant> rounded(Value v) const {
    const Array<double>& a = values_[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
    return make_constant(g_.type(v).dtype, a.shape, a.data);
  }

  /// Folded calls that something else still uses become constants: in place, or one for each
  /// output.
  Graph with_constants() {
    Graph r = g_;
    std::map<Value, Value> moved;
    for (int32_t id = 0; id < g_.id_bound(); ++id) {
      auto& outputs = values_[static_cast<size_t>(id)];
      const auto* names = outputs.empty() ? nullptr : &g_.node(id).names;
      for (size_t k = 0; k < outputs.size(); ++k) {
        Value v{id, static_cast<int32_t>(k)};
        Node constant;
        constant.kind = NodeKind::Constant;
        constant.types = {g_.type(v)};
        constant.constant = rounded(v);
        if (k < names->size()) constant.names = {(*names)[k]};
        if (outputs.size() == 1)
          r.replace_node(id, std::move(constant));
        else
          moved[v] = {r.add_node(std::move(constant)), 0};
      }
      outputs = {};
    }
    redirect(r, moved);
    remove_dead(r);
    return r;
  }

  static void redirect(Graph& g, const std::map<Value, Value>& moved) {
    if (moved.empty()) return;
    auto target = [&](Value v) {
      auto it = moved.find(v);
      return it == moved.end() ? v : it->second;
    };
    for (int32_t id = 0; id < g.id_bound(); ++id) {
      if (!g.contains(id)) continue;
      const auto& inputs = g.node(id).inputs;
      if (std::none_of(inputs.begin(), inputs.end(), [&](Value v) { return moved.count(v) > 0; }))
        continue;
      Node n = g.node(id);
      std::transform(n.inputs.begin(), n.inputs.end(), n.inputs.begin(), target);
      g.replace_node(id, std::move(n));
    }
    std::vector<Value> outputs = g.outputs();
    std::transform(outputs.begin(), outputs.end(), outputs.begin(), target);
    g.set_outputs(std::move(outputs));
  }

  const Graph& g_;
  int64_t max_bytes_;
  std::vector<std::vector<Array<double>>> values_;  // by id, of folded calls still in use
  std::vector<int32_t> uses_left_;
};

}  // namespace

Result<Graph> fold_constants(const Graph& g, int64_t max_bytes) {
  return Folder(g, max_bytes).run();
}

}  // namespace regraft
