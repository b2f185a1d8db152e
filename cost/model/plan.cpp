// Which calls a runtime fuses, and where it changes the layout of a tensor.
#include <algorithm>
#include <array>
#include <bitset>

#include "base/check.h"
#include "cost/model/context.h"
#include "cost/model/kinds.h"

namespace regraft::cost {
namespace {

constexpr size_t kMaxMembers = 16;  // of a kernel

/// The number of a constant that has one element and data.
std::optional<double> scalar(const Graph& g, Value v) {
  const Node& node = g.node(v.node);
  if (node.kind != NodeKind::Constant || node.constant->dtype() != DType::F32 ||
      node.constant->count() != 1)
    return std::nullopt;
  auto numbers = node.constant->reals();
  return numbers ? std::optional(numbers->front()) : std::nullopt;
}

struct KnownFusion {
  std::string_view runtime, operators;
  double number;
};
constexpr KnownFusion kFusions[] = {
#define REGRAFT_FUSION(runtime, operators, number) {#runtime, operators, number},
#include "cost/model/fusions.def"
#undef REGRAFT_FUSION
};

/// Calls without an anchor that the runtime has one kernel for.
bool is_known_fusion(const Context& c, const std::vector<int32_t>& members) {
  std::vector<std::string_view> names;
  for (int32_t id : members) names.push_back(c.g.node(id).op->name);
  std::ranges::sort(names);
  std::string operators;
  for (std::string_view name : names)
    operators += (operators.empty() ? "" : " ") + std::string(name);
  auto has_number = [&](double x) {
    return x == 0 || std::ranges::any_of(members, [&](int32_t id) {
             return std::ranges::any_of(c.g.node(id).inputs,
                                        [&](Value v) { return scalar(c.g, v) == x; });
           });
  };
  return std::ranges::any_of(kFusions, [&](const KnownFusion& f) {
    std::string_view whose = c.runtime.fuses_as.empty() ? c.runtime.name : c.runtime.fuses_as;
    return f.runtime == whose && f.operators == operators && has_number(f.number);
  });
}

/// The members of one kernel while it grows.
class Group {
 public:
  Group(const Context& c, const std::vector<int32_t>& taken, int32_t anchor)
      : c_(c), taken_(taken), anchored_(c.fusion(anchor) == Fusion::Anchor) {
    add(anchor);
  }

  /// The largest prefix of what can be taken that has one result.
  std::vector<int32_t> grow() {
    std::vector<int32_t> best = members_;
    int32_t next = 0;
    while (members_.size() < kMaxMembers && (next = candidate()) >= 0) {
      add(next);
      bool admitted = anchored_ || c_.runtime.chains || is_known_fusion(c_, members_);
      if (admitted && results() == 1) best = members_;
    }
    return best;
  }

 private:
  bool inside(Value v) const { return std::count(members_.begin(), members_.end(), v.node) > 0; }

  void add(int32_t id) {
    for (Value v : c_.g.node(id).inputs) {
      if (c_.is_constant(v)) continue;
      if (!inside(v)) outside_.insert(v);
    }
    members_.push_back(id);
  }

  int results() const {
    int n = 0;
    for (int32_t id : members_)
      for (size_t out = 0; out < c_.g.node(id).types.size(); ++out) n += leaves(id, out);
    return n;
  }
  bool leaves(int32_t id, size_t out) const {
    if (c_.outputs.count({id, static_cast<int32_t>(out)})) return true;
    for (auto [user, index] : c_.uses[static_cast<size_t>(id)]) {
      Value read = c_.g.node(user).inputs[static_cast<size_t>(index)];
      if (read.output == static_cast<int32_t>(out) && !inside({user, 0})) return true;
    }
    return false;
  }

  /// The first node in order that may be a member; -1: none.
  int32_t candidate() const {
    int32_t first = -1;
    for (int32_t id : members_)
      for (auto [user, index] : c_.uses[static_cast<size_t>(id)])
        if ((first < 0 || c_.at(user) < c_.at(first)) && admits(user)) first = user;
    return first;
  }

