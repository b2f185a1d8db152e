#pragma once
// When a stage must end.
#include "base/parallel.h"

namespace regraft::gen {

/// Asked to stop, or out of time.
inline bool is_over(const Stop& stop) { return stop.requested() || stop.out_of_time(); }

}  // namespace regraft::gen
