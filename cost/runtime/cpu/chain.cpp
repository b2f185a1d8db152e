#include "cost/runtime/cpu/chain.h"

#include <algorithm>
#include <map>

#include "cost/runtime/cpu/pointwise.h"

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
    axis_ = n.op->work == Work::Convolution ? 1 : static_cast<int>(shape_.size()) - 1;
    can_scale_ = g_.node(n.inputs[1].node).kind == NodeKind::Constant &&
                 (n.op->work != Work::Product || g_.shape(n.inputs[1]).size() == 2);
    if (n.inputs.size() > 2) {
      bool constant = g_.node(n.inputs[2].node).kind == NodeKind::Constant;
      summed_ = n.op->work == Work::Product && !channel_vector(n.inputs[2]);
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
    algorithm binary = binary_algorithm(n.op->arithmetic);
    if (binary == algorithm::undef) return false;
    return add_sum(c, n, operand) || add_channels(c, n, operand, binary);
  }
  /// A sum with a tensor of the same shape.
  bool add_sum(Unit& c, const Node& n, int32_t operand) {
    Value other = n.inputs[static_cast<size_t>(1 - operand)];
    if (n.op->arithmetic != Arithmetic::Sum || summed_ || numeric(g_.shape(other)) != shape_)
      return false;
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
    if (auto factor = linear_factor(n))
      return compose(c, std::vector<double>(width, *factor), zeros);
    Arithmetic form = n.op->arithmetic;
    if (form == Arithmetic::None) return false;
    auto v = channel_vector(n.inputs[static_cast<size_t>(1 - operand)]);
    if (!v) return false;
    if (form == Arithmetic::Sum) return compose(c, ones, *v);
    if (form == Arithmetic::Product) return compose(c, *v, zeros);
    for (double& x : *v) x = form == Arithmetic::Difference ? -x : 1 / x;
    if (form == Arithmetic::Quotient) return operand == 0 && compose(c, *v, zeros);
    if (operand == 0) return compose(c, ones, *v);
    for (double& x : *v) x = -x;
    return compose(c, std::vector<double>(width, -1), *v);
  }
  /// The number that a call of one operand multiplies by, whatever its attributes are.
  static std::optional<double> linear_factor(const Node& n) {
    const Pointwise* row = pointwise(*n.op);
    if (!row || !row->functions || !n.attrs.reals.empty()) return std::nullopt;
    auto functions = row->functions(0, 0);
    bool linear = functions.size() == 1 && functions[0].algorithm == algorithm::eltwise_linear;
    return linear ? std::optional<double>(functions[0].alpha) : std::nullopt;
  }
  const Graph& g_;
  const std::vector<std::vector<std::pair<int32_t, int32_t>>>& users_;
  std::vector<char>& taken_;
  bool can_scale_ = false;
  bool summed_ = false;  // the root's result is added onto a tensor
  std::vector<int64_t> shape_;
  int axis_ = 0;
};

/// left op right where one of them is the constant c.
std::optional<std::vector<PostOp>> with_scalar(Arithmetic form, double c, bool constant_left) {
  constexpr auto linear = algorithm::eltwise_linear;
  switch (form) {
    case Arithmetic::Sum:
      return {{function(linear, 1, c)}};
    case Arithmetic::Product:
      return {{function(linear, c, 0)}};
    case Arithmetic::Difference:
      return {{constant_left ? function(linear, -1, c) : function(linear, 1, -c)}};
    case Arithmetic::Quotient:
      return {{constant_left ? function(algorithm::eltwise_pow, c, -1) : function(linear, 1 / c)}};
    case Arithmetic::None:
      break;
  }
  return std::nullopt;
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

std::optional<std::vector<PostOp>> as_functions(const Graph& g, const Node& call, Value operand) {
  auto real = [&](size_t k) {
    return k < call.attrs.reals.size() ? static_cast<float>(call.attrs.reals[k].value) : 0;
  };
  if (const Pointwise* row = pointwise(*call.op); row && row->functions)
    return row->functions(real(0), real(1));
  if (call.inputs.size() != 2 || call.inputs[0] == call.inputs[1]) return std::nullopt;
  bool left = call.inputs[1] == operand;
  auto c = scalar_constant(g, call.inputs[left ? 0 : 1]);
  if (!c || numeric(*call.types[0].shape) != numeric(g.shape(operand))) return std::nullopt;
  return with_scalar(call.op->arithmetic, *c, left);
}

bool is_contraction(const OpDef& op) {
  return op.fusion == Fusion::Anchor &&
         (op.work == Work::Convolution || op.work == Work::Product);
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
    if (n.kind != NodeKind::Call || taken[id] || !pointwise(*n.op)) continue;
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
    if (!is_free(id) || !is_contraction(*g.node(id).op)) continue;
    taken[static_cast<size_t>(id)] = 1;
    Unit unit = Grower(g, users, taken).from(id);
    by_place[place[static_cast<size_t>(unit.nodes.back())]] = unit;
  }
  for (size_t k = 0; k < order.size(); ++k) {
    if (!is_free(order[k])) continue;
    if (pointwise(*g.node(order[k]).op)) {
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
