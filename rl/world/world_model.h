#pragma once
// A world model (Ha & Schmidhuber 2018) of graph optimisation: encoder, dynamics model
// and controller together.
#include "base/result.h"
#include "rl/environment/episodes.h"
#include "rl/files/checkpoint.h"
#include "rl/world/controller.h"
#include "rl/world/dynamics.h"
#include "rl/world/latent.h"

namespace regraft::rl {

/// The kind of files that hold one.
constexpr const char* kWorldModel = "world-model";

/// Sizes that the parts have in common are taken from `latent`, and places from `dynamics`.
struct WorldModelOptions {
  LatentOptions latent{};
  DynamicsOptions dynamics{};
  ControllerOptions controller{};
};

struct WorldModel {
  WorldModel(const WorldModelOptions& options, size_t rule_columns, uint64_t seed);
  Latent latent;          ///< encoder
  Dynamics dynamics;      ///< dynamics model
  Controller controller;  ///< controller
  Vocabulary vocabulary;
};

/// A real episode as the model sees it.
Track track_of(const WorldModel& world, const Trajectory& episode, int threads);

/// What the controller does, on what the encoder makes of an observation. Rules outside of the
/// vocabulary and places beyond the limit get almost no probability, as long as anything else is
/// allowed.
std::unique_ptr<Policy> controller_policy(const WorldModel& world);

/// Parameters, optimisers and the vocabulary, by names of rules.
/// `prefix` is of all names but those of sizes: a file may hold several worlds of the same sizes.
void store(Checkpoint& into, const WorldModel& world, const rewrite::RuleIndex& rules,
           const std::string& prefix = "");
/// Rules that the index has not keep their slots, and are never offered. An Error says what does
/// not fit.
Status load(const Checkpoint& from, WorldModel& world, const rewrite::RuleIndex& rules,
            const std::string& prefix = "");

/// Encoder, controller and the vocabulary, without what training needs.
Checkpoint controller_file(const WorldModel& world, const rewrite::RuleIndex& rules);
/// The policy of such a file, for graphs that `rules` are applied to.
Result<std::unique_ptr<Policy>> read_controller(const Checkpoint& file,
                                                const rewrite::RuleIndex& rules);

}  // namespace regraft::rl
