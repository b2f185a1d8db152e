#include "rewrite/plan.h"

#include <algorithm>
#include <map>

namespace regraft::rewrite {

namespace {

/// Builds a plan step by step.
class Planner {
 public:
  Planner(const GraphView& view, const Found& found, const cost::CostModel& model,
          const PlanOptions& options)
      : view_(view), found_(found), model_(model), options_(options) {}

  std::optional<Plan> run() {
    if (!add_right_side() || !redirect() || has_cycle()) return std::nullopt;
    count_uses();
    remove_dead_nodes();
    price();
    return std::move(plan_);
  }

 private:
  DType dtype() const { return view_.graph.type(found_.variables[0]).dtype; }
  const TensorType& type(PlanRef r) const {
    if (!is_planned(r)) return view_.graph.type(r);
    return plan_.calls[planned_index(r)].types[static_cast<size_t>(r.output)];
  }
  bool constant(PlanRef r) const {
    return is_planned(r) ? plan_.calls[planned_index(r)].constant
                         : view_.constant[static_cast<size_t>(r.node)] != 0;
  }
  PlanRef place_of(PatternRef r) const {
    if (is_variable(r)) return found_.variables[static_cast<size_t>(variable_of(r))];
    return {placed_[static_cast<size_t>(r.node)], r.output};
  }

  bool add_right_side() {
    const Pattern& rhs = found_.rule->rule.rhs;
    for (size_t j = 0; j < rhs.nodes.size(); ++j) {
      const Node& form = found_.instance->rhs.node(found_.instance->rhs_ids[j]);
      auto attrs = translate(form.attrs, found_.binding, view_.graph.pool());
      if (!attrs) return false;
      PlannedCall call{form.op, *std::move(attrs), {}, {}, true};
      for (PatternRef r : rhs.nodes[j].inputs) {
        call.inputs.push_back(place_of(r));
        call.constant = call.constant && constant(call.inputs.back());
      }
      int rank = call.inputs.empty() ? 0 : static_cast<int>(type(call.inputs[0]).shape->size());
      for (size_t k = 0; k < call.attrs.ints.size(); ++k)
        call.attrs.ints[k] = normal_axes(call.op->ints[k], std::move(call.attrs.ints[k]), rank);
      if (!infer(call)) return false;
      auto id = place(std::move(call));
      if (!id) return false;
      placed_.push_back(*id);
    }
    return true;
  }

  bool infer(PlannedCall& call) {
    std::vector<TensorType> operands;
    for (PlanRef r : call.inputs) operands.push_back(type(r));
    auto types = infer_call(view_.graph.pool(), *call.op, operands, call.attrs);
    if (!types) return false;
    call.types = *std::move(types);
    if (call.inputs.empty())
      for (TensorType& t : call.types) t.dtype = dtype();
    return true;
  }

  /// The node that computes this already, or a new planned call; nullopt when it cannot be written.
  std::optional<int32_t> place(PlannedCall call) {
    for (size_t k = 0; k < plan_.calls.size(); ++k) {
      const PlannedCall& other = plan_.calls[k];
      if (other.op == call.op && same(other.attrs, call.attrs) &&
          same_inputs(*call.op, other.inputs, call.inputs))
        return ~static_cast<int32_t>(k);
    }
    if (std::none_of(call.inputs.begin(), call.inputs.end(), is_planned)) {
      int32_t id = view_.find_call(*call.op, call.attrs, call.inputs);
      if (id >= 0 && view_.node(id).types[0].dtype == call.types[0].dtype) return id;
    }
    if (!writable(call)) return std::nullopt;
    plan_.calls.push_back(std::move(call));
    return ~static_cast<int32_t>(plan_.calls.size() - 1);
  }

  /// A constant whose attributes are numbers is folded later; anything else needs an ONNX form.
  bool writable(const PlannedCall& call) const {
    std::vector<TensorType> operands;
    bool folds = call.constant && numeric(call.attrs).has_value();
    for (PlanRef r : call.inputs) {
      operands.push_back(type(r));
      folds = folds && numeric(*operands.back().shape);
    }
    if (folds) return true;
    if (call.inputs.empty()) return false;
    if (options_.opset == 0 || !call.op->to_onnx) return true;
    return call.op->to_onnx(call.attrs, operands, options_.opset).has_value();
  }

  bool redirect() {
    const Rule& rule = found_.rule->rule;
    for (size_t k = 0; k < rule.lhs.outputs.size(); ++k) {
      PatternRef out = rule.lhs.outputs[k];
      Value from{found_.nodes[static_cast<size_t>(out.node)], out.output};
      PlanRef to = place_of(rule.rhs.outputs[k]);
      if (!same(view_.graph.type(from), type(to))) return false;
      if (from != to) plan_.replaced.push_back({from, to});
      if (!constant(from) && constant(to)) plan_.exposes_constant = true;
    }
    return !plan_.replaced.empty();
  }

