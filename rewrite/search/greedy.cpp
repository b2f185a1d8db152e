#include "rewrite/search/greedy.h"

#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

SearchReport Greedy::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                            const SearchOptions& options, const Stop& stop) const {
  auto start = Reporter::Clock::now();
  Engine engine(g, rules, model, {options.opset, &stop, options.sizes});
  Reporter reporter("greedy", engine.cost(), rules, options, stop, start);
  reporter.report.peak_queue = 1;
  StopReason reason = descend(engine, reporter);
  reporter.report.left_out = engine.left_out();
  reporter.report.expanded = engine.depth() + 1;
  return std::move(reporter).finish(reason, engine.moves(), engine.to_graph());
}

}  // namespace regraft::rewrite
