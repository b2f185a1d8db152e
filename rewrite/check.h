#pragma once
// Do two graphs compute the same? Both are run on random inputs, in double precision.
#include <string>

#include "base/parallel.h"
#include "base/progress.h"
#include "ir/graph.h"

namespace regraft::rewrite {

/// Largest difference that is put down to rounding, as a part of a tensor's largest magnitude.
constexpr double kTolerance = 1e-4;

struct CheckReport {
  bool agrees = true;
  double max_absolute = 0;  ///< over all graph outputs and operands of opaque nodes
  double max_relative = 0;  ///< to the largest magnitude of the tensor that it is in
  int runs = 0;
  int64_t values_run = 0;            ///< nodes evaluated in one run
  int64_t values_shared = 0;         ///< of these, computed once for both graphs
  int64_t values_not_run = 0;        ///< behind an opaque node whose output shape is unknown
  int64_t outputs_not_compared = 0;  ///< these differ in form and could not be run
  std::string worst;                 ///< where max_relative was found
  std::string unfinished;            ///< why the runs asked for were not all done; empty: they were
};

/// Runs both graphs `runs` times. Inputs suit their types: reals in [-1, 1), small non-negative
/// integers, booleans. Sizes that are not numbers become small ones, equal for equal names; those
/// that lead an input are 1. An opaque node returns random values of its declared types once its
/// operands agree; the two graphs' opaque nodes are paired by the name of their first output, else
/// by origin. What equal calls compute from equal values is computed once. An Error when the graphs
/// have other inputs or outputs, a constant cannot be read, or a call cannot be evaluated. Where
/// `stop` ends the check, or leaves less memory than a value needs, the report says so.
Result<CheckReport> compare(const Graph& a, const Graph& b, int runs, uint64_t seed,
                            const Stop& stop, Verbosity verbosity = Verbosity::Quiet);

}  // namespace regraft::rewrite
