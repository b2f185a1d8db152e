#pragma once
// Do two graphs compute the same? Both are run on random inputs, in double precision.
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/progress.h"
#include "ir/graph/graph.h"

namespace regraft::rewrite {

struct CheckOptions {
  int runs = 1;  ///< at least; at least two at different sizes when there are sizes to choose
  uint64_t seed = 1;
  /// More runs, up to one for each regime of inputs, while all evaluate at most so many elements
  /// and operations: small graphs are seen under all of them.
  double cheap_operations = 1e8;
  /// Of the values alive at once, beside what `stop` leaves; sizes at which they take more are not
  /// tried.
  double max_bytes = std::numeric_limits<double>::infinity();
  Verbosity verbosity = Verbosity::Quiet;
};

struct CheckReport {
  bool agrees = true;      ///< no difference was found
  std::string unfinished;  ///< why not all runs were done, as `stop` has it; the rest of the report
                           ///< says what was seen until then. Empty: they were
  /// The largest difference, for each element as a part of what it may be; above 1: the graphs
  /// differ.
  double max_ratio = 0;
  double max_absolute = 0;  ///< over all graph outputs and operands of opaque nodes
  double max_relative = 0;  ///< to the largest magnitude of the tensor that it is in
  std::string worst;        ///< where max_ratio was found, or what the second graph cannot do
  int runs = 0;
  std::vector<std::string> regimes;                   ///< how inputs were drawn, by run
  std::vector<std::map<std::string, int64_t>> sizes;  ///< numbers that stood for sizes
  int64_t values_run = 0;                             ///< nodes evaluated in one run
  int64_t values_shared = 0;                          ///< of these, computed once for both graphs
  int64_t values_not_run = 0;  ///< behind an opaque node whose output shape is unknown
  int64_t opaque = 0;          ///< nodes that were not run; their results are random
  int64_t outputs_compared = 0;
  int64_t outputs_not_compared = 0;  ///< these differ in form and could not be run, or were never
                                     ///< finite in the first graph
  int64_t elements_compared = 0;     ///< over all runs
  int64_t elements_unclaimed = 0;    ///< not finite in the first graph: anything may stand there
  std::string not_compared_because;  ///< the first graph cannot be evaluated; empty: it can
};

/// What remains to be said when nothing was compared, or not all; empty: complete.
std::string incomplete(const CheckReport& report);

/// Evaluates both graphs several times and compares what must be equal, element by element, with a
/// tolerance that says what each element can lose to the formats in which constants were rounded
/// (docs/checking.md). Inputs suit their types and are drawn over several regimes of magnitudes.
/// Sizes that are not numbers become several sets of numbers, equal for equal names, some of them 0
/// where the first graph can then be evaluated. Where the first graph is finite and the second is
/// not, or cannot be evaluated, they differ. An opaque node returns random values of its declared
/// types once its operands agree; the two graphs' opaque nodes are paired by the name of their
/// first output, else by origin; of one without a partner nothing is known. What equal calls
/// compute from equal values is computed once. An Error when the graphs have other inputs or
/// outputs, or a constant cannot be read. Where `stop` ends the check, or leaves less memory than
/// it needs, the report says so.
Result<CheckReport> compare(const Graph& a, const Graph& b, const CheckOptions& options,
                            const Stop& stop);

/// An Error when the graphs differ in the number or types of inputs, or of outputs.
Status check_interfaces(const Graph& a, const Graph& b);

}  // namespace regraft::rewrite
