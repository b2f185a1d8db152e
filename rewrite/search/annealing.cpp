#include "rewrite/search/annealing.h"

#include <algorithm>
#include <cmath>

#include "rewrite/search/walk.h"

namespace regraft::rewrite {

namespace {

constexpr double kCooling = 100;  ///< first temperature of a round over the last one

/// What the uphill matches cost on average; 0 without any.
double typical_rise(const Engine& engine) {
  double sum = 0;
  int count = 0;
  for (int32_t number : engine.matches()) {
    double change = engine.match(number).cost_change;
    if (change <= 0) continue;
    sum += change;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// Proposals in a round.
int64_t steps_of(const Engine& engine) {
  return std::clamp<int64_t>(int64_t{50} * engine.calls(), 500, 20000);
}

void round(Walk& walk, double hottest) {
  Engine& engine = walk.engine;
  size_t best_depth = 0;
  double best = engine.cost();
  int64_t steps = steps_of(engine);
  for (int64_t k = 0; k < steps && !walk.reporter.over(); ++k) {
    double temperature =
        hottest * std::pow(kCooling, -static_cast<double>(k) / static_cast<double>(steps));
    int32_t number = walk.random_match();
    if (number < 0) continue;
    double change = engine.match(number).cost_change;
    if (change > 0 && walk.rng.unit() >= std::exp(-change / temperature)) continue;
    engine.apply(number);
    ++walk.reporter.report.expanded;
    if (!cheaper(engine.cost(), best)) continue;
    best = engine.cost();
    best_depth = engine.depth();
  }
  walk.keep_first(best_depth);
}

}  // namespace

SearchReport Annealing::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                               const SearchOptions& options, const Stop& stop) const {
  Walk walk("annealing", g, rules, model, options, stop);
  StopReason reason = walk.descend();
  walk.keep();
  double hottest = typical_rise(walk.engine) / 2;
  while (!walk.engine.matches().empty() && !walk.reporter.over()) round(walk, hottest);
  return std::move(walk).finish(walk.reporter.over().value_or(reason));
}

}  // namespace regraft::rewrite
