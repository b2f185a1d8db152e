#pragma once
// What PPO learns from: one episode, in memory or as bytes from another process.
#include <string_view>

#include "rl/environment/observation.h"

namespace regraft::rl {

struct PpoEpisode {
  size_t graph = 0;
  double started = 0, best = 0, original = 0;
  std::vector<Observation> observations;
  std::vector<int32_t> actions;
  std::vector<float> log_probs, rewards, values;
  double bootstrap = 0, total = 0;
  size_t overflow = 0;                  ///< see Environment::overflow; of all steps
  std::vector<rewrite::Move> cheapest;  ///< from the original to the best
};

std::string to_bytes(const PpoEpisode& episode);
/// An Error where the bytes are no episode.
Result<PpoEpisode> episode_of(std::string_view bytes);

}  // namespace regraft::rl
