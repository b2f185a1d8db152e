#pragma once
// What to make less of: time, memory, or both.
#include <memory>
#include <optional>
#include <string_view>

#include "cost/profile/profiled.h"

namespace regraft::cost {

enum class Goal : uint8_t {
  Latency,
  Memory,  ///< the peak of activations
  Mixed,   ///< both, each as a part of the original's
};
/// "latency", "memory", "mixed".
std::optional<Goal> goal_named(std::string_view name);

/// What a whole graph takes.
struct Worth {
  double microseconds = 0;  ///< as the runtime would fuse it, when a profile says; else the sum
  double doubt = 0;         ///< what of it is uncertain, as it is estimated
  int64_t peak_bytes = 0;   ///< of activations
  size_t kernels = 0;       ///< that run, when a profile says
  size_t estimated = 0;     ///< of them, those that were not measured
};

/// Prices graphs that were made from one graph. Thread-safe.
class Objective {
 public:
  /// `model` outlives this; `profiled` is the same model, or nullptr when it is no profile.
  /// REQUIRES: `original` is acyclic.
  Objective(Goal goal, const CostModel& model, const Profiled* profiled, const Graph& original);

  /// What searchers add up: a part for each call.
  const CostModel& search_model() const { return mixed_ ? *mixed_ : model_; }
  Worth worth(const Graph& g) const;
  /// Those of worth(), which takes longer.
  double microseconds(const Graph& g) const;
  /// Less is better; the original's is 1.
  double price(const Worth& w) const { return price(w, original_); }
  /// The same with doubt: what is estimated counts a little more than it should take.
  double price(const Graph& g) const { return price(doubtful(g), doubtful_); }
  const Worth& original() const { return original_; }

 private:
  Worth doubtful(const Graph& g) const;
  /// The worth of the same graph.
  Worth doubtful(Worth w) const;
  double price(const Worth& w, const Worth& original) const;

  Goal goal_;
  const CostModel& model_;
  const Profiled* profiled_;
  std::unique_ptr<CostModel> mixed_;
  Worth original_;
  Worth doubtful_;  // the original
};

}  // namespace regraft::cost
