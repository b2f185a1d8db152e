#pragma once
// Where the difference of two graphs starts. Inside rewrite/ only.
#include "rewrite/refute/counterexample.h"
#include "rewrite/refute/reduce.h"

namespace regraft::rewrite {

/// Values of the two graphs that are equal at the counterexample and at random inputs bound the
/// parts that differ. Among the pairs of differing values the first is taken with which the second
/// graph's output becomes right when the first's value is put in its place. `max_bytes`: of all
/// values of two runs. An Error as for Judge.
Result<DifferenceStart> locate(const Judge& judge, const Found& found, double max_bytes,
                               const Stop& stop);

}  // namespace regraft::rewrite
