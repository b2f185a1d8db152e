#include "cli/macros/mine.h"

#include "cli/support/commands.h"
#include "rewrite/priced_clean_up.h"
#include "rewrite/search/greedy.h"
#include "rewrite/searchers.h"

namespace regraft::cli {

namespace {

rewrite::SearchOptions quiet(const Opset& opset) {
  rewrite::SearchOptions options;
  options.opset = opset;
  options.verbosity = Verbosity::Quiet;
  return options;
}

}  // namespace

Beginning::Beginning(const io::Imported& imported, const rewrite::RuleIndex& rules,
                     const ChosenCost& cost, const Stop& stop)
    : rules_(rules),
      cost_(cost),
      stop_(stop),
      opset_(io::summarise(imported, imported.graph).opset.version, true),
      goal_(cost::Goal::Latency, *cost.model, cost.profiled, imported.graph),
      starts_(imported.graph, [&cost](const Graph& g) {
        return cost.profiled ? cost::with_fusions(g, cost.profiled->runtime()) : g;
      }) {
  auto price = [&](const Graph& g) { return goal_.price(g); };
  if (cost.profiled) starts_.select(rules, *cost.model, price, quiet(opset_), stop);
}

Result<Descended> Beginning::descended(const Graph& start, const cost::CostModel& model) const {
  const auto options = quiet(opset_);
  auto price = [&](const Graph& g) { return goal_.price(g); };
  ASSIGN_OR_RETURN(auto clean, rewrite::clean_up(start, rules_, model, price, options, stop_));
  auto report = rewrite::Greedy().search(clean.best, rules_, model, options, stop_);
  return Descended{std::move(clean.best), std::move(report.best), report.steps.size(), opset_,
                   report.cost_after};
}

std::vector<rewrite::PayingPart> mined(const Descended& model, const rewrite::RuleIndex& rules,
                                       const cost::CostModel& cost, const MineOptions& options,
                                       const Stop& stop) {
  rewrite::SearchOptions search = quiet(model.opset);
  search.budget = options.budget;
  search.seed = options.seed;
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
