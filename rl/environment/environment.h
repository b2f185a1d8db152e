#pragma once
// Graph optimisation as an environment in the sense of Gym: a state is a graph, an action a match
// to apply or to stop.
#include <functional>

#include "rewrite/polish.h"
#include "rl/environment/observer.h"
#include "rl/environment/ordered_matches.h"

namespace regraft::rl {

/// What a step is worth, in percent of the original's cost.
enum class Reward : uint8_t {
  Change,    ///< what the step saves
  Final,     ///< what all steps saved, at the end of the episode; 0 before
  Best,      ///< by how much the cheapest graph so far became cheaper
  Shaped,    ///< Change, and the change of a potential: savings at hand that exclude each other not
  Measured,  ///< what `measure` says was saved, every few steps and at the end; 0 between
  Mixed      ///< Change, and what `memory` says was saved, weighted
};
std::string to_string(Reward r);
std::optional<Reward> reward_named(std::string_view name);
std::vector<std::string> reward_names();

struct EnvironmentOptions {
  Reward reward = Reward::Change;
  double discount = 1;         ///< of the potential of Reward::Shaped
  size_t max_locations = 200;  ///< of a rule; those that save least are left out, and counted
  int max_steps = 0;           ///< of an episode; 0: 64 and a quarter of the calls, at most 256
  double max_growth = 2;       ///< calls, as a multiple of the original's
  double ceiling = 1.1;        ///< a graph may cost so many times the best of the episode
  Opset opset = {};            ///< see rewrite::EngineOptions
  rewrite::GraphPrice measure = nullptr;  ///< microseconds of a graph; for Reward::Measured
  int measure_every = 5;                  ///< steps
  rewrite::GraphPrice memory = nullptr;   ///< bytes of a graph; for Reward::Mixed
  double memory_weight = 0.5;             ///< in Reward::Mixed; the rest is that of the cost
};

/// A rule of the index and the k-th place of it, those first that save most (then by place); or to
/// stop.
struct Action {
  int32_t rule = -1;  ///< -1: stop
  int32_t location = 0;
  bool operator==(const Action&) const = default;
};

/// Which actions there are: the rules that have a location, each with how many; the number of
/// rules of the index stands for stopping, which is always allowed.
struct Masks {
  std::vector<char> rules;         ///< by rule of the index, and stop
  std::vector<int32_t> locations;  ///< by rule: the first so many are allowed
};

struct StepResult {
  double reward = 0;
  bool terminated = false;  ///< stopped, or no action is left
  bool truncated = false;   ///< the limit of steps
  bool done() const { return terminated || truncated; }
};

/// One graph, one episode at a time. Not thread-safe; several may share rules and cost model.
class Environment {
 public:
  /// The rules and the model outlive this. `sizes`: what it shares with other environments of the
  /// graph, which are used one at a time; null: nothing. REQUIRES: g is acyclic; what the reward
  /// asks for is set.
  Environment(const Graph& g, const rewrite::RuleIndex& rules, const cost::CostModel& model,
              EnvironmentOptions options, rewrite::Sizes* sizes = nullptr);
  /// To be shared.
  static std::unique_ptr<rewrite::Sizes> sizes_of(const Graph& g, const rewrite::RuleIndex& rules,
                                                  const cost::CostModel& model,
                                                  const EnvironmentOptions& options);

  /// Starts an episode at the original graph.
  const Observation& reset() { return reset({}); }
  /// Starts one where these moves lead, which were made in an episode before; the cost that
  /// percentages are of stays the original's.
  const Observation& reset(const std::vector<rewrite::Move>& moves);
  /// As matches() tells, matches().size() to stop. REQUIRES: the episode is not over.
  StepResult step(size_t action);
  /// A step in which nothing is done: of an agent that asked for what is not allowed. REQUIRES: as
  /// for step.
  StepResult skip();
  /// Made when asked for.
  const Observation& observation();

  /// Numbers of the matches that are allowed, in the order of actions: by rule, then location.
  const std::vector<int32_t>& matches() const { return matches_; }
  size_t stop() const { return matches_.size(); }
  Action action(size_t index) const;
  /// The index of an action; nullopt: it is not allowed.
  std::optional<size_t> index(const Action& a) const;
  Masks masks() const;
  /// Locations beyond the limit, of all rules, in the present state.
  size_t overflow() const { return overflow_; }
  const rewrite::Match& match(size_t action) const { return engine_.match(matches_[action]); }

  double original() const { return original_; }  ///< cost in microseconds
  double best() const { return best_; }          ///< least cost in the episode
  double cost() const { return engine_.cost(); }
  int steps() const { return steps_; }
  int max_steps() const { return max_steps_; }
  double max_calls() const { return max_calls_; }
  Standing standing() const;
  rewrite::Engine& engine() { return engine_; }
  const rewrite::Engine& engine() const { return engine_; }
  const rewrite::RuleIndex& rules() const { return rules_; }
  const EnvironmentOptions& options() const { return options_; }
  /// The matches that may be applied to the engine's graph now, in the order of actions: for those
  /// that move the engine on their own. `best`: cost in microseconds for the ceiling.
  std::vector<int32_t> allowed(double best);

 private:
  double potential() const;
  StepResult finish(double before, bool terminated);
  double reward_of(double before, bool done);
  void refresh();

  const rewrite::RuleIndex& rules_;
  EnvironmentOptions options_;
  rewrite::Engine engine_;
  OrderedMatches ordered_;
  Observer observer_;
  double original_, best_ = 0;
  double max_calls_;
  int max_steps_, steps_ = 0;
  std::vector<int32_t> matches_;
  size_t overflow_ = 0;
  const Observation* observation_ = nullptr;  // of the present state, once asked for
  double potential_ = 0, paid_ = 0;           // at the last step
  double measured_ = 0, measured_0_ = 0;      // microseconds, or bytes
};

}  // namespace regraft::rl
