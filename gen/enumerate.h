#pragma once
// Bottom-up enumeration of tensor values: an operator is applied to classes of equal values, each
// application is evaluated once, and an application that gives a known value is a pair.
#include "base/parallel.h"
#include "base/progress.h"
#include "gen/terms.h"

namespace regraft::gen {

struct EnumerateOptions {
  int max_size = 3;  ///< distinct calls of a term, 1 .. kMaxSize
  uint64_t seed = 1;
  int threads = 1;
  Verbosity verbosity = Verbosity::Quiet;
};
constexpr int kMaxSize = 6;

struct EnumerateCounts {
  uint64_t applications = 0;  ///< of operators to classes
  uint64_t evaluations = 0;   ///< of tensors
  uint64_t classes = 0;       ///< of values, leaves included
  uint64_t collisions = 0;    ///< applications whose value was known
};

/// What was found. Pairs are in an order that depends on the theme and the size only.
struct Enumeration {
  std::vector<Pair> pairs;
  EnumerateCounts counts;
  bool stopped = false;
};

/// Terms of `theme` with up to max_size calls: single output, all calls needed. Pairs are formed
/// between the first term of a class and each later application with that value, for variables
/// x1 .. xn of each kind without gaps. Terms go to `bank`, whose seed gives the leaves' values.
Result<Enumeration> enumerate(const Theme& theme, const EnumerateOptions& options, Bank& bank,
                              const Stop& stop);

}  // namespace regraft::gen
