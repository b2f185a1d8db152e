#pragma once
// What `optimize` did, as one page.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rewrite/match/rule_index.h"

namespace regraft::cli {

/// A whole document that needs nothing from elsewhere. `report` is what --json writes; each rule
/// that it says was applied is drawn, as it stands in `rules`.
std::string optimize_page(const nlohmann::json& report, const rewrite::RuleIndex& rules);

}  // namespace regraft::cli
