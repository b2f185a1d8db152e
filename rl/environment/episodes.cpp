#include "rl/environment/episodes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/check.h"

namespace regraft::rl {

double most_saved(const std::vector<float>& rewards) {
  double sum = 0, most = 0;
  for (float r : rewards) most = std::max(most, sum += r);
  return most;
}

double Trajectory::gain() const { return std::accumulate(rewards.begin(), rewards.end(), 0.0); }

/// Of what prefers savings: logits by percent.
constexpr double kSharpness = 30;

Choose random_choice(const Exploring& how) {
  return [how, prior = std::shared_ptr(cost_prior(kSharpness))](Environment& env, Rng& rng) {
    if (env.stop() == 0 || rng.unit() < how.stop) return env.stop();
    if (rng.unit() < how.greed) {
      size_t k = sample(prior->judge(env.observation()).log_probs, rng);
      if (k != env.stop()) return k;
    }
    std::vector<size_t> first;
    for (size_t k = 0; k < env.stop(); ++k)
      if (k == 0 || env.match(k).rule != env.match(k - 1).rule) first.push_back(k);
    size_t chosen = rng.below(first.size());
    size_t end = chosen + 1 < first.size() ? first[chosen + 1] : env.stop();
    size_t count = std::min(end - first[chosen], static_cast<size_t>(how.locations));
    return first[chosen] + rng.below(count);
  };
}

Choose drawn(const Policy& policy) {
  return [&policy](Environment& env, Rng& rng) {
    return sample(policy.judge(env.observation()).log_probs, rng);
  };
}

size_t most_wanted(const Environment& env, const std::vector<float>& log_probs) {
  std::map<int32_t, double> wanted{{-1, std::exp(log_probs.back())}};
  for (size_t k = 0; k < env.stop(); ++k) wanted[env.match(k).rule] += std::exp(log_probs[k]);
  auto rule = std::ranges::max_element(wanted, {}, [](auto& w) { return w.second; })->first;
  size_t best = env.stop();
  for (size_t k = 0; k < env.stop(); ++k)
    if (env.match(k).rule == rule && (best == env.stop() || log_probs[k] > log_probs[best]))
      best = k;
  return best;
}

Choose most_wanted(const Policy& policy) {
  return [&policy](Environment& env, Rng&) {
    return most_wanted(env, policy.judge(env.observation()).log_probs);
  };
}

namespace {

/// Until the choice is nullopt or the episode is over.
template <class Next>
Trajectory play(Environment& env, Next next) {
  Trajectory e;
  e.observations.push_back(env.reset());
  StepResult r;
  while (!r.done()) {
    std::optional<size_t> action = next(e.actions.size());
    if (!action) break;
    e.actions.push_back(env.action(*action));
    r = env.step(*action);
    e.rewards.push_back(static_cast<float>(r.reward));
    e.observations.push_back(env.observation());
  }
  e.terminated = r.terminated;
  e.least = env.best();
  return e;
}

}  // namespace

Trajectory run_episode(Environment& env, const Choose& choose, Rng& rng) {
  return play(env, [&](size_t) { return std::optional(choose(env, rng)); });
}

std::optional<Trajectory> repeat_episode(Environment& env, const std::vector<Action>& actions) {
  Trajectory e = play(env, [&](size_t k) -> std::optional<size_t> {
    return k < actions.size() ? env.index(actions[k]) : std::nullopt;
  });
  if (e.actions.size() != actions.size()) return std::nullopt;
  return e;
}

}  // namespace regraft::rl
