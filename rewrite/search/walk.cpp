#include "rewrite/search/walk.h"

namespace regraft::rewrite {

Walk::Walk(std::string_view searcher, const Graph& g, const RuleIndex& rules,
           const cost::CostModel& model, const SearchOptions& options, const Stop& stop)
    : engine(g, rules, model, {options.opset, &stop, options.sizes}),
      reporter(searcher, engine.cost(), rules, options, stop, start),
      rng(options.seed),
      max_calls_(options.max_growth * engine.calls()) {}

void Walk::keep() {
  for (const Move& m : engine.moves()) {
    moves_.push_back(m);
    reporter.offer(m.cost, m.rule, moves_.size());
  }
  engine.commit();
}

void Walk::keep_first(size_t depth) {
  while (engine.depth() > depth) engine.undo();
  keep();
}

int32_t Walk::random_match() {
  const auto& matches = engine.matches();
  if (matches.empty()) return -1;
  reporter.look(1);
  int32_t number = matches[rng.below(matches.size())];
  return admits(engine.match(number)) ? number : -1;
}

SearchReport Walk::finish(StopReason reason) && {
  reporter.report.left_out = engine.left_out();
  return std::move(reporter).finish(reason, moves_, engine.to_graph());
}

}  // namespace regraft::rewrite
