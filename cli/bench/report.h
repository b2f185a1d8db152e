#pragma once
// What `bench learn` prints and writes.
#include <nlohmann/json_fwd.hpp>

#include "cli/bench/scores.h"

namespace regraft::cli {

/// What a report is made of.
struct BenchFound {
  const std::vector<Method>& methods;
  const std::vector<GraphRuns>& graphs;
  std::vector<Limit> limits;
  std::vector<Reached> reached;
  std::vector<Ratios> ratios;
  std::vector<Comparison> comparisons;
  std::vector<Sooner> sooner;
};

/// Tables on stdout.
void print(const BenchFound& found);
/// For machines: all runs and all that was made of them.
nlohmann::json to_json(const BenchFound& found);

}  // namespace regraft::cli
