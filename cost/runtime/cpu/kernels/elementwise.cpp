// Calls on single elements, all of one kernel in one pass: a tile of each value at a time, small
// enough for the first cache.
#include <algorithm>
#include <set>

#include "cost/runtime/cpu/kernels/loops.h"
#include "cost/runtime/cpu/kernels/strided.h"
#include "cost/runtime/cpu/lower.h"

namespace regraft::cost::cpu {

namespace {

constexpr int64_t kTile = 1024;  // floats

std::pair<UnaryLoop, BinaryLoop> loops_of(const OpDef& op) {
  static constexpr std::pair<std::string_view, UnaryLoop> kUnary[] = {
      {"relu", relu_loop},       {"clip", clip_loop}, {"hard-sigmoid", hard_sigmoid_loop},
      {"sigmoid", sigmoid_loop}, {"tanh", tanh_loop}, {"exp", exp_loop},
      {"sqrt", sqrt_loop},       {"erf", erf_loop},   {"neg", neg_loop}};
  static constexpr BinaryLoop kBinary[] = {nullptr, add_loop, sub_loop, mul_loop, div_loop};
  auto at = std::find_if(std::begin(kUnary), std::end(kUnary),
                         [&](const auto& row) { return row.first == op.name; });
  return {at == std::end(kUnary) ? nullptr : at->second,
          kBinary[static_cast<size_t>(op.arithmetic)]};
}

/// One call on tiles; `to`, `left` and `right` count the values below.
struct Operation {
  UnaryLoop unary = nullptr;
  BinaryLoop binary = nullptr;
  float a = 0, b = 0;
  int left = -1, right = -1;
};

/// Where a value comes from and goes to.
struct TileValue {
  int source = -1;     ///< the pointer it is read from; -1: computed
  bool whole = false;  ///< of all elements, in order
  Strided place;       ///< otherwise
  int target = -1;     ///< the pointer it is stored to; -1: used here only
};

struct TileProgram {
  std::vector<TileValue> values;  ///< those that are read, then one for each operation
  std::vector<Operation> operations;
  int64_t count = 0;  ///< elements of each value
  int threads = 1;

  void run(Pointers p) const {
    int64_t tiles = (count + kTile - 1) / kTile;
    int64_t grains = std::min<int64_t>(tiles, threads);
    parallel_loop(grains, count, threads, [&](int64_t g) {
      std::vector<float> space(values.size() * static_cast<size_t>(kTile));
      for (int64_t t = tiles * g / grains; t < tiles * (g + 1) / grains; ++t)
        tile(p, t * kTile, std::min(kTile, count - t * kTile), space.data());
    });
  }

 private:
  void tile(Pointers p, int64_t first, int64_t n, float* space) const {
    std::vector<const float*> at(values.size(), nullptr);
    size_t read = values.size() - operations.size();
    for (size_t k = 0; k < values.size(); ++k) {
      const TileValue& v = values[k];
      float* own = space + static_cast<int64_t>(k) * kTile;
      if (k < read && v.whole) {
        at[k] = p[static_cast<size_t>(v.source)] + first;
      } else if (k < read) {
        gather_run(v.place, p[static_cast<size_t>(v.source)], first, own, n);
        at[k] = own;
      } else {
        float* y = v.target < 0 ? own : p[static_cast<size_t>(v.target)] + first;
        const Operation& o = operations[k - read];
        const float* l = at[static_cast<size_t>(o.left)];
        if (o.unary)
          o.unary(l, y, n, o.a, o.b);
        else
          o.binary(l, at[static_cast<size_t>(o.right)], y, n);
        at[k] = y;
      }
    }
  }
};

/// Makes the tile program of a unit.
class Tiler {
 public:
  Tiler(Lowering& to, const std::vector<int32_t>& nodes) : to_(to), nodes_(nodes) {
    shape_ = to.dims({nodes[0], 0});
    layout_ = choose_layout();
  }

  void lower() {
    for (int32_t id : nodes_) {
      for (Value v : to_.graph.node(id).inputs)
        if (!inside(v) && !number_.count(v)) add_read(v);
    }
    for (int32_t id : nodes_) add_operation(id);
    program_.count = static_cast<int64_t>(desc_of(shape_, layout_).get_size() / sizeof(float));
    program_.threads = to_.options.threads;
    to_.add_loop(slots_, [program = std::move(program_)](Pointers p) { program.run(p); });
    if (layout_ == Layout::Blocked && shape_[1] % block_width() != 0)
      for (int32_t id : nodes_)
        if (leaves({id, 0}) && !zero_.count({id, 0})) clear_padding(to_.read({id, 0}, layout_));
  }

