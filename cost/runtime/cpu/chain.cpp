#include "cost/runtime/cpu/chain.h"

#include <algorithm>
#include <map>

namespace regraft::cost::cpu {

namespace {

using dnnl::algorithm;

std::optional<std::vector<double>> constant_data(const Graph& g, Value v) {
  const Node& n = g.node(v.node);
  if (n.kind != NodeKind::Constant) return std::nullopt;
  auto data = n.constant->reals();
  if (!data) return std::nullopt;
  return *data;
}

/// Grows a convolution or product over a graph.
class Grower {
 public:
  Grower(const Graph& g, const std::vector<std::vector<std::pair<int32_t, int32_t>>>& users,
         std::vector<char>& taken)
      : g_(g), users_(users), taken_(taken) {}

  Unit from(int32_t root) {
    Unit c;
    c.nodes = {root};
    const Node& n = g_.node(root);
    shape_ = *numeric(*n.types[0].shape);
    axis_ = n.op->name == "conv" ? 1 : static_cast<int>(shape_.size()) - 1;
    can_scale_ = g_.node(n.inputs[1].node).kind == NodeKind::Constant &&
                 (n.op->name != "matmul" || g_.shape(n.inputs[1]).size() == 2);
    if (n.inputs.size() > 2) {
      bool constant = g_.node(n.inputs[2].node).kind == NodeKind::Constant;
      summed_ = n.op->name == "gemm" && !channel_vector(n.inputs[2]);
      can_scale_ = can_scale_ && constant && !summed_;
    }
    while (extend(c)) {
    }
    return c;
  }

