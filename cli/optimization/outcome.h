#pragma once
// What became of a model that was optimised.
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/macros/propose.h"
#include "cli/measure/bodies.h"
#include "cli/measure/choose.h"
#include "cli/optimization/explanation.h"
#include "cli/optimization/trace.h"
#include "io/model.h"
#include "rewrite/compare/comparison.h"

namespace regraft::cli {

/// Everything that the report says.
struct Outcome {
  io::Summary before, after;
  OptimisedBodies bodies;  ///< with the model that the choice was made for
  Choice choice;
  std::optional<rewrite::CheckReport> check;
  std::string discarded;                   ///< why a graph that was found is not the result
  std::optional<ProposalCounts> proposed;  ///< macros, where a network proposes them
  size_t rules = 0, unsafe_rules = 0;      ///< directions used, and left out for their numerics
  std::map<std::string, int64_t> dynamic;  ///< see dynamic_sizes
  std::optional<Trace> trace;              ///< of the main graph, where someone wants to see it
  std::optional<Explanation> explanation;  ///< where it is asked for
  double seconds = 0;
};
/// Bodies that are written otherwise than they were.
int64_t changed_bodies(const Outcome& o);

}  // namespace regraft::cli
