#pragma once
// From measurements to the rates of a roofline.
#include <map>
#include <string>

#include "cost/model/kernel.h"
#include "cost/profile/profile.h"

namespace regraft::cost {

/// Fits the profile's machine to its kernels: for each Kind the rates that leave the least sum of
/// absolute logarithmic errors. A kind without kernels keeps the general figures, which become the
/// best arithmetic rate and the median bandwidth of the others. Nothing changes without kernels.
void calibrate(Profile& profile);

/// Kernels of every Kind at small to large sizes, as the runtime would run them: what to measure to
/// know a machine.
std::map<std::string, Kernel> probe_kernels(const Runtime& runtime);

/// Measured with plain loops, so it needs no library: bandwidth, peak arithmetic rate and the time
/// of an indirect call. One core; about a second.
Machine probe_machine();

/// How well a machine predicts a profile's kernels: the median of the factor by which it is off.
double median_error(const Machine& machine, const Profile& profile);

}  // namespace regraft::cost
