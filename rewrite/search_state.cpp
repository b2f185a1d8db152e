#include "rewrite/search_state.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/hash.h"
#include "rewrite/apply.h"

namespace regraft::rewrite {

std::string to_string(StopReason r) {
  switch (r) {
    case StopReason::Exhausted: return "exhausted";
    case StopReason::Budget: return "budget";
    case StopReason::Time: return "time";
    case StopReason::Interrupted: return "interrupted";
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
  s.path = std::make_shared<const Step>(Step{from.path, match.rule});
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

std::vector<std::string> names(const RuleIndex& rules, const std::shared_ptr<const Step>& path) {
  std::vector<std::string> result;
  for (const Step* s = path.get(); s; s = s->before.get())
    result.push_back(rules.rules()[static_cast<size_t>(s->rule)].rule.name);
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
  report.best = std::move(best_.graph);
  return std::move(report);
}

}  // namespace regraft::rewrite
