#pragma once
// The cheapest graph in an e-graph, and how far a graph is from it.
#include "rewrite/egraph/growth.h"

namespace regraft::rewrite {

/// Not thread-safe.
class Target {
 public:
  /// `growth` is that of a graph g, and has ended; it outlives this.
  explicit Target(const Growth& growth);
  /// Microseconds.
  double cost() const { return cost_; }
  bool optimal() const { return optimal_; }  ///< proved: no graph in the e-graph costs less
  /// The event may play a part on the way.
  bool concerns(int32_t event) const { return concerns_[static_cast<size_t>(event)]; }
  bool has(int32_t node) const { return has_[static_cast<size_t>(node)]; }

  struct Distance {
    size_t missing = 0;      ///< events that make what the target has and the graph has not
    size_t superfluous = 0;  ///< calls that the graph has and the target has not, or has once
    auto operator<=>(const Distance&) const = default;
  };
  /// Of a graph with these nodes of the e-graph, if no event undoes what another one needs. What
  /// cannot be made any more counts as kLost events.
  Distance distance(const std::vector<int32_t>& present);
  static constexpr size_t kLost = 1000;
  /// The event is one of those that `distance` counted last.
  bool counted(int32_t event) const { return happened_[static_cast<size_t>(event)] == round_; }

 private:
  void choose();
  void find_concerned();

  const Growth& growth_;
  const ModelEGraph& graph_;
  double cost_ = 0;
  bool optimal_ = false;
  std::vector<int32_t> nodes_;                         ///< of the target
  std::vector<char> has_;                              ///< by node
  std::vector<char> concerns_;                         ///< by event
  std::vector<int32_t> present_, visited_, happened_;  // by node, node, event: the last round
  int32_t round_ = 0;
};

}  // namespace regraft::rewrite
