#pragma once
// What `validate` found, for people and for machines.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "certify/validation.h"
#include "cli/measure/replay.h"

namespace regraft::cli {

/// Two models and all that was found of them.
struct ValidationReport {
  io::Imported a, b;
  std::vector<std::string> fixed;  ///< sizes that the second model fixes, "batch=1"
  certify::Validation validation;
  std::vector<size_t> compared;  ///< the pairs of outputs that the search for one compared
  std::optional<Refutation> refutation;  ///< where something was neither proved nor excluded
  double seconds = 0;
};

/// The name that a value of the joint graph has in its model, or its operator and number.
std::string value_name(const Graph& g, Value v);

/// The pair's graphs by themselves, over the same inputs.
Graph first_of(const verify::Pair& pair);
Graph second_of(const verify::Pair& pair);

nlohmann::json json_of(const ValidationReport& report);
/// A line for each output, then the counterexample or the smallest window that is open.
std::string text_of(const ValidationReport& report);

}  // namespace regraft::cli
