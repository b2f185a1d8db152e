#pragma once
// Training by a fleet: a task for each episode, which follows from the agent as it is.
#include <memory>

#include "base/process/task.h"
#include "cli/fleet/fleet_run.h"
#include "cli/fleet/training_setting.h"
#include "rl/ppo/ppo_agent.h"

namespace regraft::cli {

inline constexpr const char* kEpisodeTask = "episode";

/// Plays episodes for others. Remembers the models, and the agent as it was told last.
class EpisodePlayer {
 public:
  explicit EpisodePlayer(const fleet::TaskStore& store) : store_(store) {}
  Result<std::string> perform(std::string_view input);

 private:
  Status become(const std::string& training, const std::string& agent);
  Status prepare(const std::string& training);

  const fleet::TaskStore& store_;
  std::string training_, as_told_;  ///< names of objects
  std::unique_ptr<TrainingSetting> setting_;
  std::unique_ptr<rl::PpoAgent> agent_;
};

/// Has the episodes of a training played by the fleet. All outlive the result.
Result<rl::PlayElsewhere> play_by_fleet(FleetRun& run, const TrainFlags& flags, const Stop& stop);

}  // namespace regraft::cli
