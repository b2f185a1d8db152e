#pragma once
// What `optimize` did, as one page.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/optimization/outcome.h"
#include "rewrite/match/rule_index.h"

namespace regraft::cli {

/// A whole document that needs nothing from elsewhere. `report` is what --json writes of the
/// outcome; rules are drawn as they stand in `rules`. Both models are drawn where the outcome has a
/// trace. What is drawn and listed is limited, so that it stays below some 2 MB for any model; it
/// says what it leaves out.
std::string optimize_page(const nlohmann::json& report, const Outcome& outcome,
                          const rewrite::RuleIndex& rules);

}  // namespace regraft::cli