 private:
  std::optional<std::vector<double>> channel_vector(Value v) const {
    return cpu::channel_vector(g_, v, shape_, axis_);
  }
  bool extend(Unit& c) {
    int32_t last = c.nodes.back();
    for (Value out : g_.outputs())
      if (out.node == last) return false;
    const auto& uses = users_[static_cast<size_t>(last)];
    if (uses.size() != 1 || taken_[static_cast<size_t>(uses[0].first)]) return false;
    int32_t next = uses[0].first;
    const Node& n = g_.node(next);
    if (n.kind != NodeKind::Call || !absorb(c, n, uses[0].second)) return false;
    taken_[static_cast<size_t>(next)] = 1;
    c.nodes.push_back(next);
    if (c.post.empty()) c.folded = c.nodes.size();
    return true;
  }
  bool absorb(Unit& c, const Node& n, int32_t operand) {
    if (numeric(*n.types[0].shape) != shape_) return false;
    if (c.post.empty() && fold(c, n, operand)) return true;
    if (auto functions = as_functions(g_, n, n.inputs[static_cast<size_t>(operand)])) {
      c.post.insert(c.post.end(), functions->begin(), functions->end());
      return true;
    }
    algorithm binary = binary_algorithm(n.op->name);
    if (binary == algorithm::undef) return false;
    return add_sum(c, n, operand) || add_channels(c, n, operand, binary);
  }
  /// A sum with a tensor of the same shape.
  bool add_sum(Unit& c, const Node& n, int32_t operand) {
    Value other = n.inputs[static_cast<size_t>(1 - operand)];
    if (n.op->name != "add" || summed_ || numeric(g_.shape(other)) != shape_) return false;
    summed_ = true;
    c.post.push_back({PostOp::Kind::Sum, algorithm::undef, 1, 0, other, {}});
    return true;
  }
  bool add_channels(Unit& c, const Node& n, int32_t operand, algorithm op) {
    bool commutes = op == algorithm::binary_add || op == algorithm::binary_mul;
    if (operand != 0 && !commutes) return false;
    auto v = channel_vector(n.inputs[static_cast<size_t>(1 - operand)]);
    if (!v) return false;
    c.post.push_back({PostOp::Kind::Binary, op, 0, 0, {}, {v->begin(), v->end()}});
    return true;
  }
  /// y = scale * x + shift into the chain's.
  bool compose(Unit& c, const std::vector<double>& scale, const std::vector<double>& shift) {
    bool scales = std::any_of(scale.begin(), scale.end(), [](double s) { return s != 1; });
    if (scales && !can_scale_) return false;
    if (c.scale.empty()) c.scale.assign(scale.size(), 1), c.shift.assign(scale.size(), 0);
    for (size_t k = 0; k < scale.size(); ++k) {
      c.scale[k] *= scale[k];
      c.shift[k] = c.shift[k] * scale[k] + shift[k];
    }
    return true;
  }
  bool fold(Unit& c, const Node& n, int32_t operand) {
    auto width = static_cast<size_t>(shape_[static_cast<size_t>(axis_)]);
    std::vector<double> ones(width, 1), zeros(width, 0);
    std::string_view op = n.op->name;
    if (op == "neg") return compose(c, std::vector<double>(width, -1), zeros);
    if (binary_algorithm(op) == algorithm::undef) return false;
    auto v = channel_vector(n.inputs[static_cast<size_t>(1 - operand)]);
    if (!v) return false;
    if (op == "add") return compose(c, ones, *v);
    if (op == "mul") return compose(c, *v, zeros);
    for (double& x : *v) x = op == "sub" ? -x : 1 / x;
    if (op == "div") return operand == 0 && compose(c, *v, zeros);
    if (operand == 0) return compose(c, ones, *v);
    for (double& x : *v) x = -x;
    return compose(c, std::vector<double>(width, -1), *v);
  }
  const Graph& g_;
  const std::vector<std::vector<std::pair<int32_t, int32_t>>>& users_;
  std::vector<char>& taken_;
  bool can_scale_ = false;
  bool summed_ = false;  // the root's result is added onto a tensor
  std::vector<int64_t> shape_;
  int axis_ = 0;
};

PostOp function(algorithm a, double alpha, double beta) {
  return {PostOp::Kind::Function, a, static_cast<float>(alpha), static_cast<float>(beta), {}, {}};
}

/// left op right where one of them is the constant c.
std::optional<std::vector<PostOp>> with_scalar(std::string_view op, double c, bool constant_left) {
  constexpr auto linear = algorithm::eltwise_linear;
  if (op == "add") return {{function(linear, 1, c)}};
  if (op == "mul") return {{function(linear, c, 0)}};
  if (op == "sub") return {{constant_left ? function(linear, -1, c) : function(linear, 1, -c)}};
  if (op != "div") return std::nullopt;
  return {{constant_left ? function(algorithm::eltwise_pow, c, -1) : function(linear, 1 / c, 0)}};
}

}  // namespace

std::string to_string(const PostOp& post) {
  if (post.kind == PostOp::Kind::Sum) return " sum";
  std::string s = " " + std::to_string(static_cast<int>(post.algorithm));
  if (post.kind == PostOp::Kind::Binary) return s + " channels";
  return s + "(" + std::to_string(post.alpha) + "," + std::to_string(post.beta) + ")";
}

std::optional<double> scalar_constant(const Graph& g, Value v) {
  const Node& n = g.node(v.node);
  if (n.kind != NodeKind::Constant || n.constant->count() != 1) return std::nullopt;
  auto data = constant_data(g, v);
  if (!data) return std::nullopt;
  return (*data)[0];
}

std::optional<std::vector<double>> channel_vector(const Graph& g, Value v,
                                                  const std::vector<int64_t>& shape, int axis) {
  auto data = constant_data(g, v);
  if (!data) return std::nullopt;
  const auto& dims = g.node(v.node).constant->dims();
  auto width = static_cast<size_t>(shape[static_cast<size_t>(axis)]);
  if (dims.size() > shape.size()) return std::nullopt;
  if (data->size() == 1) return std::vector<double>(width, (*data)[0]);
  for (size_t d = 0; d < dims.size(); ++d) {
    size_t place = shape.size() - dims.size() + d;
    if (dims[d] != 1 && place != static_cast<size_t>(axis)) return std::nullopt;
  }
  return data;
}

algorithm binary_algorithm(std::string_view op) {
  if (op == "add") return algorithm::binary_add;
  if (op == "sub") return algorithm::binary_sub;
  if (op == "mul") return algorithm::binary_mul;
  if (op == "div") return algorithm::binary_div;
  return algorithm::undef;
}

std::optional<std::vector<PostOp>> as_functions(const Graph& g, const Node& call, Value operand) {
  std::string_view op = call.op->name;
  auto real = [&](size_t k) { return call.attrs.reals[k].value; };
  if (op == "relu") return {{function(algorithm::eltwise_relu, 0, 0)}};
  if (op == "clip") return {{function(algorithm::eltwise_clip, real(0), real(1))}};
  if (op == "sigmoid") return {{function(algorithm::eltwise_logistic, 0, 0)}};
  if (op == "tanh") return {{function(algorithm::eltwise_tanh, 0, 0)}};
  if (op == "exp") return {{function(algorithm::eltwise_exp, 0, 0)}};
  if (op == "sqrt") return {{function(algorithm::eltwise_sqrt, 0, 0)}};
  if (op == "neg") return {{function(algorithm::eltwise_linear, -1, 0)}};
  if (op == "hard-sigmoid")
    return {{function(algorithm::eltwise_linear, real(0), real(1)),
             function(algorithm::eltwise_clip, 0, 1)}};
  if (call.inputs.size() != 2 || call.inputs[0] == call.inputs[1]) return std::nullopt;
  bool left = call.inputs[1] == operand;
  auto c = scalar_constant(g, call.inputs[left ? 0 : 1]);
  if (!c || numeric(*call.types[0].shape) != numeric(g.shape(operand))) return std::nullopt;
  return with_scalar(op, *c, left);
}

bool is_contraction(std::string_view op) { return op == "conv" || op == "matmul" || op == "gemm"; }

bool is_elementwise(std::string_view op) {
  static constexpr std::string_view kNames[] = {"relu", "clip", "sigmoid", "hard-sigmoid", "tanh",
                                                "exp",  "sqrt", "erf",     "neg"};
  return binary_algorithm(op) != algorithm::undef ||
         std::find(std::begin(kNames), std::end(kNames), op) != std::end(kNames);
}

namespace {

/// What follows `root` in the order on tensors of its shape and reads only itself and what was
/// there before the root.
Unit region(const Graph& g, const std::vector<int32_t>& order, size_t root,
            std::vector<char>& taken) {
  Unit unit;
  std::vector<char> there(static_cast<size_t>(g.id_bound()), 0);
  for (size_t k = 0; k < order.size(); ++k)
    there[static_cast<size_t>(order[k])] = k < root || g.node(order[k]).kind != NodeKind::Call;
  auto shape = numeric(*g.node(order[root]).types[0].shape);
  for (size_t k = root; k < order.size(); ++k) {
    const Node& n = g.node(order[k]);
    auto id = static_cast<size_t>(order[k]);
    if (n.kind != NodeKind::Call || taken[id] || !is_elementwise(n.op->name)) continue;
    if (numeric(*n.types[0].shape) != shape) continue;
    bool ready = std::all_of(n.inputs.begin(), n.inputs.end(),
                             [&](Value v) { return there[static_cast<size_t>(v.node)] != 0; });
    if (!ready) continue;
    there[id] = taken[id] = 1;
    unit.nodes.push_back(order[k]);
  }
  return unit;
}

}  // namespace

std::vector<Unit> units(const Graph& g, const std::vector<int32_t>& order) {
  auto users = consumers(g);
  std::vector<char> taken(static_cast<size_t>(g.id_bound()), 0);
  std::map<size_t, Unit> by_place;  // of a contraction's last node, of others' root
  std::vector<size_t> place(static_cast<size_t>(g.id_bound()), 0);
  for (size_t k = 0; k < order.size(); ++k) place[static_cast<size_t>(order[k])] = k;
  auto is_free = [&](int32_t id) {
    return g.node(id).kind == NodeKind::Call && !taken[static_cast<size_t>(id)];
  };
  for (int32_t id : order) {
    if (!is_free(id) || !is_contraction(g.node(id).op->name)) continue;
    taken[static_cast<size_t>(id)] = 1;
    Unit unit = Grower(g, users, taken).from(id);
    by_place[place[static_cast<size_t>(unit.nodes.back())]] = unit;
  }
  for (size_t k = 0; k < order.size(); ++k) {
    if (!is_free(order[k])) continue;
    if (is_elementwise(g.node(order[k]).op->name)) {
      by_place[k] = region(g, order, k, taken);
    } else {
      by_place[k].nodes = {order[k]};
      taken[static_cast<size_t>(order[k])] = 1;
    }
  }
  std::vector<Unit> all;
  for (auto& [k, unit] : by_place) all.push_back(std::move(unit));
  return all;
}

}  // namespace regraft::cost::cpu
