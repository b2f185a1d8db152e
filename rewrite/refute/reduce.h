#pragma once
// Makes a counterexample of two graphs simpler. Inside rewrite/ only.
#include "rewrite/refute/judge.h"
#include "rewrite/refute/probes.h"

namespace regraft::rewrite {

/// A trial whose verdict is a difference.
struct Found {
  Trial trial;
  Probe probe;
  Difference difference;
};

/// The same question differs at smaller sizes, else at the same ones, with simpler inputs, and last
/// with inputs of which as much as possible is zero, or rounded. The result was judged thoroughly,
/// until `sampling`; it is `found` itself where nothing simpler was, or `stop` came first. An Error
/// as for Judge. `shows`, if there is one, decides over each step too.
Result<Found> reduce(const Judge& judge, Found found,
                     const std::function<Result<bool>(const Found&)>& shows, const Stop& stop,
                     const Stop& sampling);

}  // namespace regraft::rewrite
