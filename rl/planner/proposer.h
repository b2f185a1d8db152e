#pragma once
// A network that says where the first step of rewrites is that pay together, learned from the parts
// of searches that did.
#include "rewrite/macros/paying.h"
#include "rl/planner/expert_update.h"

namespace regraft::rl {

/// A model where greedy descent ends, and what pays beyond. All outlive their use.
struct ProposalLesson {
  const Graph* graph = nullptr;
  Opset opset = {};
  std::span<const rewrite::PayingPart> parts;
};

struct ProposerOptions {
  NetworkOptions network = {.cost_prior = 1};
  ExpertUpdateOptions update = {.epochs = 1, .minibatch = 16, .chunk = 4, .learning_rate = 2e-3};
  int states = 4;  ///< of a model: where it begins, and after some of the parts
  int epochs = 30;
  uint64_t seed = 7;
  int threads = 1;
};

struct Proposer {
  Network network;
  size_t samples = 0;
  ExpertReport first, last;  ///< of the first and of the last epoch
};

/// The moves of parts that apply where the environment is, all alike; to stop, where none does.
ExpertSample first_steps(Environment& env, std::span<const rewrite::PayingPart> parts);

/// States of a model: as it is; up to `count` in all after parts at random, of which first steps
/// are told of the others; and up to three times as many on the way of parts, of which the later
/// steps are told that apply there.
std::vector<ExpertSample> proposal_samples(Environment& env,
                                           std::span<const rewrite::PayingPart> parts, int count,
                                           Rng& rng);

/// The same network for any number of threads. Stopped, it has learned less.
Proposer train_proposer(std::span<const ProposalLesson> lessons, const rewrite::RuleIndex& rules,
                        const cost::CostModel& model, const ProposerOptions& options,
                        const Stop& stop);

}  // namespace regraft::rl
