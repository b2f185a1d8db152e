#include "rewrite/engine/plan.h"

#include <algorithm>
#include <utility>

namespace regraft::rewrite {

namespace {

bool contains(const std::vector<int32_t>& ids, int32_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

PlanRef Plan::resolve(PlanRef v) const {
  for (size_t k = 0; k < replaced.size();) {
    if (replaced[k].first != v) {
      ++k;
      continue;
    }
    v = replaced[k].second;
    k = 0;
  }
  return v;
}

bool Planner::make(const Place& place, const Fit& fit) {
  place_ = &place;
  fit_ = &fit;
  plan_.calls.clear();
  plan_.inputs.clear();
  plan_.replaced.clear();
  plan_.found.clear();
  plan_.removed.clear();
  plan_.constants.clear();
  plan_.counts.clear();
  plan_.contents.clear();
  plan_.reads_paths = plan_.reads_constants = plan_.changes_paths = false;
  placed_.clear();
  touched_.clear();
  ++round_;
  deltas_.resize(static_cast<size_t>(g_.id_bound()));
  bool possible = add_right_side() && redirect() && !has_cycle();
  if (possible) {
    count_uses();
    remove_dead_nodes();
    expose_constants();
    price();
  }
  note_dependencies();
  return possible;
}

bool Planner::constant(PlanRef r) const {
  return is_planned(r) ? plan_.calls[planned_index(r)].constant : g_.slot(r.node).constant;
}

PlanRef Planner::place_of(PatternRef r) const {
  if (is_variable(r)) return place_->variables[static_cast<size_t>(variable_of(r))];
  return {placed_[static_cast<size_t>(r.node)], r.output};
}

bool Planner::add_right_side() {
  const Pattern& rhs = fit_->rule->rule.rhs;
  for (size_t j = 0; j < rhs.nodes.size(); ++j)
    if (!place_call(fit_->calls[j], rhs.nodes[j].inputs)) return false;
  return true;
}

/// Finds the node that computes this already, or plans a call; false when it cannot be written.
bool Planner::place_call(const Fit::Call& call, const std::vector<PatternRef>& operands) {
  Plan::Call planned{call.form, call.facts, plan_.inputs.size(), operands.size(), true};
  bool exists = true, known = true;
  operands_.clear();
  for (PatternRef r : operands) {
    PlanRef v = place_of(r);
    plan_.inputs.push_back(v);
    planned.constant = planned.constant && constant(v);
    exists = exists && !is_planned(v);
    const Plan::Call* maker = is_planned(v) ? &plan_.calls[planned_index(v)] : nullptr;
    known = known && (!maker || maker->inputs == 0);
    if (known)
      operands_.push_back(maker ? g_.operand_hash(maker->form, v.output) : g_.operand_hash(v));
  }
  if (!operands.empty() && !call.facts->foldable) planned.constant = false;  // of open sizes
  uint64_t content = known ? g_.content_hash(call.form, operands_) : 0;
  // What a maker of constants costs, and what reads it, is the same whether it is there or not.
  bool matters = !operands.empty() || !call.facts->foldable;
  if (known && matters) plan_.contents.push_back(content);
  if (exists) {
    int32_t id = g_.find_call(content, call.form, plan_.inputs_of(planned), call.facts->types[0]);
    if (id >= 0) {
      placed_.push_back(id);
      plan_.found.push_back(id);
      plan_.inputs.resize(planned.first_input);
      return true;
    }
  }
  if (int32_t twin = planned_twin(planned); twin >= 0) {
    placed_.push_back(~twin);
    plan_.inputs.resize(planned.first_input);
    return true;
  }
  bool folds = planned.constant && call.facts->foldable;
  if (!folds && !call.facts->writable) return false;
  placed_.push_back(~static_cast<int32_t>(plan_.calls.size()));
  plan_.calls.push_back(planned);
  return true;
}

int32_t Planner::planned_twin(const Plan::Call& call) const {
  auto inputs = plan_.inputs_of(call);
  const OpDef& op = *g_.interner().form(call.form).op;
  for (size_t k = 0; k < plan_.calls.size(); ++k) {
    const Plan::Call& other = plan_.calls[k];
    if (other.form == call.form && same_operands(op, inputs, plan_.inputs_of(other)))
      return static_cast<int32_t>(k);
  }
  return -1;
}

bool Planner::redirect() {
  const Rule& rule = fit_->rule->rule;
  bool runs = false;
  for (size_t k = 0; k < rule.lhs.outputs.size(); ++k) {
    PatternRef out = rule.lhs.outputs[k];
    Value from{place_->nodes[static_cast<size_t>(out.node)], out.output};
    PlanRef to = place_of(rule.rhs.outputs[k]);
    if (constant(from) && !constant(to)) return false;
    runs = runs || !constant(from);
    if (from == to) continue;
    plan_.replaced.push_back({from, to});
    plan_.reads_constants = plan_.reads_constants || constant(from) != constant(to);
  }
  return runs && !plan_.replaced.empty();
}

/// With one output the right side reads nothing but what the left side reads, so that only a right
/// side which contains the very call that it replaces is a cycle. With several the new value of one
/// may read what depends on another.
bool Planner::has_cycle() {
  const auto& replaced = plan_.replaced;
  bool joint = fit_->rule->rule.lhs.outputs.size() > 1;
  bool possible = joint || std::any_of(replaced.begin(), replaced.end(), [&](const auto& r) {
                    return contains(plan_.found, r.first.node);
                  });
  if (!possible) return false;
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

std::vector<char> Planner::outputs_needed_by(PlanRef to) {
  const auto& replaced = plan_.replaced;
  std::vector<char> needed(replaced.size(), 0), seen(plan_.calls.size(), 0);
  double first = g_.slot(replaced[0].first.node).position;
  for (const auto& [from, unused] : replaced) first = std::min(first, g_.slot(from.node).position);
  walked_.resize(static_cast<size_t>(g_.id_bound()));
  ++walk_;
  auto read = [&](const auto& inputs) { read_.insert(read_.end(), inputs.begin(), inputs.end()); };
  read_.assign(1, to);
  while (!read_.empty()) {
    PlanRef v = read_.back();
    read_.pop_back();
    if (is_planned(v)) {
      char& before = seen[planned_index(v)];
      if (!std::exchange(before, 1)) read(plan_.inputs_of(plan_.calls[planned_index(v)]));
      continue;
    }
    const LiveGraph::Slot& slot = g_.slot(v.node);
    if (slot.position < first) continue;
    bool redirected = false;
    for (size_t j = 0; j < replaced.size(); ++j)
      if (replaced[j].first == v) needed[j] = redirected = true;
    if (!redirected && std::exchange(walked_[static_cast<size_t>(v.node)], walk_) != walk_)
      read(slot.inputs);
  }
  return needed;
}

int32_t& Planner::delta(int32_t id) {
  Delta& d = deltas_[static_cast<size_t>(id)];
  if (d.round != round_) {
    d = {round_, 0};
    touched_.push_back(id);
  }
  return d.value;
}

void Planner::use(PlanRef r, int32_t n) {
  PlanRef target = plan_.resolve(r);
  if (!is_planned(target)) delta(target.node) += n;
}

void Planner::count_uses() {
  for (PlanRef r : plan_.inputs) use(r, 1);
  for (const auto& [from, to] : plan_.replaced) {
    int32_t n = g_.slot(from.node).types.size() == 1 ? g_.slot(from.node).uses : g_.uses_of(from);
    delta(from.node) -= n;
    use(to, n);
  }
}

bool Planner::is_removed(int32_t id) const { return contains(plan_.removed, id); }

void Planner::check_dead(int32_t id) {
  bool dead = g_.slot(id).uses + delta(id) == 0;
  if (!dead || g_.slot(id).kind == NodeKind::Input || is_removed(id)) return;
  plan_.removed.push_back(id);
  stack_.push_back(id);
}

void Planner::remove_dead_nodes() {
  for (const auto& [from, to] : plan_.replaced) check_dead(from.node);
  while (!stack_.empty()) {
    int32_t id = stack_.back();
    stack_.pop_back();
    for (Value v : g_.slot(id).inputs) {
      PlanRef target = plan_.resolve(v);
      if (is_planned(target)) continue;
      --delta(target.node);
      check_dead(target.node);
    }
  }
}

/// What follows a value that becomes constant may depend on constants only as well.
void Planner::expose_constants() {
  if (!plan_.reads_constants) return;
  auto becomes_constant = [&](int32_t id) {
    const LiveGraph::Slot& s = g_.slot(id);
    if (s.kind != NodeKind::Call || s.constant || is_removed(id)) return false;
    return std::all_of(s.inputs.begin(), s.inputs.end(), [&](Value v) {
      PlanRef target = plan_.resolve(v);
      return constant(target) || (!is_planned(target) && contains(plan_.constants, target.node));
    });
  };
  auto visit = [&](int32_t user, int32_t) {
    if (contains(plan_.constants, user) || !becomes_constant(user)) return;
    plan_.constants.push_back(user);
  };
  for (const auto& [from, to] : plan_.replaced) {
    if (!constant(plan_.resolve(to))) continue;
    g_.for_uses(from.node, visit);
  }
  for (size_t k = 0; k < plan_.constants.size(); ++k) g_.for_uses(plan_.constants[k], visit);
}

void Planner::price() {
  plan_.cost_change = 0;
  plan_.growth = 0;
  auto drop = [&](int32_t id) {
    const LiveGraph::Slot& s = g_.slot(id);
    if (s.constant || (s.kind != NodeKind::Call && s.kind != NodeKind::Opaque)) return;
    plan_.cost_change -= s.cost;
    --plan_.growth;
  };
  for (int32_t id : plan_.removed) drop(id);
  for (int32_t id : plan_.constants) drop(id);
  for (const Plan::Call& call : plan_.calls) {
    if (call.constant) continue;
    plan_.cost_change += call.facts->cost;
    ++plan_.growth;
  }
}

void Planner::note_dependencies() {
  const Rule& rule = fit_->rule->rule;
  plan_.reads_paths = rule.lhs.outputs.size() > 1;
  for (int32_t id : place_->nodes) delta(id);
  for (Value v : place_->variables) delta(v.node);
  auto is_output = [&](int32_t id) {
    return std::any_of(rule.lhs.outputs.begin(), rule.lhs.outputs.end(), [&](PatternRef out) {
      return place_->nodes[static_cast<size_t>(out.node)] == id;
    });
  };
  for (int32_t id : touched_) {
    const LiveGraph::Slot& s = g_.slot(id);
    if (s.kind != NodeKind::Call && s.kind != NodeKind::Opaque) continue;  // costs nothing
    bool shared = s.types.size() > 1 && is_output(id);
    plan_.counts.push_back({id, shared ? kAnyChange : delta(id)});
  }
  plan_.changes_paths = rule.lhs.outputs.size() > 1 || !plan_.found.empty() ||
                        !plan_.constants.empty() ||
                        std::ranges::count(fit_->rule->rhs_needs()[0], 1) <
                            static_cast<std::ptrdiff_t>(rule.variables.size());
  for (size_t j = 0; j < place_->nodes.size() && !plan_.changes_paths; ++j)
    plan_.changes_paths =
        g_.slot(place_->nodes[j]).kind == NodeKind::Call && !is_removed(place_->nodes[j]);
}

}  // namespace regraft::rewrite
