#include "rl/planner/demonstration.h"

#include <algorithm>
#include <unordered_map>

#include "rewrite/search/reporter.h"
#include "rewrite/windows/windows.h"

namespace regraft::rl {

using rewrite::Move;

std::vector<Demonstration> demonstrate(const std::vector<Graph>& graphs,
                                       const rewrite::RuleIndex& rules,
                                       const cost::CostModel& model,
                                       const rewrite::SearchOptions& options, int threads,
                                       const Stop& stop) {
  std::unordered_map<std::string, int32_t> numbers;
  for (const auto& rule : rules.rules())
    numbers.emplace(rule.rule.name, static_cast<int32_t>(numbers.size()));
  std::vector<Demonstration> shown(graphs.size());
  parallel_for(graphs.size(), threads, [&](size_t k) {
    auto report = rewrite::Windows().search(graphs[k], rules, model, options, stop);
    shown[k].candidates = report.candidates;
    for (auto& step : report.steps) {
      Move m;
      m.rule = numbers.at(step.rule);
      m.nodes = std::move(step.nodes);
      m.variables = std::move(step.variables);
      shown[k].moves.push_back(std::move(m));
    }
  });
  return shown;
}

namespace {

/// The state after the first `done` moves, where the environment is. `best`: least cost from here.
std::optional<ExpertSample> sample_at(Environment& env, const Demonstration& shown, size_t done,
                                      double best) {
  std::vector<float> policy(env.stop() + 1, 0);
  size_t good = 0;
  for (size_t k = 0; k < env.stop(); ++k) {
    const rewrite::Match& m = env.match(k);
    for (size_t later = done; later < shown.moves.size(); ++later) {
      if (!m.is_at(shown.moves[later].place())) continue;
      policy[k] = 1;
      ++good;
      break;
    }
  }
  bool over = done == shown.moves.size();
  if (!over && good == 0) return std::nullopt;
  if (over) policy.back() = 1;
  for (float& p : policy) p /= static_cast<float>(over ? 1 : good);
  auto value = static_cast<float>(100 * std::max(0.0, env.cost() - best) / env.original());
  return ExpertSample{env.observation(), std::move(policy), value, {}};
}

}  // namespace

std::vector<ExpertSample> samples_of(Environment& env, const Demonstration& shown, size_t count,
                                     Rng& rng) {
  std::vector<size_t> chosen;
  for (size_t k = 0; k < count; ++k) chosen.push_back(rng.below(shown.moves.size() + 1));
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  env.reset(shown.moves);
  double best = env.cost();
  std::vector<ExpertSample> samples;
  for (size_t done : chosen) {
    env.reset({shown.moves.begin(), shown.moves.begin() + static_cast<int64_t>(done)});
    if (auto sample = sample_at(env, shown, done, best)) samples.push_back(*std::move(sample));
  }
  return samples;
}

}  // namespace regraft::rl
