#include "rewrite/search/reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <queue>

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
    case StopReason::Memory:
      return "memory";
  }
  return "";
}

Reporter::Reporter(std::string_view searcher, double cost, const RuleIndex& rules,
                   const SearchOptions& options, const Stop& stop, Clock::time_point start)
    : rules_(rules),
      options_(options),
      stop_(stop),
      best_(cost),
      progress_(std::string(searcher), "candidates", options.budget, options.verbosity),
      start_(start) {
  report.cost_before = cost;
}

void Reporter::look(uint64_t candidates) {
  candidates = std::min(candidates, options_.budget - report.candidates);
  report.candidates += candidates;
  progress_.add(candidates);
}

std::optional<StopReason> Reporter::over() const {
  if (stop_.requested()) return StopReason::Interrupted;
  if (stop_.out_of_time()) return StopReason::Time;
  if (stop_.out_of_memory()) return StopReason::Memory;
  bool expanded = options_.max_expanded > 0 && report.expanded >= options_.max_expanded;
  if (expanded || out_of_budget()) return StopReason::Budget;
  return std::nullopt;
}

double Reporter::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

bool Reporter::offer(double cost, int32_t rule, size_t depth) {
  if (!cheaper(cost, best_)) return false;
  best_ = cost;
  const std::string& name = rules_.rules()[static_cast<size_t>(rule)].rule.name;
  report.improvements.push_back({report.candidates, cost, seconds(), name, depth});
  progress_.note(fmt::format("best {:.1f} us", cost));
  return true;
}

SearchReport Reporter::finish(StopReason reason, const std::vector<Move>& moves, Graph best) && {
  // What a limit cut short has not been exhausted, whatever it looked like to the searcher.
  report.stop = reason == StopReason::Exhausted ? over().value_or(reason) : reason;
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

void add_counts(SearchReport& total, const SearchReport& next) {
  total.expanded += next.expanded;
  total.candidates += next.candidates;
  total.duplicates += next.duplicates;
  total.rejected += next.rejected;
  total.peak_queue = std::max(total.peak_queue, next.peak_queue);
  total.seconds += next.seconds;
  total.polishing += next.polishing;
  total.stop = next.stop;
}

void append(SearchReport& total, SearchReport&& next, double seconds_before) {
  for (Improvement i : next.improvements) {
    i.candidate += total.candidates;
    i.seconds += seconds_before;
    i.depth += total.steps.size();
    total.improvements.push_back(std::move(i));
  }
  for (const auto& [rule, n] : next.applied) total.applied[rule] += n;
  std::move(next.steps.begin(), next.steps.end(), std::back_inserter(total.steps));
  total.left_out = std::max(total.left_out, next.left_out);
  total.best = std::move(next.best);
  total.cost_after = next.cost_after;
}

void redo(Engine& engine, const Move& move) {
  int32_t number = engine.find(move);
  CHECK(number >= 0);
  engine.apply(number);
}

bool comes_first(const Match& a, const Match& b) {
  return std::tie(a.cost_change, a.rule, a.nodes, a.variables) <
         std::tie(b.cost_change, b.rule, b.nodes, b.variables);
}

namespace {

/// The matches that save: first what saves most, then by rule and place.
class Saving {
 public:
  explicit Saving(const Engine& engine) : engine_(engine) { add(engine.matches()); }
  /// Those of the numbers that apply. A match that was priced anew stays at its old place too.
  void add(const std::vector<int32_t>& numbers) {
    for (int32_t number : numbers) {
      const Match& m = engine_.match(number);
      if (m.listed < 0 || m.cost_change >= 0) continue;
      heap_.push({m.fit->rule->rule.origin == "learnt", m.cost_change, number, &engine_});
    }
  }
  /// -1: there is none.
  int32_t best() {
    while (!heap_.empty()) {
      const Entry& top = heap_.top();
      const Match& m = engine_.match(top.number);
      if (m.listed >= 0 && m.cost_change == top.cost_change) return top.number;
      heap_.pop();
    }
    return -1;
  }

 private:
  struct Entry {
    bool learnt;
    double cost_change;
    int32_t number;
    const Engine* engine;
    bool operator<(const Entry& other) const {
      if (learnt != other.learnt) return learnt;
      if (cost_change != other.cost_change) return cost_change > other.cost_change;
      const Match &a = engine->match(other.number), &b = engine->match(number);
      return std::tie(a.rule, a.nodes, a.variables) < std::tie(b.rule, b.nodes, b.variables);
    }
  };
  const Engine& engine_;
  std::priority_queue<Entry> heap_;
};

}  // namespace

StopReason descend(Engine& engine, Reporter& reporter, size_t before, uint64_t priced) {
  for (Saving saving(engine);; saving.add(engine.fresh_matches())) {
    reporter.look(engine.priced() - priced);
    priced = engine.priced();
    int32_t best = saving.best();
    if (best < 0 || !cheaper(engine.cost() + engine.match(best).cost_change, engine.cost()))
      return StopReason::Exhausted;
    if (auto reason = reporter.over()) return *reason;
    engine.apply(best);
    const Move& move = engine.moves().back();
    reporter.offer(move.cost, move.rule, before + engine.depth());
  }
}

}  // namespace regraft::rewrite
