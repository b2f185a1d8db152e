#pragma once
// Where a first step that costs leads to less in the end: what a policy proposes is tried.
#include <functional>
#include <unordered_set>

#include "rewrite/search/searcher.h"
#include "rewrite/windows/window.h"
#include "rl/environment/environment.h"
#include "rl/environment/policy.h"

namespace regraft::rl {

struct ProposalEffort {
  size_t tries = 64;           ///< first steps that are made in a round
  int radius = 3;              ///< of what is near a first step, in edges
  int expansions = 24;         ///< graphs that are searched on from, for each
  uint64_t candidates = 2000;  ///< successors of these
  int followed = 0;            ///< in place of a search: steps nearby, each the most probable
};
struct ProposalOptions {
  /// In turn, each until nothing pays: fewer first steps with more nearby.
  std::vector<ProposalEffort> efforts = {{64, 3, 24, 2000, 0}, {8, 5, 0, 0, 12}};
  size_t looked_at = 2048;  ///< matches of which places like others are told apart, in a round
};

/// Makes what a policy finds most probable, and searches near it for what follows. Moves the engine
/// of an environment, which is not stepped otherwise meanwhile. Not thread-safe; deterministic.
class Proposals {
 public:
  /// Called after each try; something: the work is over.
  using AfterTry = std::function<std::optional<rewrite::StopReason>()>;

  /// All outlive this. Percentages are of the cost that the engine has now: it should be where
  /// greedy descent ends.
  Proposals(Environment& env, const Policy& policy, const ProposalOptions& options,
            const Stop& stop);
  /// Asks the policy once and tries the matches in its order; of places that are alike one stands
  /// for all, as long as it does not pay. What makes the graph cheaper stays. Why it ended;
  /// Exhausted: nothing is left to try.
  rewrite::StopReason round(const ProposalEffort& effort, const AfterTry& after);
  /// What the last round kept.
  size_t kept() const { return kept_; }
  /// First steps that were made in all rounds.
  uint64_t tried() const { return tried_; }

 private:
  std::vector<int32_t> ranked();
  uint64_t name_of(const rewrite::Match& m, int radius);
  bool pays(int32_t number, const ProposalEffort& effort);
  void follow(double before, int steps);

  Environment& env_;
  rewrite::Engine& engine_;
  const Policy& policy_;
  const ProposalOptions& options_;
  const Stop& stop_;
  double original_;
  Observer observer_;
  rewrite::Region region_;
  std::unordered_set<uint64_t> failed_;  // a collision loses one try
  size_t kept_ = 0;
  uint64_t tried_ = 0;
};

}  // namespace regraft::rl
