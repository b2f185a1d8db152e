#include "rewrite/search/clean_up.h"

#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

namespace {

/// The match that removes most calls, then saves most; -1: none cleans up, or the graph would cost
/// more than `ceiling`.
int32_t best_of(const Engine& engine, double ceiling) {
  double most = ceiling - engine.cost();
  int32_t best = -1;
  for (int32_t number : engine.matches()) {
    const Match& m = engine.match(number);
    if (m.growth >= 0 || m.cost_change > most) continue;
    bool first = best < 0 || m.growth < engine.match(best).growth ||
                 (m.growth == engine.match(best).growth && comes_first(m, engine.match(best)));
    if (first) best = number;
  }
  return best;
}

}  // namespace

SearchReport CleanUp::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                             const SearchOptions& options, const Stop& stop) const {
  auto start = Reporter::Clock::now();
  Engine engine(g, rules, model, {options.opset, &stop});
  Reporter reporter("clean-up", engine.cost(), rules, options, stop, start);
  reporter.report.peak_queue = 1;
  StopReason reason = StopReason::Exhausted;
  double ceiling = (1 + kCleanUpTolerance) * engine.cost();
  for (int32_t number = best_of(engine, ceiling); number >= 0; number = best_of(engine, ceiling)) {
    if (stop.must_end()) {
      reason = reporter.over().value_or(StopReason::Time);
      break;
    }
    int32_t rule = engine.match(number).rule;
    reporter.look(1);
    engine.apply(number);
    reporter.offer(engine.cost(), rule, engine.depth());
  }
  reporter.report.left_out = engine.left_out();
  reporter.report.expanded = engine.depth() + 1;
  SearchReport report = std::move(reporter).finish(reason, engine.moves(), engine.to_graph());
  report.cost_after = engine.cost();
  return report;
}

}  // namespace regraft::rewrite
