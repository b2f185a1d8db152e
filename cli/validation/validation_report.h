#pragma once
// What `validate` found, for people and for machines.
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "certify/validation.h"
#include "cli/measure/replay.h"

namespace regraft::cli {

/// Two models and all that was found of them.
struct ValidationReport {
  std::string file_a, file_b;  ///< names of the files, without folders
  io::Imported a, b;
  std::vector<std::string> fixed;  ///< sizes that the second model fixes, "batch=1"
  certify::Validation validation;
  std::vector<size_t> compared;  ///< the pairs of outputs that the search for one compared
  std::optional<Refutation> refutation;  ///< where something was neither proved nor excluded
  /// Of proved windows by their keys, where it was asked for.
  std::optional<std::map<std::string, NumericVerdict>> numerics;
  double seconds = 0;
};

/// The name that a value of the joint graph has in its model, or its operator and number.
std::string value_name(const Graph& g, Value v);

/// The pair's graphs by themselves, over the same inputs.
Graph first_of(const verify::Pair& pair);
Graph second_of(const verify::Pair& pair);

/// What each proved window that a merge rests on does in floating point. Windows that were not
/// reached before `stop` are unknown.
std::map<std::string, NumericVerdict> numerics_of_windows(const verify::SweepReport& sweep,
                                                          uint64_t seed, int threads,
                                                          const Stop& stop);
/// The windows that were not decided, the smallest first.
std::vector<const verify::Open*> open_windows(const certify::Validation& v);

/// Of the program, after a validation with this verdict.
int exit_code(certify::Equivalence verdict);
nlohmann::json json_of(const ValidationReport& report);
/// A line for each output, then the counterexample or the smallest window that is open.
std::string text_of(const ValidationReport& report);

}  // namespace regraft::cli
