#include "rl/planner/expert.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace regraft::rl {
namespace {

/// A value for each sample: its state cost as `costs` tells, and from it on planning met graphs as
/// cheap as `least`.
void set_values(Episode& e, const std::vector<double>& costs, const std::vector<double>& least,
                double original) {
  double best = HUGE_VAL;
  for (size_t k = e.samples.size(); k-- > 0;) {
    best = std::min(best, least[k]);
    e.samples[k].value = static_cast<float>(100 * std::max(0.0, costs[k] - best) / original);
  }
}

/// The cheapest graph of all, as the moves that were made and those that were planned.
void keep_best(Episode& e, double cost, const std::vector<rewrite::Move>& planned,
               std::span<const rewrite::Move> made) {
  if (cost >= e.best) return;
  e.best = cost;
  e.moves.assign(made.begin(), made.end());
  e.moves.insert(e.moves.end(), planned.begin(), planned.end());
}

}  // namespace

Episode plan_episode(Environment& env, const Policy& policy, const PlannerOptions& options,
                     const LabelOptions& labels, Rng& rng) {
  Episode e;
  e.best = env.cost();
  size_t begin = env.engine().depth();
  auto made = [&] { return std::span(env.engine().moves()).subspan(begin); };
  std::vector<double> costs, least;
  for (StepResult step; !step.done();) {
    Plan p = plan(env, policy, options, rng);
    keep_best(e, p.best, p.moves, made());
    e.simulations += p.simulations;
    e.judgements += p.judgements;
    e.candidates += p.candidates;
    costs.push_back(env.cost());
    ExpertSample sample{env.observation(), std::move(p.improved), {}, {}};
    if (labels.centres > 0) sample.worths = search_worths(env, labels, rng);
    e.candidates += sample.worths.candidates;
    e.samples.push_back(std::move(sample));
    step = env.step(p.action);
    least.push_back(std::min(p.best, env.cost()));
    keep_best(e, env.cost(), {}, made());
  }
  set_values(e, costs, least, env.original());
  return e;
}

Episode plan_episode(Environment& env, const Policy& policy, const PlannerOptions& options,
                     Rng& rng) {
  return plan_episode(env, policy, options, {.centres = 0}, rng);
}

std::vector<ExpertSample> to_samples(std::vector<WindowLabel> labels) {
  std::vector<ExpertSample> samples;
  for (WindowLabel& l : labels)
    samples.push_back({std::move(l.observation), {}, {}, std::move(l.worths)});
  return samples;
}

}  // namespace regraft::rl