  bool admits(int32_t id) const {
    if (!c_.runs(id) || taken_[static_cast<size_t>(id)] >= 0 || inside({id, 0})) return false;
    Fusion fusion = c_.fusion(id);
    if (fusion != Fusion::Pointwise && (anchored_ || fusion != Fusion::Folding)) return false;
    const Node& node = c_.g.node(id);
    bool same_size = !anchored_ || same(node.types[0], c_.g.type({members_[0], 0}));
    return same_size && std::all_of(node.inputs.begin(), node.inputs.end(), [&](Value v) {
             return c_.is_constant(v) || inside(v) || outside_.count(v) || is_sum(node, v);
           });
  }
  /// `v` is the other operand of a sum that is taken in; one such is.
  bool is_sum(const Node& node, Value v) const {
    if (anchored_ && (!c_.runtime.sums || outside_.size() > 1)) return false;
    if (!anchored_ && (!c_.runtime.chains || outside_.size() > 2)) return false;
    return (!anchored_ || node.op->arithmetic == Arithmetic::Sum) &&
           same(c_.g.type(v), node.types[0]) && !depends_on_members(v);
  }
  /// Walks back as far as the anchor stands.
  bool depends_on_members(Value v) const {
    std::vector<int32_t> todo{v.node};
    std::set<int32_t> seen{v.node};
    while (!todo.empty()) {
      int32_t id = todo.back();
      todo.pop_back();
      if (inside({id, 0})) return true;
      for (Value operand : c_.g.node(id).inputs)
        if (c_.at(operand.node) >= c_.at(members_[0]) && seen.insert(operand.node).second)
          todo.push_back(operand.node);
    }
    return false;
  }

  const Context& c_;
  const std::vector<int32_t>& taken_;
  bool anchored_;
  std::vector<int32_t> members_;
  std::set<Value> outside_;  // read, not constant
};

/// The number of the kernel of each node; -1: none.
std::vector<int32_t> grouped(const Context& c, std::vector<std::vector<int32_t>>& groups) {
  std::vector<int32_t> taken(static_cast<size_t>(c.g.id_bound()), -1);
  auto take = [&](int32_t anchor) {
    if (taken[static_cast<size_t>(anchor)] >= 0 || !c.runs(anchor)) return;
    Fusion fusion = c.fusion(anchor);
    bool grows = !c.runtime.single && fusion != Fusion::Alone && fusion != Fusion::AfterSum;
    auto members = grows ? Group(c, taken, anchor).grow() : std::vector<int32_t>{anchor};
    for (int32_t id : members) taken[static_cast<size_t>(id)] = static_cast<int32_t>(groups.size());
    groups.push_back(std::move(members));
  };
  for (size_t k = c.order.size(); k-- > 0;)  // the last of two convolutions takes their sum
    if (c.runs(c.order[k]) && c.fusion(c.order[k]) == Fusion::Anchor) take(c.order[k]);
  for (int32_t id : c.order)
    if (c.runtime.sum_norm && c.runs(id) && c.fusion(id) == Fusion::AfterSum) {
      int32_t sum = c.g.node(id).inputs[0].node;
      bool free = c.runs(sum) && taken[static_cast<size_t>(sum)] < 0;
      if (!free || c.g.node(sum).op->arithmetic != Arithmetic::Sum) continue;
      taken[static_cast<size_t>(sum)] = taken[static_cast<size_t>(id)] =
          static_cast<int32_t>(groups.size());
      groups.push_back({sum, id});
    }
  for (int32_t id : c.order) take(id);
  return taken;
}

/// Groups with operands first. Paths between them may run through nodes that no group has.
std::vector<int32_t> sorted(const Context& c, const std::vector<std::vector<int32_t>>& groups,
                            const std::vector<int32_t>& taken) {
  enum : char { Fresh, Open, Done };
  // A unit is a group, or, numbered behind them, a node that no group has.
  auto count = static_cast<int32_t>(groups.size());
  auto unit_of = [&](int32_t id) {
    int32_t group = taken[static_cast<size_t>(id)];
    return group >= 0 ? group : count + id;
  };
  std::vector<int32_t> order, todo;
  std::vector<char> state(groups.size() + static_cast<size_t>(c.g.id_bound()), Fresh);
  auto push_producers = [&](int32_t id, int32_t of) {
    for (Value v : c.g.node(id).inputs) {
      int32_t unit = unit_of(v.node);
      if (unit != of && state[static_cast<size_t>(unit)] == Fresh) todo.push_back(unit);
    }
  };
  for (int32_t id : c.order) {
    if (taken[static_cast<size_t>(id)] < 0) continue;
    todo.push_back(taken[static_cast<size_t>(id)]);
    while (!todo.empty()) {
      int32_t unit = todo.back();
      char& at = state[static_cast<size_t>(unit)];
      if (at == Fresh) {
        at = Open;
        if (unit >= count)
          push_producers(unit - count, unit);
        else
          for (int32_t member : groups[static_cast<size_t>(unit)]) push_producers(member, unit);
        continue;
      }
      todo.pop_back();
      if (at == Open && unit < count) order.push_back(unit);
      at = Done;
    }
  }
  return order;
}

/// Builds the kernels, in order, and the moves between layouts.
class Planner {
 public:
  Planner(const Context& c, KernelPlan& plan, bool signatures)
      : c_(c), plan_(plan), signatures_(signatures), first_(c.position.size(), 0) {
    size_t values = 0;
    for (int32_t id : c.order) {
      first_[static_cast<size_t>(id)] = values;
      values += c.g.node(id).types.size();
    }
    has_.assign(values, {});
  }

