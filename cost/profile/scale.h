#pragma once
// What a profile of one processor says of another: its timings, scaled by a probe of a few kernels.
#include <map>
#include <string>

#include "cost/model/kernel.h"
#include "cost/profile/profile.h"

namespace regraft::cost {

/// A few kernels of every Kind among the probe_kernels that `reference` has timings of: those that
/// took about a third of a millisecond there.
std::map<std::string, Kernel> scaling_kernels(const Profile& reference);

/// What `p` would be on the processor of `here`, if it was taken where `there` was. How many times
/// as long kernels of a Kind take is the median of those that `here` and `there` both have, within
/// a factor of 4 of the median of all; the latter for a Kind without one, launches and overhead.
/// REQUIRES: `p` and `there` are of one device.
Profile scaled(const Profile& p, const Profile& there, const Profile& here);

}  // namespace regraft::cost
