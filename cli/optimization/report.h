#pragma once
// What became of a model, as JSON.
#include <nlohmann/json_fwd.hpp>

#include "cli/optimization/outcome.h"
#include "cli/support/commands.h"

namespace regraft::cli {

/// What --json writes; docs/optimizing.md has its entries.
nlohmann::json to_json(const OptimizeFlags& flags, const Outcome& o);

}  // namespace regraft::cli
