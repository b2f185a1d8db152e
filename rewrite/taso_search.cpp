#include "rewrite/taso_search.h"

#include <algorithm>
#include <unordered_set>

#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

namespace {

/// The moves that led to a graph, newest first.
struct Step {
  std::shared_ptr<const Step> before;
  Move move;
};

struct Entry {
  Graph graph;
  double cost = 0;
  std::shared_ptr<const Step> path;
};

std::vector<Move> moves_of(const Step* last) {
  std::vector<Move> moves;
  for (const Step* s = last; s; s = s->before.get()) moves.push_back(s->move);
  std::reverse(moves.begin(), moves.end());
  return moves;
}

class TasoRun {
 public:
  TasoRun(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
          const SearchOptions& options, const Stop& stop)
      : clock_(Reporter::Clock::now()),
        rules_(rules),
        model_(model),
        options_(options),
        best_{g, 0, nullptr},
        max_calls_(start()),
        reporter_("taso", best_.cost, rules, options, stop, clock_) {}

  SearchReport run() && {
    seen_.insert(structural_hash(best_.graph));
    queue_.emplace(best_.cost, best_);
    StopReason reason = StopReason::Exhausted;
    while (!queue_.empty() && reason == StopReason::Exhausted) {
      Entry e = std::move(queue_.extract(queue_.begin()).mapped());
      take(e);
      if (auto over = reporter_.over()) reason = *over;
    }
    auto moves = moves_of(best_.path.get());
    return std::move(reporter_).finish(reason, moves, std::move(best_.graph));
  }

 private:
  double start() {
    remove_dead(best_.graph);
    cost::GraphCost sum = cost::graph_cost(model_, best_.graph);
    best_.cost = sum.total.microseconds;
    return options_.max_growth * static_cast<double>(sum.calls);
  }

  void take(const Entry& e) {
    size_t depth = moves_of(e.path.get()).size();
    if (e.path && reporter_.offer(e.cost, e.path->move.rule, depth)) best_ = e;
    ++reporter_.report.expanded;
    Engine engine(e.graph, rules_, model_, {options_.opset});
    for (int32_t number : std::vector<int32_t>(engine.matches())) {
      if (reporter_.over()) return;
      reporter_.look(1);
      engine.apply(number);
      consider({engine.to_graph(), 0, std::make_shared<const Step>(e.path, engine.moves()[0])});
      engine.undo();
    }
  }

  void consider(Entry e) {
    cost::GraphCost sum = cost::graph_cost(model_, e.graph);
    e.cost = sum.total.microseconds;
    SearchReport& report = reporter_.report;
    if (e.cost >= options_.alpha * reporter_.best() ||
        static_cast<double>(sum.calls) >= max_calls_) {
      ++report.rejected;
    } else if (!seen_.insert(structural_hash(e.graph)).second) {
      ++report.duplicates;
    } else {
      queue_.emplace(e.cost, std::move(e));
      report.peak_queue = std::max(report.peak_queue, queue_.size());
    }
  }

  Reporter::Clock::time_point clock_;
  const RuleIndex& rules_;
  const cost::CostModel& model_;
  const SearchOptions& options_;
  Entry best_;
  double max_calls_;
  Reporter reporter_;
  std::multimap<double, Entry> queue_;
  std::unordered_set<uint64_t> seen_;  // a collision loses a graph to search from, no more
};

}  // namespace

SearchReport TasoSearch::search(const Graph& g, const RuleIndex& rules,
                                const cost::CostModel& model, const SearchOptions& options,
                                const Stop& stop) const {
  return TasoRun(g, rules, model, options, stop).run();
}

}  // namespace regraft::rewrite
