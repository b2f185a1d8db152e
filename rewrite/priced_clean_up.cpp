#include "rewrite/priced_clean_up.h"

#include "rewrite/search/clean_up.h"
#include "rewrite/search/replay.h"
#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

namespace {

constexpr int kMostBlamed = 4;    // rules that one clean-up is done without
constexpr int kMostNodes = 5000;  // of a graph that is cleaned up more than once

struct Prefix {
  size_t steps = 0;
  Graph graph;  ///< after these steps
};

/// Steps after which the graph costs at most `most`, while one more costs more; by halving.
/// REQUIRES: all steps together cost more.
Result<Prefix> longest_prefix(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                              const GraphPrice& price, const SearchOptions& options,
                              const SearchReport& report, double most, const Stop& stop) {
  Prefix fits{0, g};
  size_t dear = report.steps.size();
  Replayer replayer(g, rules, report.steps, model, {options.opset, &stop, options.sizes});
  while (dear - fits.steps > 1 && !stop.must_end()) {
    size_t middle = fits.steps + (dear - fits.steps) / 2;
    ASSIGN_OR_RETURN(Graph then, replayer.after(middle));
    if (price(then) > most)
      dear = middle;
    else
      fits = {middle, std::move(then)};
  }
  return fits;
}

SearchReport cut(const SearchReport& report, const cost::CostModel& model, Prefix fits) {
  SearchReport result;
  add_counts(result, report);
  result.cost_before = report.cost_before;
  result.cost_after = cost::graph_cost(model, fits.graph).total.microseconds;
  result.steps.assign(report.steps.begin(),
                      report.steps.begin() + static_cast<ptrdiff_t>(fits.steps));
  for (const AppliedRule& step : result.steps) ++result.applied[step.rule];
  result.best = std::move(fits.graph);
  return result;
}

}  // namespace

Result<SearchReport> clean_up(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                              const GraphPrice& price, const SearchOptions& options,
                              const Stop& stop) {
  SearchReport report = CleanUp().search(g, rules, model, options, stop);
  if (report.steps.empty()) return report;
  const double most = (1 + 2 * kCleanUpTolerance) * price(g);
  const int reruns = g.node_count() < kMostNodes ? kMostBlamed : 0;
  SearchReport best = cut(report, model, {0, g});
  std::vector<char> left_out(rules.rules().size(), 0);
  for (int k = 0; price(report.best) > most; ++k) {
    ASSIGN_OR_RETURN(Prefix fits,
                     longest_prefix(g, rules, model, price, options, report, most, stop));
    const std::string blamed = report.steps[fits.steps].rule;
    const bool last = k == reruns || stop.must_end();
    if (fits.graph.node_count() < best.best.node_count())
      best = cut(report, model, std::move(fits));
    if (last) return best;
    for (size_t r = 0; r < left_out.size(); ++r)
      if (rules.rules()[r].rule.name == blamed) left_out[r] = 1;
    report = CleanUp(left_out).search(g, rules, model, options, stop);
  }
  return best.best.node_count() < report.best.node_count() ? best : report;
}

}  // namespace regraft::rewrite