  /// The new value of an output may read variables that depend on old outputs, which are redirected
  /// in turn; a cycle among them would be one in the graph. So would a right side that contains the
  /// very call that it replaces, as x => f(x) may with some attributes.
  bool has_cycle() const {
    const auto& replaced = plan_.replaced;
    std::vector<std::vector<char>> reads;  // reads[k][j]: the new k needs the new j
    for (const auto& [from, to] : replaced) reads.push_back(outputs_needed_by(to));
    for (size_t via = 0; via < reads.size(); ++via)
      for (size_t k = 0; k < reads.size(); ++k)
        for (size_t j = 0; j < reads.size(); ++j)
          if (reads[k][via] && reads[via][j]) reads[k][j] = 1;
    for (size_t k = 0; k < reads.size(); ++k)
      if (reads[k][k]) return true;
    return false;
  }

  std::vector<char> outputs_needed_by(PlanRef to) const {
    std::vector<char> needed(plan_.replaced.size(), 0);
    std::vector<PlanRef> stack{to};
    std::vector<Value> seen;
    auto first = static_cast<int32_t>(view_.order.size());
    for (const auto& [from, unused] : plan_.replaced)
      first = std::min(first, view_.position[static_cast<size_t>(from.node)]);
    while (!stack.empty()) {
      PlanRef v = stack.back();
      stack.pop_back();
      if (std::find(seen.begin(), seen.end(), v) != seen.end()) continue;
      seen.push_back(v);
      const auto& inputs =
          is_planned(v) ? plan_.calls[planned_index(v)].inputs : view_.node(v.node).inputs;
      if (!is_planned(v)) {
        if (view_.position[static_cast<size_t>(v.node)] < first) continue;
        bool redirected = false;
        for (size_t j = 0; j < plan_.replaced.size(); ++j)
          if (plan_.replaced[j].first == v) needed[j] = redirected = true;
        if (redirected) continue;
      }
      stack.insert(stack.end(), inputs.begin(), inputs.end());
    }
    return needed;
  }

  void count_uses() {
    for (const PlannedCall& call : plan_.calls)
      for (PlanRef r : call.inputs) use(r, 1);
    for (const auto& [from, to] : plan_.replaced) {
      int32_t n = view_.uses_of(from);
      uses_[from.node] -= n;
      use(to, n);
    }
  }
  void use(PlanRef r, int32_t n) {
    PlanRef target = resolve(plan_, r);
    if (!is_planned(target)) uses_[target.node] += n;
  }

  void remove_dead_nodes() {
    std::vector<int32_t> stack;
    auto check = [&](int32_t id) {
      bool dead = view_.use_count[static_cast<size_t>(id)] + uses_[id] == 0;
      if (!dead || view_.node(id).kind == NodeKind::Input || is_removed(id)) return;
      plan_.removed.push_back(id);
      stack.push_back(id);
    };
    for (const auto& [from, to] : plan_.replaced) check(from.node);
    while (!stack.empty()) {
      int32_t id = stack.back();
      stack.pop_back();
      for (Value v : view_.node(id).inputs) {
        PlanRef target = resolve(plan_, v);
        if (is_planned(target)) continue;
        --uses_[target.node];
        check(target.node);
      }
    }
  }
  bool is_removed(int32_t id) const {
    return std::find(plan_.removed.begin(), plan_.removed.end(), id) != plan_.removed.end();
  }

  void price() {
    for (int32_t id : plan_.removed) plan_.cost_change -= view_.cost[static_cast<size_t>(id)];
    for (const PlannedCall& call : plan_.calls) {
      if (call.constant) continue;
      std::vector<TensorType> operands;
      for (PlanRef r : call.inputs) operands.push_back(type(r));
      Node node;
      node.op = call.op;
      node.attrs = call.attrs;
      node.types = call.types;
      plan_.cost_change += model_.cost(node, operands).microseconds;
    }
  }

  const GraphView& view_;
  const Found& found_;
  const cost::CostModel& model_;
  const PlanOptions& options_;
  Plan plan_;
  std::vector<int32_t> placed_;      // by pattern node of the right side: PlanRef::node
  std::map<int32_t, int32_t> uses_;  // by graph node: change of its use count
};

}  // namespace

PlanRef resolve(const Plan& plan, PlanRef v) {
  for (size_t k = 0; k < plan.replaced.size();) {
    if (plan.replaced[k].first != v) {
      ++k;
      continue;
    }
    v = plan.replaced[k].second;
    k = 0;
  }
  return v;
}

std::optional<Plan> make_plan(const GraphView& view, const Found& found,
                              const cost::CostModel& model, const PlanOptions& options) {
  return Planner(view, found, model, options).run();
}

}  // namespace regraft::rewrite
