#include "rl/ppo/ppo_agent.h"

#include <optional>

#include "base/hash.h"
#include "rl/network/follow.h"

namespace regraft::rl {
namespace {

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += x;
  return v.empty() ? 0 : sum / static_cast<double>(v.size());
}

}  // namespace

PpoAgent::PpoAgent(const std::vector<Graph>& graphs, const rewrite::RuleIndex& rules,
                   const cost::CostModel& model, const PpoAgentOptions& options, uint64_t seed)
    : options_(options),
      pool_(graphs, rules, model, options.environment),
      learner_(options.network, describe(rules),
               {graphs.size(), options.from_kept, options.from_random},
               training_hash(graphs, rules, model), seed) {}

namespace {

/// What the network says of the states of an episode, one after the other. Where it can, only what
/// a step changed is computed anew.
class Judge {
 public:
  /// `rules`: encoded; null: all is computed anew each time.
  Judge(const Network& network, const RuleTable& table,
        std::shared_ptr<const nn::Matrix<float>> rules, Environment& env)
      : network_(network), table_(table), env_(env), tape_(network.parameters(), nullptr) {
    if (rules) follower_.emplace(network, std::move(rules), env);
  }
  Judgement judge() {
    if (follower_) return follower_->judge();
    tape_.reset();
    const Observation* o = &env_.observation();
    auto out = network_.forward(tape_, Batch({&o, 1}, network_.options()), table_);
    const auto& column = tape_.value(out.log_probs);
    return {{column.data(), column.data() + column.size()}, {}, tape_.scalar(out.values)};
  }
  StepResult step(size_t action) {
    bool applied = action != env_.stop();
    StepResult r = env_.step(action);
    if (follower_ && applied) follower_->follow();
    return r;
  }

 private:
  const Network& network_;
  const RuleTable& table_;
  Environment& env_;
  nn::Tape<float> tape_;
  std::optional<Follower> follower_;
};

}  // namespace

std::shared_ptr<const nn::Matrix<float>> PpoAgent::encoded_rules() const {
  if (!Follower::can_follow(learner_.network)) return nullptr;
  return Follower::encoded(learner_.network, learner_.rules);
}

PpoEpisode PpoAgent::play(uint64_t number, std::shared_ptr<const nn::Matrix<float>> rules) {
  size_t graph = number % pool_.size();
  EnvironmentPool::Lease env(pool_, graph);
  Rng rng(combine(learner_.seed, number));
  PpoEpisode e;
  e.graph = graph;
  env->reset(learner_.starts.draw(*env, graph, rng));
  e.original = env->original();
  e.started = e.best = env->cost();
  e.cheapest = env->engine().moves();
  Judge judge(learner_.network, learner_.rules, std::move(rules), *env);
  for (StepResult r; !r.done();) {
    Judgement j = judge.judge();
    e.overflow += env->overflow();
    size_t action = sample(j.log_probs, rng);
    e.observations.push_back(env->observation());
    e.actions.push_back(static_cast<int32_t>(action));
    e.log_probs.push_back(j.log_probs[action]);
    e.values.push_back(static_cast<float>(j.value));
    r = judge.step(action);
    e.rewards.push_back(static_cast<float>(r.reward));
    e.total += r.reward;
    if (env->cost() < e.best) {
      e.best = env->cost();
      e.cheapest = env->engine().moves();
    }
    if (r.truncated) e.bootstrap = judge.judge().value;
  }
  return e;
}

/// The episodes from `first` on, by others or here. Not all of them once `stop` came.
Result<std::vector<PpoEpisode>> PpoAgent::collect(uint64_t first, size_t count, const Stop& stop) {
  std::vector<PpoEpisode> episodes(count);
  if (!options_.elsewhere) {
    auto rules = encoded_rules();
    parallel_for(count, options_.threads, [&](size_t k) {
      if (!stop.must_end()) episodes[k] = play(first + k, rules);
    });
    return episodes;
  }
  ASSIGN_OR_RETURN(auto played, options_.elsewhere(save(), first, count));
  for (size_t k = 0; k < count; ++k) {
    ASSIGN_OR_RETURN(episodes[k], episode_of(played[k]));
  }
  return episodes;
}

LogRow PpoAgent::iterate(const Stop& stop) {
  auto count = static_cast<size_t>(options_.episodes);
  auto collected = collect(static_cast<uint64_t>(learner_.iteration) * count, count, stop);
  if (stop.must_end()) return {};
  if (!collected) {
    failure_ = collected.error();
    return {};
  }
  std::vector<PpoEpisode>& episodes = *collected;
  for (PpoEpisode& e : episodes) {
    learner_.real_steps += e.actions.size();
    learner_.starts.keep(e.graph, e.best, std::move(e.cheapest));
  }
  LogRow row = learn(episodes);
  ++learner_.iteration;
  return row;
}

LogRow PpoAgent::learn(const std::vector<PpoEpisode>& episodes) {
  std::vector<Sample> samples;
  std::vector<const Observation*> states;
  std::vector<double> totals, lengths, cost, overflow;
  for (const PpoEpisode& e : episodes) {
    auto a = gae(e.rewards, e.values, e.bootstrap, options_.discount, options_.lambda);
    for (size_t k = 0; k < e.actions.size(); ++k) {
      samples.push_back({static_cast<int32_t>(states.size()), e.actions[k], e.log_probs[k],
                         a.advantages[k], a.targets[k]});
      states.push_back(&e.observations[k]);
    }
    totals.push_back(e.total);
    overflow.push_back(static_cast<double>(e.overflow));
    lengths.push_back(static_cast<double>(e.actions.size()));
    cost.push_back(100 * (e.best / e.original - 1));
  }
  const Batch all(states, learner_.network.options());
  Evaluate evaluate = [&](nn::Tape<float>& tape, std::span<const int32_t> chosen) {
    std::vector<int32_t> some;
    for (int32_t k : chosen) some.push_back(samples[static_cast<size_t>(k)].state);
    Batch batch = all.part(some);
    auto out = learner_.network.forward(tape, batch, learner_.rules);
    return Evaluation{out.log_probs, batch.first_action, out.values};
  };
  Rng rng = learner_.rng(1);
  PpoReport r = ppo_update(learner_.network.parameters(), learner_.adam, samples, evaluate,
                           options_.ppo, rng, options_.threads);
  return {{"reward", mean(totals)},
          {"length", mean(lengths)},
          {"best_percent", mean(cost)},
          {"real_steps", static_cast<double>(learner_.real_steps)},
          {"overflow", mean(overflow)},
          {"policy_loss", r.policy_loss},
          {"value_loss", r.value_loss},
          {"entropy", r.entropy},
          {"kl", r.kl},
          {"clip_fraction", r.clip_fraction},
          {"explained_variance", r.explained_variance}};
}

}  // namespace regraft::rl