  void run(const std::vector<int32_t>& members) {
    bool blocked = is_blocked(members);
    KernelCall call = extract(members);
    for (size_t k = 0; k < call.operands.size(); ++k) {
      Layout wanted = blocked && !call.kernel.weights[k] && takes_blocked(members, call.operands[k])
                          ? Layout::Blocked
                          : Layout::Plain;
      if (!call.kernel.weights[k]) bring(call.operands[k], wanted);
      call.kernel.operand_layouts.push_back(wanted);
    }
    Layout made = blocked ? Layout::Blocked : Layout::Plain;
    call.kernel.result_layouts.assign(call.results.size(), made);
    for (Value v : call.results) has(v)[static_cast<size_t>(made)] = true;
    add(std::move(call));
  }

  /// The value is there in this layout from now on.
  void bring(Value v, Layout wanted) {
    Layouts& has = this->has(v);
    if (has.none()) has[static_cast<size_t>(Layout::Plain)] = true;  // an input, or opaque
    if (has[static_cast<size_t>(wanted)]) return;
    has[static_cast<size_t>(wanted)] = true;
    KernelCall call;
    call.kernel.graph.add_input(c_.g.type(v));
    call.kernel.graph.set_outputs({call.kernel.graph.inputs()[0]});
    call.kernel.weights = {0};
    Layout from = wanted == Layout::Blocked ? Layout::Plain : Layout::Blocked;
    call.kernel.operand_layouts = {from};
    call.kernel.result_layouts = {wanted};
    call.operands = call.results = {v};
    add(std::move(call));
  }

 private:
  using Layouts = std::bitset<2>;
  size_t place(Value v) const {
    return first_[static_cast<size_t>(v.node)] + static_cast<size_t>(v.output);
  }
  Layouts& has(Value v) { return has_[place(v)]; }
  std::vector<int64_t> dims(Value v) const {
    const auto& t = c_.g.type(v);
    return t.shape && t.dtype == DType::F32 ? *numeric(*t.shape) : std::vector<int64_t>();
  }
  /// Channels that fill blocks, or nearly where the runtime pads them.
  bool fills(int64_t channels) const {
    int64_t block = c_.runtime.block;
    return channels % block == 0 || (c_.runtime.pads && 2 * channels >= block);
  }
  bool suits_conv(int64_t channels) const {
    int64_t step = c_.runtime.conv_step;
    return fills(channels) || (step > 0 && channels % step == 0);
  }
  /// Of an image of floats; nullopt: it is none.
  std::optional<int64_t> channels(Value v) const {
    const TensorType& t = c_.g.type(v);
    bool image = t.shape && t.dtype == DType::F32 && t.shape->size() == 4;
    return image ? std::optional((*t.shape)[1].constant()) : std::nullopt;
  }
  bool filled(Value v) const {
    auto n = channels(v);
    return n && fills(*n);
  }
  bool multiple(Value v) const {
    auto n = channels(v);
    return n && *n % c_.runtime.block == 0;
  }
  bool is_blocked_now(Value v) const {
    return has_[place(v)][static_cast<size_t>(Layout::Blocked)];
  }
  /// A first convolution of few channels reads the plain layout.
  bool takes_blocked(const std::vector<int32_t>& members, Value operand) const {
    const Node& anchor = c_.g.node(members[0]);
    return anchor.op->work != Work::Convolution || operand != anchor.inputs[0] ||
           dims(operand)[1] >= c_.runtime.block;
  }

