#pragma once
// What the rules won, as text and as JSON.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/optimization/explanation.h"

namespace regraft::cli {

/// Lines of at most `width` characters, but for longer words.
std::string to_text(const Explanation& e, size_t width);
/// docs/optimizing.md has its entries.
nlohmann::json to_json(const Explanation& e);

}  // namespace regraft::cli
