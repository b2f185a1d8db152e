#include "rewrite/greedy.h"

#include <fmt/format.h>

#include "rewrite/search_state.h"

namespace regraft::rewrite {

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
    auto next = descend(view, reporter.best(), matches, rules, model, {options.opset},
                        options.budget - report.candidates);
    if (!next) break;
    report.candidates += next->candidates;
    progress.add(next->candidates);
    reporter.offer(next->state);
    progress.note(fmt::format("best {:.1f} us", reporter.best().cost));
  }
  bool cut = report.candidates >= options.budget;
  return std::move(reporter).finish(cut ? StopReason::Budget : StopReason::Exhausted);
}

}  // namespace regraft::rewrite
