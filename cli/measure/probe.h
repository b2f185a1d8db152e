#pragma once
// The probe of this processor: a few kernels, by which timings of another one are scaled.
#include "base/parallel.h"
#include "base/progress.h"
#include "base/result.h"
#include "cost/model/kernel.h"

namespace regraft::cli {

/// Times a few kernels with the project's own, for two seconds at most, and keeps them in the
/// user's cache (probe.profile): where there is no profile of `target` and this processor, but one
/// of another that can be scaled, and no probe that was quiet. Else does nothing. An Error when the
/// cache cannot be written.
Status take_probe(const cost::Runtime* target, const Stop& stop, Verbosity verbosity);

}  // namespace regraft::cli
