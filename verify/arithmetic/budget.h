#pragma once
// Work limits of one proof, counted and never timed: the same rule gets the same answer everywhere.
#include <cstdint>

#include "base/parallel.h"

namespace regraft::verify {

/// Whether work must end now: asked for, or out of time. nullptr: never.
inline bool must_end(const Stop* stop) { return stop && stop->must_end(); }

/// Limits of one proof.
struct Limits {
  int64_t steps = 20'000;           ///< products simplified, pairings tried, questions asked
  int64_t splits = 120;             ///< case distinctions
  int64_t solver_runs = 1'500;      ///< questions that reach the solver
  int64_t solver_work = 4'000'000;  ///< in units of Z3's rlimit, all runs together
  int64_t run_linear = 200'000;     ///< rlimit of one run where products are opaque
  int64_t run_nonlinear = 100'000;  ///< rlimit of one run with products
  int64_t run_brief = 5'000;        ///< the same where the answer only guides the search
  int64_t open_ends = 40;           ///< runs with products that may end without an answer
  int64_t depth = 24;               ///< nesting of functions and of case distinctions
  /// Milliseconds of one run, far beyond what the counted limits take: for runs that lose count of
  /// their work.
  int64_t cut_off = 20'000;
};
/// The default limits times `effort`.
Limits limits_for(uint64_t effort);

/// Thrown when a proof has used up a limit or was asked to stop; caught where the proof started.
struct OutOfBudget {
  const char* what;
};

/// What is left of the limits of one proof. Not thread-safe.
class Budget {
 public:
  explicit Budget(const Limits& limits, const Stop* stop = nullptr) : left_(limits), stop_(stop) {}
  /// Counts one step.
  void step();
  /// Counts a case distinction; false when there are none left.
  bool split();
  /// Counts a solver run before it starts.
  void run();
  /// Counts a run with products that had no answer; when there were too many, no more are tried.
  void open_end() { --left_.open_ends; }
  /// Counts the work of a run.
  void work(int64_t units) { left_.solver_work -= units; }
  const Limits& left() const { return left_; }

 private:
  Limits left_;
  const Stop* stop_;
};

}  // namespace regraft::verify
