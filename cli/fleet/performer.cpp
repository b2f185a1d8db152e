#include "cli/fleet/performer.h"

#include "cli/fleet/episode_tasks.h"
#include "cli/fleet/verify_tasks.h"

namespace regraft::cli {

Performer::Performer(const fleet::TaskStore& store)
    : store_(store), episodes_(std::make_unique<EpisodePlayer>(store)), parts_(objects_of(store)) {}
Performer::~Performer() = default;

Result<std::string> Performer::perform(const Task& task, const Stop& stop) {
  if (task.kind == kVerifyTask) return perform_verify(task.input, stop);
  if (task.kind == kEpisodeTask) return episodes_->perform(task.input);
  if (gen::Parts::knows(task.kind)) return parts_.perform(task);
  return error(store_.storage().folder() + ": a task of an unknown kind: " + task.kind);
}

}  // namespace regraft::cli