  bool is_blocked(const std::vector<int32_t>& members) const {
    if (c_.runtime.block == 0) return false;
    const Node& anchor = c_.g.node(members[0]);
    if (anchor.inputs.empty()) return false;
    Value x = anchor.inputs[0];
    switch (anchor.op->blocking) {
      case Blocking::Convolution:
        return conv_fits(anchor);
      case Blocking::Filled:
        return filled(x);
      case Blocking::Following:
        return filled(x) && is_blocked_now(x);
      case Blocking::Joined:
        return concat_fits(anchor);
      case Blocking::Never:
        break;
    }
    return c_.fusion(members[0]) == Fusion::Pointwise && all_blocked(members);
  }
  bool conv_fits(const Node& conv) const {
    auto x = dims(conv.inputs[0]), w = dims(conv.inputs[1]);
    if (x.size() != 4 || w.size() != 4 || !c_.is_constant(conv.inputs[1])) return false;
    int64_t block = c_.runtime.block;
    int64_t group = conv.attrs.ints[static_cast<size_t>(conv.op->int_attr("group"))][0].constant();
    if (group == 1) return (x[1] < block || suits_conv(x[1])) && suits_conv(w[0]);
    if (w[1] == 1 && group == w[0]) return suits_conv(w[0]);
    return w[1] % block == 0 && (w[0] / group) % block == 0;
  }
  bool concat_fits(const Node& concat) const {
    auto axis = concat.attrs.ints[static_cast<size_t>(concat.op->int_attr("axis"))][0].constant();
    Value last = concat.inputs.back();  // nothing follows its padding
    return (axis == 1 || axis == -3) && filled(last) && is_blocked_now(last) &&
           std::all_of(concat.inputs.begin(), concat.inputs.end() - 1,
                       [&](Value v) { return multiple(v) && is_blocked_now(v); });
  }
  /// Everything that is no constant is blocked already, and of one size.
  bool all_blocked(const std::vector<int32_t>& members) const {
    const TensorType& whole = c_.g.type({members[0], 0});
    for (int32_t id : members) {
      if (c_.fusion(id) != Fusion::Pointwise) return false;
      for (Value v : c_.g.node(id).inputs) {
        bool inner = std::count(members.begin(), members.end(), v.node) > 0;
        if (c_.is_constant(v) || inner) continue;
        if (!filled(v) || !is_blocked_now(v) || !same(c_.g.type(v), whole)) return false;
      }
    }
    return true;
  }

  void add(KernelCall call) {
    if (signatures_) call.signature = signature(normalised(call.kernel));
    plan_.calls.push_back(std::move(call));
  }

