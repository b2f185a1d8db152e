#pragma once
// The model-based agent: learns a world model from real episodes, and acting in its dreams.
#include "base/parallel.h"
#include "rl/environment/pool.h"
#include "rl/training/log.h"
#include "rl/world/drift.h"

namespace regraft::rl {

struct WorldModelAgentOptions {
  WorldModelOptions model{};
  PpoOptions ppo{.entropy = 0.02, .learning_rate = 2e-3};
  DreamOptions dream{.tau = 0.3};
  EnvironmentOptions environment{};
  int first_episodes = 32;  ///< exploring, in the first iteration
  int episodes = 32;        ///< in each later one: half of them the controller's, half exploring
  size_t replay = 4000;     ///< steps that are kept
  int first_updates = 120;  ///< of encoder and dynamics model in the first iteration
  int updates = 40;         ///< in each later one
  int dreams = 256;         ///< between two updates of the controller
  int dream_updates = 25;   ///< of the controller, in an iteration
  int evaluations = 4;      ///< dreams of each graph that the greedy controller's score is of
  double least_stop = 0.01, most_stop = 0.2;  ///< exploring ones stop with a probability between
  int threads = 1;
};

/// Mean and standard deviation over seeds of what a controller scores that was trained at a
/// temperature; percent.
struct SweepPoint {
  double tau = 1;
  double imagined = 0, imagined_deviation = 0;
  double real = 0, real_deviation = 0;
};

/// The same for any number of threads; what load() reads from save() goes on as if there had been
/// no break. Dreams make no steps in the environment. Not thread-safe.
class WorldModelAgent {
 public:
  /// All outlive this. REQUIRES: as EnvironmentPool; the reward is
  /// Reward::Change, as the dynamics model knows rewards by what is saved.
  WorldModelAgent(const std::vector<Graph>& graphs, const rewrite::RuleIndex& rules,
                  const cost::CostModel& model, const WorldModelAgentOptions& options,
                  uint64_t seed);
  /// Real episodes, then the encoder, the dynamics model, and the controller in dreams; then its
  /// greedy episode of each graph, which tells how good it is and is learnt from later. Where it is
  /// far behind the best so far, the next iteration goes on from that. Ends early, changing
  /// nothing, when stopped: the row is empty then.
  LogRow iterate(const Stop& stop);
  int64_t iterations() const { return state_.iterations; }
  uint64_t real_steps() const { return state_.real_steps; }
  uint64_t dream_steps() const { return state_.dream_steps; }
  /// Steps made to measure, which nothing was learnt from.
  uint64_t measured_steps() const { return measured_steps_; }
  /// Least cost met in a graph so far, in microseconds.
  double best(size_t graph) const { return state_.best[graph]; }

  Checkpoint save() const;
  Status load(const Checkpoint& file);
  /// What read_controller() takes.
  Checkpoint policy_file() const;
  /// As it was after the iteration whose controller saved most.
  const WorldModel& world() const { return state_.best_world; }
  std::unique_ptr<Policy> policy() const { return controller_policy(world()); }

  /// Of world(), along new episodes of each kind for each graph, which nothing is learnt from.
  DriftReport drift(int episodes, double tau, uint64_t seed);
  /// New controllers, each trained at one temperature from one seed in dreams of the world model as
  /// it is, with `updates` updates. Ends early when stopped.
  std::vector<SweepPoint> sweep(const std::vector<double>& taus, int seeds, int updates,
                                const Stop& stop);

 private:
  struct State {
    WorldModel world, best_world;
    double best_saved = -1;  // percent, mean over the graphs; -1: of no iteration
    std::vector<std::shared_ptr<const Trajectory>> replay;
    std::vector<double> best;
    uint64_t seed = 0, real_steps = 0, dream_steps = 0;
    int64_t iterations = 0;
  };
  struct Dreamt {
    PpoReport ppo;
    double gain = 0, length = 0;  // means over the dreams of the last update
    uint64_t steps = 0;
  };
  std::vector<Trajectory> play(int count, uint64_t seed, const std::function<Choose(int)>& choose);
  void collect(uint64_t seed);
  void remember(Trajectory e);
  std::vector<DreamStart> starts() const;
  Dreamt train_controller(Controller& controller, const std::vector<DreamStart>& starts, double tau,
                          int updates, uint64_t seed, const Stop& stop) const;
  /// From the original graphs, `count` times each.
  std::vector<Trajectory> act(const WorldModel& world, DreamOptions::Acting acting, int count,
                              uint64_t seed);
  struct Imagining {
    std::vector<double> gains;
    double step = 0;  // microseconds, of dreaming alone
  };
  Imagining imagine(const WorldModel& world, DreamOptions::Acting acting, int count, double tau,
                    uint64_t seed);
  /// Of drawing controllers. The real steps are counted as measured.
  Scores measure(const WorldModel& world, int count, double tau, uint64_t seed);
  Exploring exploring(uint64_t seed) const;
  void keep_the_best(double saved);

  EnvironmentPool pool_;
  const rewrite::RuleIndex& rules_;
  uint64_t training_;  // see training_hash
  WorldModelAgentOptions options_;
  State state_;
  uint64_t measured_steps_ = 0;
};

}  // namespace regraft::rl
