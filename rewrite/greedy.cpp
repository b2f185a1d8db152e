#include "rewrite/greedy.h"

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/apply.h"
#include "rewrite/search_state.h"

namespace regraft::rewrite {

namespace {

/// The cheapest strictly improving successor; nothing when there is none.
std::optional<State> best_successor(const GraphView& view, const State& from,
                                    std::vector<Match> matches, const cost::CostModel& model) {
  std::stable_sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    return a.plan.cost_change < b.plan.cost_change;
  });
  // The cost of a match that exposes constants is known only when it is applied.
  std::vector<Match> tried;
  for (Match& m : matches)
    if (m.plan.exposes_constant || tried.empty() || tried[0].plan.exposes_constant)
      tried.push_back(std::move(m));
  std::vector<State> built = successors(view, from, tried, from.cost, model, 1);
  auto best = std::min_element(built.begin(), built.end(),
                               [](const State& a, const State& b) { return a.cost < b.cost; });
  if (best == built.end() || !cheaper(best->cost, from.cost)) return std::nullopt;
  return std::move(*best);
}

}  // namespace

SearchReport Greedy::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                            const SearchOptions& options, const Stop& stop) const {
  Reporter reporter(g, rules, model);
  Progress progress("greedy", "candidates", options.budget, options.verbosity);
  SearchReport& report = reporter.report;
  report.peak_queue = 1;
  for (;;) {
    if (auto reason = stopped(stop)) return std::move(reporter).finish(*reason);
    if (report.candidates >= options.budget) return std::move(reporter).finish(StopReason::Budget);
    GraphView view = make_view(reporter.best().graph, model);
    std::vector<Match> matches = find_matches(view, rules, model, {options.opset});
    if (matches.size() > options.budget - report.candidates)
      matches.resize(options.budget - report.candidates);
    report.candidates += matches.size();
    ++report.expanded;
    progress.add(matches.size());
    auto next = best_successor(view, reporter.best(), std::move(matches), model);
    if (!next) break;
    reporter.offer(*next);
    progress.note(fmt::format("best {:.1f} us", reporter.best().cost));
  }
  bool cut = report.candidates >= options.budget;
  return std::move(reporter).finish(cut ? StopReason::Budget : StopReason::Exhausted);
}

}  // namespace regraft::rewrite
