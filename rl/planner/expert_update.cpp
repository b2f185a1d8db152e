#include "rl/planner/expert_update.h"

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

/// How many samples say something of each.
struct Counts {
  double policies = 0, values = 0, worths = 0;
  void add(const ExpertSample& s) {
    policies += !s.policy.empty();
    values += s.value.has_value();
    worths += !s.worths.match.empty();
  }
  void operator+=(const Counts& c) {
    policies += c.policies, values += c.values, worths += c.worths;
  }
};

/// Sums over samples.
struct Sums {
  Counts counts;
  double policy = 0, value = 0, worth = 0, agree = 0;
  double error = 0, error2 = 0, target = 0, target2 = 0;  // of values
  void operator+=(const Sums& s) {
    counts += s.counts;
    policy += s.policy, value += s.value, worth += s.worth, agree += s.agree;
    error += s.error, error2 += s.error2, target += s.target, target2 += s.target2;
  }
};

/// What the samples of a chunk say, as columns; zero weight where they say nothing.
struct Targets {
  Matrix<float> policy, value, value_weight, worth, worth_weight;
  double entropy = 0;

  Targets(std::span<const ExpertSample* const> samples, const Batch& batch)
      : policy(zeros(batch.first_action.back())),
        value(zeros(batch.size)),
        value_weight(value),
        worth(zeros(static_cast<int64_t>(batch.matches.items.size()))),
        worth_weight(worth) {
    int64_t match = 0;
    for (size_t k = 0; k < samples.size(); ++k) {
      const ExpertSample& s = *samples[k];
      add_policy(s, batch.first_action[k]);
      value(static_cast<int64_t>(k)) = s.value.value_or(0);
      value_weight(static_cast<int64_t>(k)) = s.value.has_value();
      add_worths(s.worths, match);
      match += static_cast<int64_t>(s.observation.matches());
    }
  }

 private:
  static Matrix<float> zeros(int64_t rows) { return Matrix<float>::Zero(rows, 1); }
  void add_policy(const ExpertSample& s, int64_t first) {
    CHECK(s.policy.empty() || s.policy.size() == s.observation.matches() + 1);
    for (float p : s.policy) {
      policy(first++) = p;
      if (p > 0) entropy -= p * std::log(p);
    }
  }
  void add_worths(const Worths& w, int64_t first) {
    for (size_t i = 0; i < w.match.size(); ++i) {
      worth(first + w.match[i]) = w.worth[i];
      worth_weight(first + w.match[i]) = 1 / static_cast<float>(w.match.size());
    }
  }
};

Batch batch_of(std::span<const ExpertSample* const> samples, const NetworkOptions& options) {
  std::vector<const Observation*> observations;
  for (const ExpertSample* s : samples) observations.push_back(&s->observation);
  return Batch(observations, options);
}

/// Counts what the network says now beside what the samples say.
void compare(std::span<const ExpertSample* const> samples, const Batch& batch,
             const Matrix<float>& log_probs, const Matrix<float>& values, Sums& s) {
  for (size_t k = 0; k < samples.size(); ++k) {
    const ExpertSample& e = *samples[k];
    s.counts.add(e);
    if (!e.policy.empty()) {
      const float* own = log_probs.data() + batch.first_action[k];
      auto best = std::max_element(own, own + e.policy.size()) - own;
      s.agree += best == std::ranges::max_element(e.policy) - e.policy.begin();
    }
    if (!e.value) continue;
    double target = *e.value, error = values(static_cast<int64_t>(k)) - target;
    s.error += error, s.error2 += error * error;
    s.target += target, s.target2 += target * target;
  }
}

class Updater {
 public:
  Updater(Network& network, const RuleTable& rules, nn::Adam<float>& adam,
          const ExpertUpdateOptions& options, int threads)
      : network_(network),
        rules_(rules),
        adam_(adam),
        options_(options),
        threads_(threads),
        gradients_(network.parameters()) {}