  KernelCall extract(const std::vector<int32_t>& members) const;
  const Context& c_;
  KernelPlan& plan_;
  bool signatures_;
  std::vector<size_t> first_;  // by node: where its values begin
  std::vector<Layouts> has_;   // by value
};

KernelCall Planner::extract(const std::vector<int32_t>& members) const {
  KernelCall call;
  call.nodes = members;
  Graph& g = call.kernel.graph;
  std::map<Value, Value> now;
  std::map<Value, double> scalars;
  auto inner = [&](Value v) { return std::count(members.begin(), members.end(), v.node) > 0; };
  for (int32_t id : members)
    for (Value v : c_.g.node(id).inputs) {
      if (inner(v) || now.count(v) || scalars.count(v)) continue;
      if (auto x = scalar(c_.g, v)) {
        scalars.emplace(v, *x);
        continue;
      }
      now[v] = g.add_input(c_.g.type(v));
      call.operands.push_back(v);
      call.kernel.weights.push_back(c_.is_constant(v));
    }
  for (const auto& [v, x] : scalars) {
    Attrs<Poly> attrs{{c_.g.shape(v)}, {{x, nullptr}}};
    auto id = g.add_call(*find_op("full"), {}, std::move(attrs));
    CHECK(id.has_value());
    now[v] = {*id, 0};
  }
  for (int32_t id : members) {
    const Node& from = c_.g.node(id);
    Node node;
    node.op = from.op;
    node.attrs = from.attrs;
    node.types = from.types;
    for (Value v : from.inputs)
      node.inputs.push_back(inner(v) ? Value{now.at({v.node, 0}).node, v.output} : now.at(v));
    now[{id, 0}] = {g.add_node(std::move(node)), 0};
  }
  std::vector<Value> outputs;
  for (int32_t id : members)
    for (size_t out = 0; out < c_.g.node(id).types.size(); ++out) {
      Value v{id, static_cast<int32_t>(out)};
      bool used = c_.outputs.count(v) > 0;
      for (auto [user, index] : c_.uses[static_cast<size_t>(id)])
        used =
            used || (c_.g.node(user).inputs[static_cast<size_t>(index)] == v && !inner({user, 0}));
      if (!used) continue;
      call.results.push_back(v);
      outputs.push_back({now.at({id, 0}).node, v.output});
    }
  g.set_outputs(std::move(outputs));
  return call;
}

}  // namespace

std::span<const Runtime> runtimes() {
#define REGRAFT_RUNTIME(id, ...) Runtime{.name = #id, __VA_ARGS__},
  static constexpr Runtime kRuntimes[] = {
#include "cost/model/runtimes.def"
  };
#undef REGRAFT_RUNTIME
  return kRuntimes;
}

const Runtime* find_runtime(std::string_view name) {
  static constexpr Runtime kSingle{.name = kPlainLoops, .single = true};
  for (const Runtime& r : runtimes())
    if (r.name == name) return &r;
  return name == kPlainLoops ? &kSingle : nullptr;
}

const Runtime* priced_as(const Runtime* runtime) {
  return runtime && !runtime->priced_as.empty() ? find_runtime(runtime->priced_as) : runtime;
}

Graph with_fusions(const Graph& g, const Runtime& runtime) {
  Graph sized = at_sizes(g), marked = g;
  Runtime known = runtime;
  known.chains = false;  // what any chain is fused into breaks with no rewrite
  Context c(sized, known);
  std::vector<std::vector<int32_t>> groups;
  grouped(c, groups);
  int32_t number = 0;
  for (const auto& members : groups) {
    if (!is_known_fusion(c, members)) continue;
    for (int32_t id : members) {
      Node n = g.node(id);
      n.together = number;
      n.together_count = static_cast<int32_t>(members.size());
      marked.replace_node(id, std::move(n));
    }
    ++number;
  }
  return marked;
}

KernelPlan plan_kernels(const Graph& g, const Runtime& runtime, bool signatures) {
  Graph sized = at_sizes(g);
  Context c(sized, runtime);
  std::vector<std::vector<int32_t>> groups;
  auto taken = grouped(c, groups);
  KernelPlan plan;
  Planner planner(c, plan, signatures);
  for (int32_t group : sorted(c, groups, taken)) planner.run(groups[static_cast<size_t>(group)]);
  for (int32_t id : c.order) {
    if (c.g.node(id).kind != NodeKind::Opaque) continue;
    plan.opaque.push_back(id);
    for (Value v : c.g.node(id).inputs)
      if (v.node >= 0 && !c.is_constant(v)) planner.bring(v, Layout::Plain);
  }
  for (Value v : sized.outputs())
    if (!c.is_constant(v)) planner.bring(v, Layout::Plain);
  return plan;
}

}  // namespace regraft::cost
