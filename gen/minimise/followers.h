#pragma once
// Calls with followers: where two calls have one value, so have the same followers of both.
#include "gen/enumerate/values.h"

namespace regraft::gen {

/// What the calls below followers compute, also those that are in groups only. Thread-safe; the
/// graph outlives it.
class Followers {
 public:
  explicit Followers(const ValueGraph& graph);
  /// Of a group's applications, whose `level` is their number of calls, those that apply one
  /// follower to one value. For each: 0 where a smaller application of `known`, the class of the
  /// group or kNoClass, does so, else one more than the place of the first that does. Empty where
  /// there are no two such.
  std::vector<uint32_t> equal(int level, ClassId known,
                              const std::vector<Application>& applications) const;

 private:
  /// A value with its follower: of a class, or with kNoClass of the calls of a group.
  struct Followed {
    const OpDef* follower = nullptr;
    ClassId known = kNoClass;
    uint32_t group = 0;
    auto operator<=>(const Followed&) const = default;
  };
  struct Grouped {
    Application application;
    uint32_t group = 0;
  };
  std::optional<Followed> followed(Application a) const;

  const ValueGraph& graph_;
  std::vector<const OpDef*> followers_;  ///< of each instance: what it is the follower of or has
  std::vector<Grouped> grouped_;  ///< those of the largest size that may have followers; sorted
};

}  // namespace regraft::gen
