#include "rewrite/engine/engine.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace regraft::rewrite {

Engine::Engine(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
               EngineOptions options)
    : options_(options),
      own_sizes_(options.sizes ? nullptr
                               : std::make_unique<Sizes>(rules, g.shared_pool(), model,
                                                         for_model({options.opset}, g))),
      sizes_(options.sizes ? *options.sizes : *own_sizes_) {
  CHECK(&sizes_.fitter.rules() == &rules);
  sizes_.interner.use(model);
  start(g);
}

void Engine::start(const Graph& g) {
  state_ = std::make_unique<State>(g, sizes_, options_);
  state_->graph.commit();
  matches_at_start_ = state_->matches.size();
}

int32_t Engine::find(const Move& move) {
  int32_t before = state_->matches.size();
  int32_t number = state_->matches.find(move.place());
  if (state_->matches.size() != before) count_turn(false);
  return number >= 0 && match(number).listed >= 0 ? number : -1;
}

Value Engine::value_of(const Plan& plan, PlanRef r) const {
  PlanRef v = plan.resolve(r);
  return is_planned(v) ? Value{ids_[planned_index(v)], v.output} : Value(v);
}

void Engine::add_calls(const Plan& plan) {
  LiveGraph& g = state_->graph;
  ids_.clear();
  for (size_t k = 0; k < plan.calls.size(); ++k)
    ids_.push_back(g.id_bound() + static_cast<int32_t>(k));
  std::vector<Value> inputs;
  for (const Plan::Call& call : plan.calls) {
    inputs.clear();
    for (PlanRef r : plan.inputs_of(call)) {
      inputs.push_back(value_of(plan, r));
      change_.counted.push_back(inputs.back().node);
    }
    int32_t id = g.add_call(call.form, inputs, call.facts->types, call.facts->cost, call.constant);
    change_.fresh.push_back(id);
    change_.contents.push_back(g.slot(id).content);
  }
}

void Engine::redirect_uses(const Plan& plan, Value from) {
  LiveGraph& g = state_->graph;
  Value to = value_of(plan, from);
  std::vector<std::pair<int32_t, int32_t>> users;
  g.for_uses(from.node, [&](int32_t user, int32_t operand) {
    bool stays = std::find(plan.removed.begin(), plan.removed.end(), user) == plan.removed.end();
    if (stays && g.slot(user).inputs[static_cast<size_t>(operand)] == from)
      users.push_back({user, operand});
  });
  for (auto [user, operand] : users) {
    bool call = g.slot(user).kind == NodeKind::Call;
    if (call) change_.contents.push_back(g.slot(user).content);
    g.redirect(user, operand, to);
    if (call) change_.contents.push_back(g.slot(user).content);
    change_.redirected.push_back(user);
    if (call) change_.fresh.push_back(user);
  }
  for (size_t k = 0; k < g.outputs().size(); ++k)
    if (g.outputs()[k] == from) g.redirect_output(k, to);
  change_.counted.push_back(from.node);
  change_.counted.push_back(to.node);
  if (std::find(ids_.begin(), ids_.end(), to.node) != ids_.end() &&
      std::find(plan.removed.begin(), plan.removed.end(), from.node) != plan.removed.end())
    g.move_name(from, to);
}

void Engine::carry_out(const Plan& plan) {
  LiveGraph& g = state_->graph;
  change_.clear();
  change_.paths = plan.changes_paths;
  add_calls(plan);
  for (const auto& [from, to] : plan.replaced) redirect_uses(plan, from);
  for (int32_t id : plan.removed) {
    if (g.slot(id).kind == NodeKind::Call) change_.contents.push_back(g.slot(id).content);
    for (Value v : g.slot(id).inputs) change_.counted.push_back(v.node);
    g.remove(id);
    change_.removed.push_back(id);
  }
  for (int32_t id : plan.constants) g.set_constant(id);
  change_.constants = plan.constants;
  g.lift(change_.fresh);
  g.lift(change_.redirected);
  auto dead = [&](int32_t id) { return !g.alive(id); };
  std::erase_if(change_.counted, dead);
  std::sort(change_.counted.begin(), change_.counted.end());
  change_.counted.erase(std::unique(change_.counted.begin(), change_.counted.end()),
                        change_.counted.end());
}

const Plan& Engine::plan_of(const Match& match) {
  CHECK(match.listed >= 0);
  CHECK(state_->planner.make(match.place(), *match.fit));
  return state_->planner.plan();
}

void Engine::apply(int32_t number) {
  const Match& m = match(number);
  const Plan& plan = plan_of(m);
#ifndef NDEBUG
  check_applied(m);
  double expected = cost() + m.cost_change;
#endif
  marks_.push_back({state_->graph.mark(), state_->matches.mark()});
  moves_.push_back(
      {m.rule, m.nodes, m.variables, 0, m.cost_change, static_cast<int32_t>(plan.calls.size())});
  carry_out(plan);
  moves_.back().cost = cost();
#ifndef NDEBUG
  CHECK(std::abs(expected - cost()) <= 1e-6 * std::max(1.0, expected));
#endif
  state_->matches.update(change_);
  count_turn(true);
}

void Engine::undo() {
  CHECK(!moves_.empty());
  state_->graph.undo(marks_.back().graph);
  state_->matches.undo(marks_.back().matches);
  marks_.pop_back();
  moves_.pop_back();
  count_turn(false);
}

void Engine::commit() {
  marks_.clear();
  moves_.clear();
  state_->graph.commit();
  state_->matches.commit();
  auto live = static_cast<int32_t>(matches().size());
  if (state_->matches.size() < 4 * (live + matches_at_start_) + 10000) return;
  priced_before_ += state_->matches.priced();
  start(to_graph());
  count_turn(false);
}

[[maybe_unused]] void Engine::check_applied(const Match& match) const {
  auto agree = sides_agree(*match.fit);
  CHECK(!agree.has_value() || *agree);
}

}  // namespace regraft::rewrite
