#include "rl/world/world_model_agent.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <sstream>

#include "base/check.h"
#include "rl/nn/store.h"
#include "rl/training/learner.h"

namespace regraft::rl {
namespace {

using Clock = std::chrono::steady_clock;

const std::string kBest = "best.";

double microseconds_each(Clock::time_point begin, size_t steps) {
  const std::chrono::duration<double, std::micro> all = Clock::now() - begin;
  return steps == 0 ? 0 : all.count() / static_cast<double>(steps);
}

/// Half of them at an even depth of their episodes, so that late states are not rare.
std::vector<DreamStart> draw_starts(const std::vector<DreamStart>& all, size_t count, Rng& rng) {
  std::map<int32_t, std::vector<size_t>> by_depth;
  for (size_t k = 0; k < all.size(); ++k) by_depth[all[k].depth].push_back(k);
  std::vector<const std::vector<size_t>*> depths;
  for (const auto& [depth, list] : by_depth) depths.push_back(&list);
  std::vector<DreamStart> drawn;
  for (size_t k = 0; k < count; ++k) {
    const auto& list = *depths[rng.below(depths.size())];
    drawn.push_back(k % 2 == 0 ? all[rng.below(all.size())] : all[list[rng.below(list.size())]]);
  }
  return drawn;
}

/// "graph rule:place rule:place ..."; numbers of rules are those of the index.
std::string to_text(const Trajectory& e) {
  std::string text = std::to_string(e.graph);
  for (const Action& a : e.actions)
    text += " " + std::to_string(a.rule) + ":" + std::to_string(a.location);
  return text;
}

std::optional<std::pair<size_t, std::vector<Action>>> episode_of_text(const std::string& text) {
  std::istringstream in(text);
  size_t graph = 0;
  std::vector<Action> actions;
  if (!(in >> graph)) return std::nullopt;
  for (Action a; in >> a.rule;) {
    char colon = 0;
    if (!(in >> colon >> a.location) || colon != ':') return std::nullopt;
    actions.push_back(a);
  }
  if (!in.eof()) return std::nullopt;
  return std::pair(graph, std::move(actions));
}

Result<std::vector<double>> doubles(const Checkpoint& file, const std::string& name, size_t count) {
  auto at = file.arrays.find(name);
  auto* all =
      at == file.arrays.end() ? nullptr : std::get_if<std::vector<double>>(&at->second.numbers);
  if (!all || all->size() != count)
    return error("it has not " + std::to_string(count) + " numbers '" + name + "'");
  return *all;
}

void put(LogRow& row, const LatentLosses& v, const DynamicsLosses& m, const PpoReport& c) {
  LogRow more{{"v_mask", v.mask},
              {"v_count", v.count},
              {"v_change", v.change},
              {"v_cost", v.cost},
              {"m_latent", m.latent},
              {"m_saved", m.saved},
              {"m_end", m.end},
              {"m_mask", m.mask},
              {"m_count", m.count},
              {"m_change", m.change},
              {"c_policy", c.policy_loss},
              {"c_value", c.value_loss},
              {"entropy", c.entropy},
              {"kl", c.kl},
              {"explained_variance", c.explained_variance}};
  row.insert(row.end(), more.begin(), more.end());
}

}  // namespace

WorldModelAgent::WorldModelAgent(const std::vector<Graph>& graphs, const rewrite::RuleIndex& rules,
                                 const cost::CostModel& model,
                                 const WorldModelAgentOptions& options, uint64_t seed)
    : pool_(graphs, rules, model, options.environment),
      rules_(rules),
      training_(training_hash(graphs, rules, model)),
      options_(options),
      state_([&] {
        WorldModel world(options.model, describe(rules).columns, seed);
        return State{world, world, -1, {}, {}, seed};
      }()) {
  CHECK(options.environment.reward == Reward::Change);
  for (size_t g = 0; g < pool_.size(); ++g)
    state_.best.push_back(EnvironmentPool::Lease(pool_, g)->original());
}

/// Trajectory k is of graph k modulo their number.
std::vector<Trajectory> WorldModelAgent::play(int count, uint64_t seed,
                                              const std::function<Choose(int)>& choose) {
  std::vector<Trajectory> episodes(static_cast<size_t>(count));
  parallel_for(episodes.size(), options_.threads, [&](size_t k) {
    EnvironmentPool::Lease env(pool_, k % pool_.size());
    Rng rng(combine(seed, k));
    episodes[k] = run_episode(*env, choose(static_cast<int>(k)), rng);
    episodes[k].graph = static_cast<int32_t>(k % pool_.size());
  });
  return episodes;
}

void WorldModelAgent::remember(Trajectory e) {
  auto& best = state_.best[static_cast<size_t>(e.graph)];
  best = std::min(best, e.least);
  state_.real_steps += e.actions.size();
  for (const Observation& o : e.observations) state_.world.vocabulary.learn(o);
  state_.replay.push_back(std::make_shared<const Trajectory>(std::move(e)));
  size_t steps = 0, keep = 0;
  while (keep < state_.replay.size() && steps <= options_.replay)
    steps += state_.replay[state_.replay.size() - ++keep]->actions.size();
  if (steps > options_.replay && keep > 1) --keep;
  state_.replay.erase(state_.replay.begin(), state_.replay.end() - static_cast<int64_t>(keep));
}

Exploring WorldModelAgent::exploring(uint64_t seed) const {
  Rng rng(seed);
  double stop =
      options_.least_stop * std::pow(options_.most_stop / options_.least_stop, rng.unit());
  return {stop, rng.unit(), options_.model.dynamics.locations};
}

void WorldModelAgent::collect(uint64_t seed) {
  bool first = state_.iterations == 0;
  auto policy = controller_policy(state_.world);
  auto choose = [&](int k) {
    // In pairs of rounds of all graphs: the controller's, then exploring ones.
    if (!first && k / static_cast<int>(pool_.size()) % 2 == 0) return drawn(*policy);
    return random_choice(exploring(combine(seed, static_cast<uint64_t>(k) + 1000000)));
  };
  for (Trajectory& e : play(first ? options_.first_episodes : options_.episodes, seed, choose))
    remember(std::move(e));
}

std::vector<DreamStart> WorldModelAgent::starts() const {
  std::vector<std::vector<DreamStart>> parts(state_.replay.size());
  parallel_for(parts.size(), options_.threads, [&](size_t k) {
    Track track = track_of(state_.world, *state_.replay[k], 1);
    Memory memory = state_.world.dynamics.recall(track);
    for (size_t t = 0; t < track.steps(); ++t) parts[k].push_back(start_at(track, memory, t));
  });
  std::vector<DreamStart> all;
  for (auto& part : parts) std::move(part.begin(), part.end(), std::back_inserter(all));
  return all;
}

WorldModelAgent::Dreamt WorldModelAgent::train_controller(Controller& controller,
                                                          const std::vector<DreamStart>& starts,
                                                          double tau, int updates, uint64_t seed,
                                                          const Stop& stop) const {
  Dreamt dreamt;
  DreamOptions options = options_.dream;
  options.tau = tau;
  Rng rng(seed);
  for (int update = 0; update < updates && !stop.must_end(); ++update) {
    auto from = draw_starts(starts, static_cast<size_t>(options_.dreams), rng);
    Dreams dreams = dream(state_.world.dynamics, controller, from, state_.world.vocabulary.size(),
                          options, rng.next(), options_.threads);
    dreamt.ppo =
        ppo_update(controller.parameters(), controller.adam(), dreams.samples,
                   evaluate_dreams(controller, dreams), options_.ppo, rng, options_.threads);
    dreamt.gain = mean(dreams.gains);
    dreamt.length = dreams.length;
    dreamt.steps += dreams.samples.size();
  }
  return dreamt;
}

std::vector<Trajectory> WorldModelAgent::act(const WorldModel& world, DreamOptions::Acting acting,
                                             int count, uint64_t seed) {
  auto policy = controller_policy(world);
  bool drawing = acting == DreamOptions::Acting::Drawn;
  return play(count * static_cast<int>(pool_.size()), seed,
              [&](int) { return drawing ? drawn(*policy) : most_wanted(*policy); });
}

WorldModelAgent::Imagining WorldModelAgent::imagine(const WorldModel& world,
                                                    DreamOptions::Acting acting, int count,
                                                    double tau, uint64_t seed) {
  std::vector<DreamStart> from;
  int horizon = 0;
  for (size_t k = 0; k < static_cast<size_t>(count) * pool_.size(); ++k) {
    Trajectory e;
    EnvironmentPool::Lease env(pool_, k % pool_.size());
    horizon = std::max(horizon, env->max_steps());
    e.observations.push_back(env->reset());
    from.push_back(start_at(track_of(world, e, 1), world.dynamics.start(1), 0));
  }
  DreamOptions options{.horizon = horizon, .tau = tau, .acting = acting};
  const auto begin = Clock::now();
  Dreams dreams = dream(world.dynamics, world.controller, from, world.vocabulary.size(), options,
                        seed, options_.threads);
  return {std::move(dreams.gains), microseconds_each(begin, dreams.samples.size())};
}

Scores WorldModelAgent::measure(const WorldModel& world, int count, double tau, uint64_t seed) {
  Scores scores;
  Imagining imagined = imagine(world, DreamOptions::Acting::Drawn, count, tau, seed);
  scores.imagined = std::move(imagined.gains);
  scores.imagined_step = imagined.step;
  const auto begin = Clock::now();
  const auto episodes = act(world, DreamOptions::Acting::Drawn, count, seed);
  size_t steps = 0;
  for (const Trajectory& e : episodes) steps += e.actions.size();
  scores.real_step = microseconds_each(begin, steps);
  for (const Trajectory& e : episodes) scores.real.push_back(most_saved(e.rewards));
  measured_steps_ += steps;
  return scores;
}

/// `saved`: what the controller saved, percent.
void WorldModelAgent::keep_the_best(double saved) {
  constexpr double kFallen = 0.8;
  if (saved > state_.best_saved) {
    state_.best_saved = saved;
    state_.best_world = state_.world;
  } else if (saved < kFallen * state_.best_saved) {
    // What the vocabulary learnt since stays: its slots are the same.
    Vocabulary vocabulary = state_.world.vocabulary;
    state_.world = state_.best_world;
    state_.world.vocabulary = std::move(vocabulary);
  }
}

LogRow WorldModelAgent::iterate(const Stop& stop) {
  State before = state_;
  auto number = static_cast<uint64_t>(state_.iterations);
  uint64_t seed = combine(state_.seed, number);
  Rng rng(seed);
  collect(combine(seed, 1));
  WorldModel& w = state_.world;
  // Less and less, so that C need not learn anew what V and M mean.
  double rate = 1 / std::sqrt(1 + static_cast<double>(number) / 10);
  int updates = number == 0 ? options_.first_updates : options_.updates;
  std::vector<const Observation*> states;
  for (const auto& e : state_.replay)
    for (const Observation& o : e->observations) states.push_back(&o);
  LatentLosses v;
  DynamicsLosses m;
  if (w.vocabulary.size() > 0) {
    if (!stop.must_end())
      v = w.latent.train(states, w.vocabulary, updates, rate, rng, options_.threads, stop);
    std::vector<Track> tracks(state_.replay.size());
    parallel_for(tracks.size(), options_.threads,
                 [&](size_t k) { tracks[k] = track_of(w, *state_.replay[k], 1); });
    std::vector<const Track*> all;
    for (const Track& t : tracks) all.push_back(&t);
    if (!stop.must_end())
      m = w.dynamics.train(all, w.vocabulary.size(), updates, rate, rng, options_.threads, stop);
  }
  Dreamt c = train_controller(w.controller, starts(), options_.dream.tau, options_.dream_updates,
                              rng.next(), stop);
  constexpr auto kGreedy = DreamOptions::Acting::MostWanted;
  auto tries = act(w, kGreedy, 1, combine(seed, 2));
  auto imagined =
      imagine(w, kGreedy, options_.evaluations, options_.dream.tau, combine(seed, 3)).gains;
  if (stop.must_end()) {
    state_ = std::move(before);
    return {};
  }
  std::vector<double> real;
  for (const Trajectory& e : tries) real.push_back(most_saved(e.rewards));
  keep_the_best(mean(real));
  for (Trajectory& e : tries) remember(std::move(e));
  state_.dream_steps += c.steps;
  ++state_.iterations;
  LogRow row{{"real", mean(real)},
             {"best", state_.best_saved},
             {"imagined", mean(imagined)},
             {"dream_gain", c.gain},
             {"dream_length", c.length},
             {"real_steps", static_cast<double>(state_.real_steps)},
             {"dream_steps", static_cast<double>(state_.dream_steps)},
             {"rules", static_cast<double>(w.vocabulary.size())}};
  put(row, v, m, c.ppo);
  return row;
}

DriftReport WorldModelAgent::drift(int episodes, double tau, uint64_t seed) {
  constexpr int kDepths = 15;
  auto drawing = policy();
  auto graphs = static_cast<int>(pool_.size());
  auto held_out = play(2 * episodes * graphs, seed, [&](int k) {
    return k / graphs % 2 == 0
               ? drawn(*drawing)
               : random_choice(exploring(combine(seed, static_cast<uint64_t>(k) + 1000000)));
  });
  for (const Trajectory& e : held_out) measured_steps_ += e.actions.size();
  DriftReport report = compare(world(), held_out, tau, kDepths, seed);
  report.acted = measure(world(), episodes, tau, combine(seed, 1));
  return report;
}

std::vector<SweepPoint> WorldModelAgent::sweep(const std::vector<double>& taus, int seeds,
                                               int updates, const Stop& stop) {
  std::vector<SweepPoint> points;
  auto from = starts();
  CHECK(!from.empty());
  for (double tau : taus) {
    std::vector<double> imagined, real;
    for (int k = 0; k < seeds && !stop.must_end(); ++k) {
      uint64_t seed = combine(state_.seed, static_cast<uint64_t>(k));
      WorldModel world = state_.world;
      world.controller = Controller(world.controller.options(), seed);
      train_controller(world.controller, from, tau, updates, seed, stop);
      Scores s = measure(world, options_.evaluations, tau, seed);
      imagined.push_back(mean(s.imagined));
      real.push_back(mean(s.real));
    }
    if (stop.must_end()) break;
    points.push_back({tau, mean(imagined), deviation(imagined), mean(real), deviation(real)});
  }
  return points;
}

Checkpoint WorldModelAgent::policy_file() const { return controller_file(world(), rules_); }

Checkpoint WorldModelAgent::save() const {
  Checkpoint file;
  file.kind = kWorldModel;
  store(file, state_.world, rules_);
  store(file, state_.best_world, rules_, kBest);
  file.arrays["best_saved"] = {1, 1, std::vector<double>{state_.best_saved}};
  file.counters["iteration"] = static_cast<uint64_t>(state_.iterations);
  file.counters["real_steps"] = state_.real_steps;
  file.counters["dream_steps"] = state_.dream_steps;
  file.counters["seed"] = state_.seed;
  file.counters["training"] = training_;
  for (const auto& e : state_.replay) file.lists["replay"].push_back(to_text(*e));
  auto& best = file.arrays["best"];
  best = {1, static_cast<int64_t>(state_.best.size()), state_.best};
  return file;
}

Status WorldModelAgent::load(const Checkpoint& file) {
  RETURN_IF_ERROR(file.expect(kWorldModel, feature_hash()));
  ASSIGN_OR_RETURN(uint64_t of, counter(file, "training"));
  if (of != training_) return error("it is of other models, rules or costs; start anew without it");
  State state{state_.world, state_.world, -1, {}, {}};
  RETURN_IF_ERROR(rl::load(file, state.world, rules_));
  RETURN_IF_ERROR(rl::load(file, state.best_world, rules_, kBest));
  ASSIGN_OR_RETURN(auto best_saved, doubles(file, "best_saved", 1));
  state.best_saved = best_saved[0];
  ASSIGN_OR_RETURN(uint64_t iteration, counter(file, "iteration"));
  state.iterations = static_cast<int64_t>(iteration);
  ASSIGN_OR_RETURN(state.real_steps, counter(file, "real_steps"));
  ASSIGN_OR_RETURN(state.dream_steps, counter(file, "dream_steps"));
  ASSIGN_OR_RETURN(state.seed, counter(file, "seed"));
  ASSIGN_OR_RETURN(state.best, doubles(file, "best", pool_.size()));
  auto replay = file.lists.find("replay");
  for (const std::string& line :
       replay == file.lists.end() ? std::vector<std::string>() : replay->second) {
    auto read = episode_of_text(line);
    if (!read || read->first >= pool_.size()) return error("its episode '" + line + "' is none");
    auto e = repeat_episode(*EnvironmentPool::Lease(pool_, read->first), read->second);
    if (!e) return error("its episodes are of other graphs or rules; start anew");
    e->graph = static_cast<int32_t>(read->first);
    state.replay.push_back(std::make_shared<const Trajectory>(*std::move(e)));
  }
  state_ = std::move(state);
  return {};
}

}  // namespace regraft::rl
