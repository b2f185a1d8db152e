#include "rewrite/search_state.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "rewrite/apply.h"

namespace regraft::rewrite {

std::string to_string(StopReason r) {
  switch (r) {
    case StopReason::Exhausted:
      return "exhausted";
    case StopReason::Budget:
      return "budget";
    case StopReason::Time:
      return "time";
    case StopReason::Interrupted:
      return "interrupted";
  }
  return "";
}

std::optional<StopReason> stopped(const Stop& stop) {
  if (stop.requested()) return StopReason::Interrupted;
  if (stop.out_of_time()) return StopReason::Time;
  return std::nullopt;
}

Identity identity(const Graph& g) {
  std::vector<uint64_t> hashes = value_hashes(g);
  Identity id{mix(g.inputs().size()), 0};
  for (Value v : g.outputs()) {
    id.outputs = combine(id.outputs, hashes[static_cast<size_t>(v.node)]);
    id.outputs = combine(id.outputs, static_cast<uint64_t>(v.output));
  }
  for (int32_t k = 0; k < g.id_bound(); ++k)
    if (g.contains(k)) id.nodes += mix(hashes[static_cast<size_t>(k)] ^ 0x5bf03635f0c2a9d1ULL);
  return id;
}

namespace {

State successor(const GraphView& view, const State& from, const Match& match,
                const cost::CostModel& model) {
  State s{apply(view, match), from.cost + match.plan.cost_change, {}, nullptr};
  if (match.plan.exposes_constant) s.cost = cost::graph_cost(model, s.graph).total.microseconds;
#ifndef NDEBUG
  double exact = cost::graph_cost(model, s.graph).total.microseconds;
  CHECK(std::abs(exact - s.cost) <= 1e-6 * std::max(1.0, exact));
#endif
  s.id = identity(s.graph);
  s.path = std::make_shared<const Step>(
      Step{from.path, match.rule, match.found.nodes, match.found.variables});
  return s;
}

}  // namespace

std::vector<State> successors(const GraphView& view, const State& from,
                              const std::vector<Match>& matches, double limit,
                              const cost::CostModel& model, int threads) {
  std::vector<const Match*> wanted;
  for (const Match& m : matches)
    if (m.plan.exposes_constant || from.cost + m.plan.cost_change < limit) wanted.push_back(&m);
  std::vector<State> built(wanted.size());
  parallel_for(
      wanted.size(), threads,
      [&](size_t k) { built[k] = successor(view, from, *wanted[k], model); }, 4);
  std::erase_if(built, [&](const State& s) { return s.cost >= limit; });
  return built;
}

namespace {

int32_t root_of(const Match& m) {
  return m.found.nodes[static_cast<size_t>(m.found.rule->rule.lhs.outputs[0].node)];
}

/// (rule, root) of the matches that may improve, the largest saving first, each once; only those of
/// the rule with the largest saving: what others save often depends on whether it was applied.
std::vector<std::pair<int, int32_t>> improving_places(const std::vector<Match>& matches) {
  std::vector<const Match*> improving;
  for (const Match& m : matches)
    if (m.plan.cost_change < 0 || m.plan.exposes_constant) improving.push_back(&m);
  std::stable_sort(improving.begin(), improving.end(), [](const Match* a, const Match* b) {
    return a->plan.cost_change < b->plan.cost_change;
  });
  std::vector<std::pair<int, int32_t>> places;
  std::set<std::pair<int, int32_t>> seen;
  for (const Match* m : improving)
    if (m->rule == improving[0]->rule && seen.emplace(m->rule, root_of(*m)).second)
      places.emplace_back(m->rule, root_of(*m));
  return places;
}

}  // namespace

std::optional<Descent> descend(const GraphView& view, const State& from,
                               const std::vector<Match>& matches, const RuleIndex& rules,
                               const cost::CostModel& model, const PlanOptions& options,
                               uint64_t budget) {
  Descent d{from, 0};
  GraphView current = view;
  for (auto [rule, root] : improving_places(matches)) {
    if (!current.graph.contains(root)) continue;
    auto here = find_matches_at(current, rules, rule, root, model, options);
    d.candidates += here.size();
    if (here.empty()) continue;
    if (d.candidates > budget) break;
    auto best = std::min_element(here.begin(), here.end(), [](const Match& a, const Match& b) {
      return a.plan.cost_change < b.plan.cost_change;
    });
    if (best->plan.cost_change >= 0 && !best->plan.exposes_constant) continue;
    State next = successor(current, d.state, *best, model);
    if (!cheaper(next.cost, d.state.cost)) continue;
    d.state = std::move(next);
    current = make_view(d.state.graph, model);
  }
  d.candidates = std::min(d.candidates, budget);
  if (!cheaper(d.state.cost, from.cost)) return std::nullopt;
  return d;
}

std::vector<std::string> names(const RuleIndex& rules, const std::shared_ptr<const Step>& path) {
  std::vector<std::string> result;
  for (const Step* s = path.get(); s; s = s->before.get())
    result.push_back(rules.rules()[static_cast<size_t>(s->rule)].rule.name);
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<AppliedRule> steps(const RuleIndex& rules, const std::shared_ptr<const Step>& path) {
  std::vector<AppliedRule> result;
  for (const Step* s = path.get(); s; s = s->before.get())
    result.push_back(
        {rules.rules()[static_cast<size_t>(s->rule)].rule.name, s->nodes, s->variables});
  std::reverse(result.begin(), result.end());
  return result;
}

Reporter::Reporter(const Graph& original, const RuleIndex& rules, const cost::CostModel& model)
    : rules_(rules) {
  best_.graph = original;
  remove_dead(best_.graph);
  best_.cost = cost::graph_cost(model, best_.graph).total.microseconds;
  best_.id = identity(best_.graph);
  report.cost_before = best_.cost;
}

double Reporter::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Reporter::offer(const State& s) {
  if (!cheaper(s.cost, best_.cost)) return;
  best_ = s;
  Improvement step{report.candidates, s.cost, seconds(), {}, names(rules_, s.path)};
  if (!step.sequence.empty()) step.rule = step.sequence.back();
  report.improvements.push_back(std::move(step));
}

SearchReport Reporter::finish(StopReason reason) && {
  report.stop = reason;
  report.cost_after = best_.cost;
  report.seconds = seconds();
  for (const std::string& name : names(rules_, best_.path)) ++report.applied[name];
  report.steps = steps(rules_, best_.path);
  report.best = std::move(best_.graph);
  return std::move(report);
}

}  // namespace regraft::rewrite
