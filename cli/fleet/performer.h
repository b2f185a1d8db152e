#pragma once
// What a worker can do: one function for each kind of task.
#include <memory>
#include <string>

#include "base/parallel.h"
#include "base/process/task.h"
#include "fleet/task_store.h"
#include "gen/parts.h"

namespace regraft::cli {

class EpisodePlayer;

/// What the store keeps by name.
Objects objects_of(const fleet::TaskStore& store);

/// Not thread-safe.
class Performer {
 public:
  explicit Performer(const fleet::TaskStore& store);
  ~Performer();
  /// An Error: a kind that this program does not know, an input that is none, or a file that is
  /// needed cannot be read.
  Result<std::string> perform(const Task& task, const Stop& stop);

 private:
  const fleet::TaskStore& store_;
  std::unique_ptr<EpisodePlayer> episodes_;
  gen::Parts parts_;
};

}  // namespace regraft::cli
