#pragma once
// Timing one graph after the other, the next by what is known of all.
#include <functional>
#include <span>
#include <vector>

#include "cost/profile/profiled.h"
#include "cost/profile/timing.h"
#include "rewrite/candidates.h"

namespace regraft::cli {

/// Times the model and then one candidate, in turn; noise is that of the ratio.
using TimeBeside =
    std::function<Result<std::vector<cost::Timing>>(const rewrite::Candidate& candidate)>;

/// Of the candidates those that were timed, by what is believed of them after all measurements
/// (cost/residual): the model's timing, then one for each candidate that is left.
struct ActiveTimings {
  std::vector<cost::Timing> timings;
  int measurements = 0;
};
/// Makes at most so many measurements; fewer where no graph that is left is thought to be faster.
/// Removes the candidates that were not timed. An Error when nothing could be timed.
Result<ActiveTimings> time_actively(const Graph& model, std::vector<rewrite::Candidate>& candidates,
                                    const cost::Profiled& prices, int measurements,
                                    const TimeBeside& time, const Stop& stop);

}  // namespace regraft::cli
