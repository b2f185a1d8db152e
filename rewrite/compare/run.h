#pragma once
// One evaluation of two graphs on the same inputs.
#include <functional>

#include "base/parallel.h"
#include "base/progress.h"
#include "rewrite/compare/check_program.h"
#include "rewrite/compare/regimes.h"

namespace regraft::rewrite {

struct RunOptions {
  uint64_t seed = 1;  ///< of inputs and of opaque nodes' results
  Regime regime = Regime::Unit;
  Side side = Side::Both;
  /// Disturbs every value a little: constants that only one graph has as their rounding may have,
  /// the others as evaluation in double precision may. The seed of it.
  std::optional<uint64_t> noise;
  /// What the first graph makes is not bound by its formats, what only the second one makes may not
  /// overflow. Otherwise a result that is too large for its type is infinite, and one that rounds
  /// to zero is zero: a model that overflows does so here.
  bool wide = false;
  /// Neither graph is bound by its formats: what holds over the reals.
  bool unbounded = false;
  /// Above 0: `noise` is so many times as large as rounding to a value's own type, and only where
  /// that type cannot hold the value: what evaluation in that type may lose.
  double rounding = 0;
  /// By graph input, in place of drawn ones; their shapes fit the sizes. It outlives the run.
  const std::vector<Array<double>>* inputs = nullptr;
  /// Called with each value that a call makes, once it is complete; may change its elements.
  std::function<void(size_t node, size_t output, Array<double>&)> seen = {};
  Progress* progress = nullptr;  ///< counts nodes; may be missing
};

/// Stopped: by `stop`, or for lack of the memory that it leaves. Infeasible: the first graph cannot
/// be evaluated.
enum class RunEnd : uint8_t { Done, Stopped, Infeasible };
struct RunResult {
  RunEnd end = RunEnd::Done;
  std::string reason;           ///< why it is not Done
  std::string second_failed;    ///< why the second cannot where the first can; empty: it can
  size_t second_failed_at = 0;  ///< the joint number of the node that cannot
  int64_t out_of_range = 0;     ///< elements that left their type's range
  std::vector<char> ran;        ///< by joint number: evaluated
};

/// Called once for each question, with nullptr for a side that was not evaluated.
using Answer = std::function<void(size_t question, const Array<double>*, const Array<double>*)>;

/// An Error when a constant cannot be read.
Result<RunResult> run_once(const JointProgram& program, const SizeAssignment& sizes,
                           const RunOptions& options, const Answer& answer, const Stop& stop);

}  // namespace regraft::rewrite