  Sums step(std::span<const ExpertSample* const> samples) {
    Counts counts;
    for (const ExpertSample* s : samples) counts.add(*s);
    auto size = static_cast<size_t>(options_.chunk);
    std::vector<Sums> sums((samples.size() + size - 1) / size);
    auto& sum = gradients_.of(sums.size(), threads_, [&](size_t k, nn::Gradients<float>& into) {
      auto part = samples.subspan(k * size, std::min(size, samples.size() - k * size));
      sums[k] = chunk(part, counts, into);
    });
    sum.clip(options_.max_norm);
    adam_.step(network_.parameters(), sum, options_.learning_rate);
    for (size_t k = 1; k < sums.size(); ++k) sums[0] += sums[k];
    return sums[0];
  }

 private:
  Sums chunk(std::span<const ExpertSample* const> samples, const Counts& counts,
             nn::Gradients<float>& into) const {
    Tape<float> tape(network_.parameters(), &into);
    Batch batch = batch_of(samples, network_.options());
    Targets t(samples, batch);
    auto out = network_.forward(tape, batch, rules_);
    Var policy = tape.scale(tape.sum(tape.mul(tape.constant(t.policy), out.log_probs)), -1);
    Var value = huber(tape, out.values, t.value, t.value_weight);
    Var worth = huber(tape, out.worth, t.worth, t.worth_weight);
    auto part = [&](Var v, double weight, double count) {
      return tape.scale(v, static_cast<float>(weight / std::max(1.0, count)));
    };
    Var loss = tape.add(part(policy, 1, counts.policies),
                        part(value, options_.value_weight, counts.values));
    tape.backward(tape.add(loss, part(worth, options_.worth_weight, counts.worths)));
    Sums s;
    s.policy = tape.scalar(policy) - t.entropy;
    s.value = tape.scalar(value), s.worth = tape.scalar(worth);
    compare(samples, batch, tape.value(out.log_probs), tape.value(out.values), s);
    return s;
  }

  Var huber(Tape<float>& tape, Var said, const Matrix<float>& target,
            const Matrix<float>& weight) const {
    Var error = tape.sub(said, tape.constant(target));
    return tape.sum(
        tape.mul(tape.huber(error, static_cast<float>(options_.delta)), tape.constant(weight)));
  }

  Network& network_;
  const RuleTable& rules_;
  nn::Adam<float>& adam_;
  const ExpertUpdateOptions& options_;
  int threads_;
  GradientSum gradients_;
};

double explained(const Sums& s) {
  double n = std::max(1.0, s.counts.values);
  double targets = s.target2 / n - std::pow(s.target / n, 2);
  double errors = s.error2 / n - std::pow(s.error / n, 2);
  return targets > 1e-12 ? 1 - errors / targets : 0;
}

}  // namespace

ExpertReport expert_update(Network& network, const RuleTable& rules, nn::Adam<float>& adam,
                           std::span<const ExpertSample> samples,
                           const ExpertUpdateOptions& options, Rng& rng, int threads) {
  Updater updater(network, rules, adam, options, threads);
  std::vector<const ExpertSample*> order;
  for (const ExpertSample& s : samples) order.push_back(&s);
  auto size = static_cast<size_t>(options.minibatch);
  ExpertReport report;
  Sums all;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
    for (size_t at = 0; at < order.size(); at += size, ++report.updates)
      all += updater.step(std::span(order).subspan(at, std::min(size, order.size() - at)));
    if (epoch == 0) report.explained_variance = explained(all);
  }
  report.policy_loss = all.policy / std::max(1.0, all.counts.policies);
  report.agreement = all.agree / std::max(1.0, all.counts.policies);
  report.value_loss = all.value / std::max(1.0, all.counts.values);
  report.worth_loss = all.worth / std::max(1.0, all.counts.worths);
  return report;
}

}  // namespace regraft::rl
