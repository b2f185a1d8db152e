#include "rewrite/optimize.h"

#include "base/check.h"
#include "ir/graph/fold.h"

namespace regraft::rewrite {

Account account(const cost::CostModel& model, const Graph& g) {
  cost::GraphCost sum = cost::graph_cost(model, g);
  Account result{std::move(sum.calls_by_op), 0, sum.total};
  auto order = topological_order(g);
  CHECK(order.has_value());
  for (int32_t id : *order)
    if (g.node(id).kind == NodeKind::Constant) result.parameters += g.node(id).constant->count();
  return result;
}

Result<OptimizeReport> optimize(const Graph& g, const RuleIndex& rules,
                                const cost::CostModel& model, const Searcher& searcher,
                                const SearchOptions& options, const Stop& stop) {
  OptimizeReport report;
  report.before = account(model, g);
  report.search = searcher.search(g, rules, model, options, stop);
  ASSIGN_OR_RETURN(FoldReport folded, fold(report.search.best));
  report.search.best = Graph();
  report.graph = std::move(folded.graph);
  report.calls_folded = folded.calls_folded;
  report.after = account(model, report.graph);
  return report;
}

}  // namespace regraft::rewrite
