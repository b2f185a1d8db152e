#pragma once
// Verification by a fleet: a task for each rule.
#include <span>

#include "base/process/task.h"
#include "cli/fleet/fleet_run.h"
#include "verify/verify.h"

namespace regraft::cli {

inline constexpr const char* kVerifyTask = "verify";

/// The line of a VerdictCache that says what is found of a rule; it took no time.
Result<std::string> perform_verify(std::string_view input, const Stop& stop);

/// Has those of the rules judged that `known` has no verdict of, and answers what the others ask.
/// The result has what was found, and what `known` finds; it keeps in `known`, which outlives it.
Result<verify::VerdictStore> judge_by_fleet(FleetRun& run, std::span<const Rule> rules,
                                            const verify::VerifyOptions& options,
                                            const verify::VerdictStore& known, const Stop& stop);

}  // namespace regraft::cli
