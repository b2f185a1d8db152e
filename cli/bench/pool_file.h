#pragma once
// Graphs that compute the same, all timed: what choosing is replayed on.
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/residual/traits.h"

namespace regraft::cli {

/// A file of bench/measured/run_measured.py.
struct TimedPool {
  std::string name;                              ///< of the file, without folder and ending
  std::vector<std::vector<cost::Trait>> traits;  ///< of each graph, the model's first
  std::vector<std::vector<double>> rounds;       ///< microseconds of each graph, by round
};
/// An Error names the file. There are four rounds and two graphs at least, all times are above 0.
Result<TimedPool> read_pool(const std::string& file);

}  // namespace regraft::cli
