#pragma once
// Bottom-up enumeration of tensor values: an operator is applied to classes of equal values, each
// application is evaluated once, and an application that gives a known value is a pair.
#include "base/parallel.h"
#include "base/process/task.h"
#include "base/progress.h"
#include "gen/enumerate/values.h"

namespace regraft::gen {

struct EnumerateOptions {
  int max_size = 3;  ///< distinct calls of a term, 1 .. kMaxSize
  uint64_t seed = 1;
  int threads = 1;
  uint64_t max_bytes = 0;  ///< 0: no limit
  Verbosity verbosity = Verbosity::Quiet;
  Helpers helpers;   ///< for the last level; empty: all is done here
  std::string part;  ///< what they need to know of this enumeration, see gen/parts.h
};
constexpr int kMaxSize = 6;

struct EnumerateCounts {
  uint64_t applications = 0;  ///< of operators to classes
  uint64_t evaluations = 0;   ///< of values or their keys
  uint64_t classes = 0;       ///< of values, leaves included
  uint64_t collisions = 0;    ///< applications whose value was known
  double error_bound = 0;     ///< that some class holds two values that differ as polynomials
};

/// What ended an enumeration.
enum class Ended : uint8_t { Complete, Stopped, OutOfMemory };

struct Enumeration {
  std::unique_ptr<ValueGraph> graph;  ///< of the levels that were completed
  EnumerateCounts counts;
  Ended ended = Ended::Complete;
  std::string last_tuples;  ///< with helpers: see Enumerator::set_last_tuples
};

/// Terms of the grammar with up to max_size calls: single output, all calls needed, over variables
/// x1 .. xn of each kind without gaps. Leaves go to `bank`. The result does not depend on threads,
/// and on the seed only by a chance of error_bound. `plans` is loaded and outlives the result.
Result<Enumeration> enumerate(ShapedOps& plans, const EnumerateOptions& options, Bank& bank,
                              const Stop& stop);

}  // namespace regraft::gen
