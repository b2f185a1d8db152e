#pragma once
// What verdicts rest on: their maker, counterexamples in reports, and their evaluation once more.
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "verify/refute/counterexample.h"

namespace regraft::cli {

/// "regraft 0.1.0 z3 4.8.12": what files of verdicts name as their maker.
std::string prover_name();

/// All that it takes to evaluate both sides again: signature, sizes, real attributes, inputs; and
/// what differs.
nlohmann::json json_of(const verify::Counterexample& c);
/// The reverse, without what differs: that is found again. An Error says what is missing.
Result<verify::Counterexample> counterexample_from(const nlohmann::json& j);

/// Evaluates the counterexample that a report of `regraft verify --json` has for a rule, and prints
/// both sides where they differ. True: they do. An Error names the file and what it lacks.
Result<bool> replay_report(const std::string& path, const std::string& rule);

}  // namespace regraft::cli
