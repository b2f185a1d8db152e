#include "rewrite/greedy.h"

#include <fmt/format.h>

#include "rewrite/reporter.h"

namespace regraft::rewrite {

SearchReport Greedy::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                            const SearchOptions& options, const Stop& stop) const {
  Engine engine(g, rules, model, {options.opset});
  Reporter reporter(engine.cost(), rules);
  Progress progress("greedy", "candidates", options.budget, options.verbosity);
  SearchReport& report = reporter.report;
  report.peak_queue = 1;
  std::vector<Move> moves;
  StopReason reason = StopReason::Exhausted;
  auto account = [&] {
    progress.add(engine.priced() - report.candidates);
    report.candidates = engine.priced();
    ++report.expanded;
    for (const Move& m : engine.moves()) {
      moves.push_back(m);
      reporter.offer(m.cost, m.rule, moves.size());
    }
    engine.commit();
  };
  descend(engine, [&] {
    account();
    if (auto r = stopped(stop)) reason = *r;
    if (report.candidates >= options.budget) reason = StopReason::Budget;
    progress.note(fmt::format("best {:.1f} us", reporter.best()));
    return reason == StopReason::Exhausted;
  });
  account();
  return std::move(reporter).finish(reason, moves, engine.to_graph());
}

}  // namespace regraft::rewrite
