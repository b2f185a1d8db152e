#pragma once
// Moves as text, for files.
#include "base/result.h"
#include "rewrite/engine/engine.h"

namespace regraft::rl {

/// One line.
std::string to_text(double cost, const std::vector<rewrite::Move>& moves);
Result<std::pair<double, std::vector<rewrite::Move>>> moves_of_text(const std::string& line);

}  // namespace regraft::rl
