#include "rl/ppo/ppo.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "rl/nn/gradient_sum.h"

namespace regraft::rl {

using nn::Matrix;
using nn::Tape;
using nn::Var;

namespace {

/// Sums over the samples of a chunk, or of several.
struct Sums {
  double policy = 0, value = 0, entropy = 0, kl = 0, clipped = 0, deviation = 0;
  double error = 0, error2 = 0, target = 0, target2 = 0;
  int updates = 0;
  void operator+=(const Sums& s) {
    policy += s.policy, value += s.value, entropy += s.entropy, kl += s.kl, clipped += s.clipped;
    deviation = std::max(deviation, s.deviation), updates += s.updates;
    error += s.error, error2 += s.error2, target += s.target, target2 += s.target2;
  }
};

struct Taken {
  std::span<const Sample> samples;
  double mean = 0, deviation = 1;  // of the advantages
  const PpoOptions& options;
};

Taken normalised(std::span<const Sample> samples, const PpoOptions& options) {
  double sum = 0, squares = 0, n = static_cast<double>(samples.size());
  for (const Sample& s : samples) sum += s.advantage;
  for (const Sample& s : samples) squares += std::pow(s.advantage - sum / n, 2);
  return {samples, sum / n, std::sqrt(squares / n) + 1e-8, options};
}

/// A column of f(number, sample).
template <class F>
Matrix<float> column(const Taken& batch, std::span<const int32_t> chosen, F f) {
  Matrix<float> m(static_cast<int64_t>(chosen.size()), 1);
  for (size_t k = 0; k < chosen.size(); ++k)
    m(static_cast<int64_t>(k), 0) =
        static_cast<float>(f(k, batch.samples[static_cast<size_t>(chosen[k])]));
  return m;
}

/// A column: entropy of each sample's distribution, 1 when even, 0 where there is no choice.
Var entropies(Tape<float>& tape, const Evaluation& e) {
  auto n = static_cast<int64_t>(e.first_action.size()) - 1;
  Matrix<float> factor(n, 1);
  std::vector<int32_t> owner;
  for (int64_t k = 0; k < n; ++k) {
    int32_t count =
        e.first_action[static_cast<size_t>(k) + 1] - e.first_action[static_cast<size_t>(k)];
    owner.insert(owner.end(), static_cast<size_t>(count), static_cast<int32_t>(k));
    factor(k, 0) = count > 1 ? -1 / std::log(static_cast<float>(count)) : 0;
  }
  Var terms = tape.mul(tape.exp(e.log_probs), e.log_probs);
  return tape.mul(tape.segment_sum(terms, owner, n), tape.constant(std::move(factor)));
}

void count_ratios(const Taken& batch, const Matrix<float>& log_ratio, Sums& s) {
  for (int64_t k = 0; k < log_ratio.rows(); ++k) {
    double log = log_ratio(k, 0), ratio = std::exp(log);
    s.kl += ratio - 1 - log;
    s.clipped += std::abs(ratio - 1) > batch.options.clip;
    s.deviation = std::max(s.deviation, std::abs(ratio - 1));
  }
}

void count_values(const Matrix<float>& error, const Matrix<float>& target, Sums& s) {
  for (int64_t k = 0; k < error.rows(); ++k) {
    s.error += error(k, 0), s.error2 += std::pow(error(k, 0), 2);
    s.target += target(k, 0), s.target2 += std::pow(target(k, 0), 2);
  }
}

/// Adds the gradients of the chunk's part of the mean loss over `of` samples.
Sums chunk_gradients(const nn::Parameters<float>& parameters, nn::Gradients<float>& into,
                     const Taken& batch, std::span<const int32_t> chosen, size_t of,
                     const Evaluate& evaluate) {
  const PpoOptions& o = batch.options;
  Tape<float> tape(parameters, &into);
  Evaluation e = evaluate(tape, chosen);
  CHECK(e.first_action.size() == chosen.size() + 1);
  std::vector<int32_t> taken;
  for (size_t k = 0; k < chosen.size(); ++k)
    taken.push_back(e.first_action[k] + batch.samples[static_cast<size_t>(chosen[k])].action);
  auto old = column(batch, chosen, [](size_t, const Sample& s) { return s.log_prob; });
  Var advantage = tape.constant(column(batch, chosen, [&](size_t, const Sample& s) {
    return (s.advantage - batch.mean) / batch.deviation;
  }));
  auto target = column(batch, chosen, [](size_t, const Sample& s) { return s.target; });
  Var log_ratio = tape.sub(tape.gather_rows(e.log_probs, taken), tape.constant(std::move(old)));
  Var ratio = tape.exp(log_ratio);
  auto clip = static_cast<float>(o.clip);
  Var gain = tape.minimum(tape.mul(ratio, advantage),
                          tape.mul(tape.clamp(ratio, 1 - clip, 1 + clip), advantage));
  Var error = tape.sub(e.values, tape.constant(target));
  Var value = tape.sum(tape.huber(error, static_cast<float>(o.value_delta)));
  Var entropy = tape.sum(entropies(tape, e)), policy = tape.scale(tape.sum(gain), -1);
  Var loss = tape.add(tape.add(policy, tape.scale(value, static_cast<float>(o.value_weight))),
                      tape.scale(entropy, static_cast<float>(-o.entropy)));
  tape.backward(tape.scale(loss, 1 / static_cast<float>(of)));
  Sums s;
  s.policy = tape.scalar(policy), s.value = tape.scalar(value), s.entropy = tape.scalar(entropy);
  count_ratios(batch, tape.value(log_ratio), s);
  count_values(tape.value(error), target, s);
  return s;
}

/// One step of the optimiser, unless the policy has moved too far already.
struct Updater {
  nn::Parameters<float>& parameters;
  nn::Adam<float>& adam;
  const Taken& batch;
  const Evaluate& evaluate;
  int threads;
  GradientSum gradients{parameters};

