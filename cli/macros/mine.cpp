#include "cli/macros/mine.h"

#include "cli/support/commands.h"
#include "cost/profile/objective.h"
#include "rewrite/search/clean_up.h"
#include "rewrite/search/greedy.h"
#include "rewrite/searchers.h"
#include "rewrite/selection.h"

namespace regraft::cli {

Descended descended(const io::Imported& imported, const rewrite::RuleIndex& rules,
                    const ChosenCost& cost, const Stop& stop) {
  Descended d;
  d.opset = Opset(io::summarise(imported, imported.graph).opset.version, true);
  rewrite::SearchOptions options;
  options.opset = d.opset;
  options.verbosity = Verbosity::Quiet;
  Graph g = imported.graph;
  if (cost.profiled && rules.selection()) {
    cost::Objective goal(cost::Goal::Latency, *cost.model, cost.profiled, g);
    auto price = [&](const Graph& candidate) { return goal.price(candidate); };
    g = rewrite::select_operators(g, *rules.selection(), *cost.model, price, options, stop).best;
  }
  if (cost.profiled) g = cost::with_fusions(g, cost.profiled->runtime());
  g = rewrite::CleanUp().search(g, rules, *cost.model, options, stop).best;
  auto report = rewrite::Greedy().search(g, rules, *cost.model, options, stop);
  d.graph = std::move(report.best);
  d.cost = report.cost_after;
  return d;
}

std::vector<rewrite::PayingPart> mined(const Descended& model, const rewrite::RuleIndex& rules,
                                       const cost::CostModel& cost, const MineOptions& options,
                                       const Stop& stop) {
  rewrite::SearchOptions search;
  search.budget = options.budget;
  search.seed = options.seed;
  search.opset = model.opset;
  search.verbosity = Verbosity::Quiet;
  std::vector<rewrite::PayingPart> parts;
  for (const std::string& name : options.searchers) {
    if (stop.must_end()) break;
    auto report = rewrite::make_searcher(name)->search(model.graph, rules, cost, search, stop);
    for (auto& part :
         rewrite::paying_parts(model.graph, rules, report.steps, cost, {model.opset, &stop}, stop))
      parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace regraft::cli
