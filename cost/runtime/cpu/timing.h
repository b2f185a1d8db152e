#pragma once
// Times on this machine's CPU. Nothing else should run meanwhile; one caller at a time.
#include <functional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "cost/profile/timing.h"
#include "cost/runtime/cpu/compiled.h"

namespace regraft::cost::cpu {

struct TimeOptions {
  CompileOptions compile;
  int warm_up = 2;             ///< runs that do not count, of each
  int least_runs = 7;          ///< of each
  int most_runs = 200;         ///< of each
  double seconds = 30;         ///< for all runs together; beyond it only what least_runs asks for
  double noise = 0.01;         ///< what is known this well runs no more
  uint64_t seed = 1;           ///< of weights and operands
  const Stop* stop = nullptr;  ///< ends the timing at once, whatever is known then
};

/// Rounds over all of `run`, each of which runs once and says how many microseconds that took.
/// In turn, so that what else the machine does disturbs all alike.
std::vector<Timing> interleaved(std::span<const std::function<double()>> run,
                                const TimeOptions& options);

/// A timing of each kernel, or why it cannot run. Operands are as in a model: written just before;
/// weights were last used a round ago. Kernels with many weights are timed in several parts, so
/// that they fit into memory.
std::vector<Result<Timing>> time_kernels(std::span<const Kernel> kernels,
                                         const TimeOptions& options);

/// Microseconds that a kernel takes which has next to nothing to do.
Timing launch_overhead(const TimeOptions& options);

/// The library and its version: "oneDNN 2.6.3". Empty: the program was built without it, so that
/// nothing here runs, and what can be an Error is one.
std::string library_version();

}  // namespace regraft::cost::cpu