  /// Sums over the chosen samples, before the step.
  Sums step(std::span<const int32_t> chosen) {
    const PpoOptions& o = batch.options;
    auto size = static_cast<size_t>(o.chunk);
    std::vector<Sums> sums((chosen.size() + size - 1) / size);
    auto& sum = gradients.of(sums.size(), threads, [&](size_t k, nn::Gradients<float>& into) {
      auto part = chosen.subspan(k * size, std::min(size, chosen.size() - k * size));
      sums[k] = chunk_gradients(parameters, into, batch, part, chosen.size(), evaluate);
    });
    for (size_t k = 1; k < sums.size(); ++k) sums[0] += sums[k];
    if (o.target_kl > 0 && sums[0].kl > 1.5 * o.target_kl * static_cast<double>(chosen.size()))
      return sums[0];
    sum.clip(o.max_norm);
    adam.step(parameters, sum, o.learning_rate);
    sums[0].updates = 1;
    return sums[0];
  }
};

double explained(const Sums& s, double n) {
  double targets = s.target2 / n - std::pow(s.target / n, 2);
  double errors = s.error2 / n - std::pow(s.error / n, 2);
  return targets > 1e-12 ? 1 - errors / targets : 0;
}

void shuffle(std::vector<int32_t>& order, Rng& rng) {
  for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
}

PpoReport report_of(PpoReport r, const Sums& all, double samples) {
  r.policy_loss = all.policy / samples;
  r.value_loss = all.value / samples;
  r.entropy = all.entropy / samples;
  r.clip_fraction = all.clipped / samples;
  r.updates = all.updates;
  return r;
}

}  // namespace

PpoReport ppo_update(nn::Parameters<float>& parameters, nn::Adam<float>& adam,
                     std::span<const Sample> samples, const Evaluate& evaluate,
                     const PpoOptions& options, Rng& rng, int threads) {
  CHECK(!samples.empty());
  Taken batch = normalised(samples, options);
  Updater updater{parameters, adam, batch, evaluate, threads};
  std::vector<int32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  PpoReport report;
  Sums all;
  double looked_at = 0;
  auto size = static_cast<size_t>(options.minibatch);
  for (int epoch = 0; epoch < options.epochs && !report.stopped_early; ++epoch) {
    shuffle(order, rng);
    for (size_t at = 0; at < order.size() && !report.stopped_early; at += size) {
      auto chosen = std::span<const int32_t>(order).subspan(at, std::min(size, order.size() - at));
      Sums sums = updater.step(chosen);
      if (epoch == 0 && at == 0) report.first_deviation = sums.deviation;
      all += sums;
      looked_at += static_cast<double>(chosen.size());
      report.kl = sums.kl / static_cast<double>(chosen.size());
      report.stopped_early = sums.updates == 0;
    }
    if (epoch == 0) report.explained_variance = explained(all, looked_at);
  }
  return report_of(report, all, looked_at);
}

Advantages gae(std::span<const float> rewards, std::span<const float> values, double bootstrap,
               double discount, double lambda) {
  CHECK(rewards.size() == values.size());
  Advantages a{std::vector<float>(rewards.size()), std::vector<float>(rewards.size())};
  double next = bootstrap, running = 0;
  for (size_t k = rewards.size(); k-- > 0;) {
    running = rewards[k] + discount * next - values[k] + discount * lambda * running;
    next = values[k];
    a.advantages[k] = static_cast<float>(running);
    a.targets[k] = static_cast<float>(running + values[k]);
  }
  return a;
}

}  // namespace regraft::rl
