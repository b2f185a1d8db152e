#include "rewrite/search/clean_up.h"

#include <algorithm>

#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

namespace {

constexpr int32_t kMostGrowth = 2;     ///< calls that a detour may have more than its start
constexpr size_t kLongestDetour = 24;  ///< moves

bool cleans_more(const Match& a, const Match& b) {
  return a.growth < b.growth || (a.growth == b.growth && comes_first(a, b));
}

/// Does it move a call of elements before a reshape or a transposition?
bool sinks_movement(const Rule& rule) {
  auto work_at = [](const Pattern& side) -> std::optional<Work> {
    PatternRef out = side.outputs[0];
    if (side.outputs.size() != 1 || is_variable(out)) return std::nullopt;
    return side.nodes[static_cast<size_t>(out.node)].op->work;
  };
  auto before = work_at(rule.lhs), after = work_at(rule.rhs);
  return before && after && *before != Work::Movement && *after == Work::Movement &&
         rule.rhs.nodes.size() <= rule.lhs.nodes.size();
}

/// Does it take its results from a call that copies, of an operator that was not there?
bool brings_copies(const Rule& rule) {
  return std::ranges::any_of(rule.rhs.outputs, [&](PatternRef out) {
    if (is_variable(out)) return false;
    const OpDef* op = rule.rhs.nodes[static_cast<size_t>(out.node)].op;
    return op->work == Work::Movement && !op->view &&
           std::ranges::none_of(rule.lhs.nodes, [&](const PatternNode& n) { return n.op == op; });
  });
}

/// Does it make constants that were not there? A detour has no use for neutral elements.
bool makes_constants(const Rule& rule) {
  auto makers = [](const Pattern& side) {
    return std::ranges::count_if(side.nodes, [](const PatternNode& n) { return n.inputs.empty(); });
  };
  return makers(rule.rhs) > makers(rule.lhs);
}

/// Descends by the number of calls; detours lead over more of them.
class Descent {
 public:
  Descent(Engine& engine, Reporter& reporter, const RuleIndex& rules, const Stop& stop)
      : engine_(engine),
        reporter_(reporter),
        stop_(stop),
        ceiling_((1 + kCleanUpTolerance) * engine.cost()) {
    for (const CompiledRule& rule : rules.rules()) {
      sinks_.push_back(sinks_movement(rule.rule));
      copies_.push_back(brings_copies(rule.rule));
      seeds_.push_back(!copies_.back() && !makes_constants(rule.rule));
    }
  }

  /// Returns why it ended.
  StopReason run() {
    do {
      for (int32_t m = best(engine_.matches()); m >= 0 && !stop_.must_end();
           m = best(engine_.matches())) {
        take(m);
        keep();
      }
    } while (detours());
    return stop_.must_end() ? reporter_.over().value_or(StopReason::Time) : StopReason::Exhausted;
  }

 private:
  bool applies(int32_t number) const { return engine_.match(number).listed >= 0; }
  bool is_affordable(const Match& m) const { return m.cost_change <= ceiling_ - engine_.cost(); }

  /// The match that removes most calls, then saves most; -1: none does, or the graph would cost
  /// more than the ceiling.
  int32_t best(const std::vector<int32_t>& numbers) const {
    int32_t best = -1;
    for (int32_t number : numbers) {
      if (!applies(number)) continue;
      const Match& m = engine_.match(number);
      if (m.growth >= 0 || copies_[static_cast<size_t>(m.rule)] || !is_affordable(m)) continue;
      if (best < 0 || cleans_more(m, engine_.match(best))) best = number;
    }
    return best;
  }

  /// What continues a detour: what ends it with fewer calls, or else a movement that sinks further.
  int32_t next(bool sinks, int32_t calls) const {
    const std::vector<int32_t>& fresh = engine_.fresh_matches();
    int32_t found = best(fresh), room = calls - engine_.calls();
    if (found >= 0 && engine_.match(found).growth < room) return found;
    found = -1;
    for (int32_t number : fresh) {
      if (!sinks || !applies(number)) continue;
      const Match& m = engine_.match(number);
      if (!sinks_[static_cast<size_t>(m.rule)] || m.growth > room + kMostGrowth) continue;
      if (found < 0 || cleans_more(m, engine_.match(found))) found = number;
    }
    return found;
  }

  void take(int32_t number) {
    rule_ = engine_.match(number).rule;
    reporter_.look(1);
    engine_.apply(number);
  }
  void keep() {
    reporter_.offer(engine_.cost(), rule_, engine_.depth());
    ceiling_ = std::min(ceiling_, (1 + kCleanUpTolerance) * engine_.cost());
  }

  bool is_seed(int32_t number) const {
    if (!applies(number)) return false;
    const Match& m = engine_.match(number);
    bool sinks = sinks_[static_cast<size_t>(m.rule)] != 0;
    if (!seeds_[static_cast<size_t>(m.rule)]) return false;
    return m.growth == 0 || (sinks && m.growth > 0 && m.growth <= kMostGrowth);
  }

  /// Tries moves that remove nothing by themselves. Did some lead to fewer calls?
  bool detours() {
    std::vector<int32_t> seeds;
    std::ranges::copy_if(engine_.matches(), std::back_inserter(seeds),
                         [&](int32_t number) { return is_seed(number); });
    std::ranges::sort(seeds, [&](int32_t a, int32_t b) {
      return comes_first(engine_.match(a), engine_.match(b));
    });
    bool found = false;
    for (int32_t seed : seeds) {
      if (stop_.must_end()) return false;
      found = (is_seed(seed) && follow(seed)) || found;
    }
    return found;
  }

  /// Keeps the moves when they lead to fewer calls.
  bool follow(int32_t seed) {
    size_t depth = engine_.depth();
    int32_t calls = engine_.calls();
    bool sinks = sinks_[static_cast<size_t>(engine_.match(seed).rule)] != 0;
    for (int32_t m = seed; m >= 0 && engine_.depth() - depth < kLongestDetour;) {
      take(m);
      if (engine_.calls() < calls && engine_.cost() <= ceiling_) {
        keep();
        return true;
      }
      m = next(sinks, calls);
    }
    while (engine_.depth() > depth) engine_.undo();
    return false;
  }

  Engine& engine_;
  Reporter& reporter_;
  const Stop& stop_;
  double ceiling_;                            // of the cheapest graph so far
  int32_t rule_ = -1;                         // the last that was applied
  std::vector<char> sinks_, copies_, seeds_;  // by rule
};

}  // namespace

SearchReport CleanUp::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                             const SearchOptions& options, const Stop& stop) const {
  auto start = Reporter::Clock::now();
  const auto* without = without_.empty() ? nullptr : &without_;
  Engine engine(g, rules, model, {options.opset, &stop, options.sizes, without});
  Reporter reporter("clean-up", engine.cost(), rules, options, stop, start);
  reporter.report.peak_queue = 1;
  StopReason reason = Descent(engine, reporter, rules, stop).run();
  reporter.report.left_out = engine.left_out();
  reporter.report.expanded = engine.depth() + 1;
  SearchReport report = std::move(reporter).finish(reason, engine.moves(), engine.to_graph());
  report.cost_after = engine.cost();
  return report;
}

}  // namespace regraft::rewrite
