#include "rewrite/reporter.h"

#include <algorithm>

#include "base/check.h"

namespace regraft::rewrite {

std::string to_string(StopReason r) {
  switch (r) {
    case StopReason::Exhausted:
      return "exhausted";
    case StopReason::Budget:
      return "budget";
    case StopReason::Time:
      return "time";
    case StopReason::Interrupted:
      return "interrupted";
  }
  return "";
}

std::optional<StopReason> stopped(const Stop& stop) {
  if (stop.requested()) return StopReason::Interrupted;
  if (stop.out_of_time()) return StopReason::Time;
  return std::nullopt;
}

Reporter::Reporter(double cost, const RuleIndex& rules) : rules_(rules), best_(cost) {
  report.cost_before = cost;
}

double Reporter::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Reporter::offer(double cost, int32_t rule, size_t depth) {
  if (!cheaper(cost, best_)) return false;
  best_ = cost;
  const std::string& name = rules_.rules()[static_cast<size_t>(rule)].rule.name;
  report.improvements.push_back({report.candidates, cost, seconds(), name, depth});
  return true;
}

SearchReport Reporter::finish(StopReason reason, const std::vector<Move>& moves, Graph best) && {
  report.stop = reason;
  report.cost_after = best_;
  report.seconds = seconds();
  for (const Move& m : moves) {
    const std::string& name = rules_.rules()[static_cast<size_t>(m.rule)].rule.name;
    ++report.applied[name];
    report.steps.push_back({name, m.nodes, m.variables});
  }
  report.best = std::move(best);
  return std::move(report);
}

void redo(Engine& engine, const Move& move) {
  int32_t number = engine.find(move);
  CHECK(number >= 0);
  engine.apply(number);
}

namespace {

bool comes_first(const Match& a, const Match& b) {
  if (a.cost_change != b.cost_change) return a.cost_change < b.cost_change;
  return std::tie(a.rule, a.nodes, a.variables) < std::tie(b.rule, b.nodes, b.variables);
}

}  // namespace

bool descend(Engine& engine, const std::function<bool()>& go_on) {
  for (;;) {
    int32_t best = -1;
    for (int32_t number : engine.matches())
      if (best < 0 || comes_first(engine.match(number), engine.match(best))) best = number;
    bool saves =
        best >= 0 && cheaper(engine.cost() + engine.match(best).cost_change, engine.cost());
    if (!saves || !go_on()) return saves;
    engine.apply(best);
  }
}

}  // namespace regraft::rewrite
