#pragma once
// What was done to a model, step by step, and the rules that did it.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/optimization/trace.h"

namespace regraft::cli {

/// The list of regions, each with its steps; empty where there is none. Rules are linked to their
/// drawings, which are those of rule_sections.
std::string change_list(const Trace& trace, const nlohmann::json& report);
/// Each rule of the report that was applied: in a table, the most used ones drawn.
std::string rule_sections(const nlohmann::json& report, const Trace& trace,
                          const rewrite::RuleIndex& rules);

/// Their rules of CSS.
std::string change_style();

}  // namespace regraft::cli