 private:
  bool inside(Value v) const {
    return std::find(nodes_.begin(), nodes_.end(), v.node) != nodes_.end();
  }
  /// Blocked when that is how the operands lie, or how the results must.
  Layout choose_layout() const {
    size_t rank = shape_.size();
    if (rank < 3 || rank > 5) return Layout::Plain;
    int blocked = 0, plain = 0;
    auto vote = [&](Value v) { ++(to_.layout_of(v) == Layout::Blocked ? blocked : plain); };
    for (int32_t id : nodes_) {
      for (Value v : to_.graph.node(id).inputs)
        if (!inside(v) && to_.dims(v) == shape_ && !to_.constant(v)) vote(v);
      for (Value out : to_.graph.outputs())
        if (out.node == id) vote(out);
    }
    return blocked > plain ? Layout::Blocked : Layout::Plain;
  }
  void add_read(Value v) {
    TileValue value;
    value.source = static_cast<int>(slots_.size());
    Dims dims = to_.dims(v);
    value.whole = dims == shape_;
    int slot = -1;
    if (value.whole) {
      slot = to_.read(v, layout_);
    } else {
      std::tie(slot, value.place) = broadcast_place(to_, v, shape_, layout_);
    }
    if (layout_ == Layout::Blocked && dims.size() == shape_.size() && dims[1] == shape_[1])
      zero_.insert(v);
    slots_.push_back(slot);
    number_[v] = static_cast<int>(program_.values.size());
    program_.values.push_back(std::move(value));
  }
  void add_operation(int32_t id) {
    const Node& n = to_.graph.node(id);
    Operation o;
    std::tie(o.unary, o.binary) = loops_of(*n.op);
    if (!n.attrs.reals.empty()) o.a = static_cast<float>(n.attrs.reals[0].value);
    if (n.attrs.reals.size() > 1) o.b = static_cast<float>(n.attrs.reals[1].value);
    o.left = number_.at(n.inputs[0]);
    if (o.binary) o.right = number_.at(n.inputs[1]);
    if (keeps_zero(n, o)) zero_.insert({id, 0});
    TileValue value;
    if (leaves({id, 0})) {
      value.target = static_cast<int>(slots_.size());
      slots_.push_back(to_.write({id, 0}, layout_));
    }
    number_[{id, 0}] = static_cast<int>(program_.values.size());
    program_.values.push_back(value);
    program_.operations.push_back(o);
  }
  /// The channels beyond the last, which functions may have made other than 0.
  void clear_padding(int slot) {
    Strided whole = strided(shape_, Layout::Blocked);
    int64_t blocks = whole.dims[1], width = block_width(), used = shape_[1] - (blocks - 1) * width;
    int64_t places = whole.strides[1] / width, images = shape_[0];
    to_.add_loop({slot}, [=](Pointers p) {
      for (int64_t n = 0; n < images; ++n)
        for (int64_t k = 0; k < places; ++k) {
          float* channels = p[0] + (((n + 1) * blocks - 1) * places + k) * width;
          std::fill(channels + used, channels + width, 0.0F);
        }
    });
  }
  /// Whether the call keeps 0 where its operands have it.
  bool keeps_zero(const Node& n, const Operation& o) const {
    auto zero = [&](size_t k) { return zero_.count(n.inputs[k]) > 0; };
    switch (n.op->arithmetic) {
      case Arithmetic::Sum:
      case Arithmetic::Difference:
        return zero(0) && zero(1);
      case Arithmetic::Product:
        return zero(0) || zero(1);
      case Arithmetic::Quotient:
        return false;
      case Arithmetic::None:
        break;
    }
    float x = 0, y = 1;
    o.unary(&x, &y, 1, o.a, o.b);
    return zero(0) && y == 0;
  }
  bool leaves(Value v) const {
    for (Value out : to_.graph.outputs())
      if (out == v) return true;
    for (int32_t id = 0; id < to_.graph.id_bound(); ++id) {
      if (!to_.graph.contains(id) || inside({id, 0})) continue;
      const auto& in = to_.graph.node(id).inputs;
      if (std::find(in.begin(), in.end(), v) != in.end()) return true;
    }
    return false;
  }

  Lowering& to_;
  const std::vector<int32_t>& nodes_;
  Dims shape_;
  Layout layout_ = Layout::Plain;
  std::vector<int> slots_;
  std::map<Value, int> number_;
  std::set<Value> zero_;  // 0 in the padding of blocks
  TileProgram program_;
};

}  // namespace

Status lower_elementwise(Lowering& to, const std::vector<int32_t>& nodes) {
  Tiler(to, nodes).lower();
  return {};
}

}  // namespace regraft::cost::cpu
