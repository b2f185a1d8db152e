#pragma once
// What a plan is made of, as numbers that what a price overlooks may grow with.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cost/profile/profiled.h"

namespace regraft::cost {

/// What a number of a plan says.
enum class TraitGroup : uint8_t {
  Price,      ///< of the whole plan
  Measured,   ///< price of the kernels of one signature, which the profile has
  Estimated,  ///< the same where it has not
  Kind,       ///< price of the kernels of one kind
  Handover,   ///< kernels of one signature that read what those of another make
  KindPair,   ///< the same, by kinds
  Context,    ///< kernels of one signature among the same makers and readers
  Launches,   ///< of all kernels
  Traffic,    ///< bytes that are handed on and do not stay in the cache
  Peak,       ///< bytes of activations at once
  kCount,
};
std::string_view to_string(TraitGroup group);
/// Inverse of to_string.
std::optional<TraitGroup> trait_group_named(std::string_view name);

/// One number, in microseconds: prices of kernels; of a handover the lower of the two; of bytes
/// what the machine's bandwidth takes for them.
struct Trait {
  TraitGroup group = TraitGroup::Measured;
  uint64_t name = 0;  ///< within the group; a collision joins two, no more
  double microseconds = 0;
};

/// Sorted by group and name, each once. `plan` is that of `g`, whose sizes are numbers.
std::vector<Trait> traits_of(const Graph& g, const KernelPlan& plan, const Profiled& model);

}  // namespace regraft::cost
