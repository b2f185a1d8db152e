// What runtimes do to weights before the first run makes kernels equal that are written
// differently.
#include <algorithm>
#include <set>

#include "base/check.h"
#include "cost/model/kernel.h"

namespace regraft::cost {
namespace {

/// Rebuilds a kernel without the calls that a convolution's weights and bias take in.
class Folding {
 public:
  explicit Folding(const Kernel& k) : k_(k), g_(k.graph), uses_(consumers(k.graph)) {
    for (size_t i = 0; i < g_.inputs().size(); ++i) is_weight_[g_.inputs()[i]] = k.weights[i] != 0;
  }

  std::optional<Kernel> run() {
    int32_t conv = anchor();
    if (conv < 0) return std::nullopt;
    int32_t last = conv;
    while (int32_t next = absorbed(last)) dropped_.insert(last = next);
    if (last == conv && g_.node(conv).inputs.size() == 3) return std::nullopt;
    return rebuild(conv, last);
  }

 private:
  bool is_weight(Value v) const {
    auto it = is_weight_.find(v);
    return it != is_weight_.end() && it->second;
  }
  bool is_scalar(Value v) const {
    const Node& n = g_.node(v.node);
    return n.kind == NodeKind::Call && n.inputs.empty();
  }

  /// The convolution whose kernel is a weight; -1: there is none.
  int32_t anchor() const {
    for (int32_t id = 0; id < g_.id_bound(); ++id) {
      const Node& n = g_.node(id);
      if (n.kind != NodeKind::Call || n.op->work != Work::Convolution ||
          n.op->fusion != Fusion::Anchor)
        continue;
      bool known =
          std::all_of(n.inputs.begin() + 1, n.inputs.end(), [&](Value v) { return is_weight(v); });
      return known ? id : -1;
    }
    return -1;
  }

  /// One number for each channel, or one for all.
  bool is_for_channels(Value v, const Shape& out) const {
    if (is_scalar(v)) return true;
    if (!is_weight(v)) return false;
    const Shape& shape = g_.shape(v);
    for (size_t d = 0; d < shape.size(); ++d) {
      size_t axis = out.size() - shape.size() + d;
      if (!is_one(shape[d]) && axis != 1) return false;
    }
    return shape.size() <= out.size();
  }

  /// The only reader of `id`, when it scales or shifts the channels; 0: there is none.
  int32_t absorbed(int32_t id) const {
    bool is_result = std::any_of(g_.outputs().begin(), g_.outputs().end(),
                                 [&](Value v) { return v.node == id; });
    const auto& uses = uses_[static_cast<size_t>(id)];
    if (is_result || uses.size() != 1) return 0;
    const Node& n = g_.node(uses[0].first);
    Arithmetic form = n.op->arithmetic;
    bool scales = form != Arithmetic::None && (form != Arithmetic::Quotient || uses[0].second == 0);
    if (n.op->channel_affine && uses[0].second == 0) {
      bool known = std::all_of(n.inputs.begin() + 1, n.inputs.end(),
                               [&](Value v) { return is_weight(v) || is_scalar(v); });
      return known ? uses[0].first : 0;
    }
    if (!scales) return 0;
    Value other = n.inputs[static_cast<size_t>(1 - uses[0].second)];
    return is_for_channels(other, *n.types[0].shape) ? uses[0].first : 0;
  }

  Kernel rebuild(int32_t conv, int32_t last) const {
    Kernel r;
    std::map<Value, Value> now;
    auto read = [&](Value v) {  // by a call that stays
      for (auto [user, index] : uses_[static_cast<size_t>(v.node)])
        if (g_.node(user).inputs[static_cast<size_t>(index)] == v && !dropped_.count(user))
          return true;
      return false;
    };
    auto add_input = [&](const TensorType& t, bool weight, Layout layout) {
      r.weights.push_back(weight);
      r.operand_layouts.push_back(layout);
      return r.graph.add_input(t);
    };
    const Node& node = g_.node(conv);
    for (size_t i = 0; i < g_.inputs().size(); ++i) {
      Value v = g_.inputs()[i];
      if (read(v)) now[v] = add_input(g_.type(v), k_.weights[i] != 0, k_.operand_layouts[i]);
      if (v != node.inputs[1] || node.inputs.size() == 3) continue;
      now[{conv, -1}] = add_input({DType::F32, Shape{g_.shape(v)[0]}}, true, Layout::Plain);
    }
    for (int32_t id : full_order(g_)) {
      Node n = g_.node(id);
      if (n.kind != NodeKind::Call || dropped_.count(id) || (n.inputs.empty() && !read({id, 0})))
        continue;
      for (Value& v : n.inputs) v = {now.at({v.node, 0}).node, v.output};
      if (id == conv && n.inputs.size() == 2) n.inputs.push_back(now.at({conv, -1}));
      Value made{r.graph.add_node(std::move(n)), 0};
      now[{id, 0}] = made;
      if (id == conv) now[{last, 0}] = made;
    }
    std::vector<Value> outputs;
    for (Value v : g_.outputs()) outputs.push_back({now.at({v.node, 0}).node, v.output});
    r.graph.set_outputs(std::move(outputs));
    r.result_layouts = k_.result_layouts;
    return r;
  }
  const Kernel& k_;
  const Graph& g_;
  std::vector<std::vector<std::pair<int32_t, int32_t>>> uses_;
  std::map<Value, bool> is_weight_;
  std::set<int32_t> dropped_;  // calls that the weights take in
};

}  // namespace

Kernel normalised(Kernel kernel) {
  if (kernel.is_reorder()) return kernel;
  auto folded = Folding(kernel).run();
  return folded ? *std::move(folded) : kernel;
}

}  // namespace regraft::cost
