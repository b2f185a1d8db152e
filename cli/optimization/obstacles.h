#pragma once
// Why no rule does anything at some nodes: the matcher is asked.
#include <memory>
#include <vector>

#include "cli/optimization/explanation.h"
#include "cli/optimization/node_names.h"

namespace regraft::cli {

/// Of the nodes of a result. Not thread-safe.
class Obstacles {
 public:
  /// All outlive this.
  Obstacles(const Explained& done, const NodeNames& names, const Stop& stop);
  ~Obstacles();
  Obstacles(const Obstacles&) = delete;
  Obstacles& operator=(const Obstacles&) = delete;
  /// An Error: some rules cannot be matched.
  Status ready() const;
  /// At least one reason; what matters most comes first. REQUIRES: ready.
  std::vector<Reason> of(const std::vector<int32_t>& nodes);
  /// The time sufficed for all that was asked.
  bool complete() const;

 private:
  class Matches;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraft::cli
