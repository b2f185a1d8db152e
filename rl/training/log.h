#pragma once
// What an agent says of one iteration.
#include <string>
#include <utility>
#include <vector>

namespace regraft::rl {

/// Named numbers in the order in which they are shown. All rows of an agent have the same names.
using LogRow = std::vector<std::pair<std::string, double>>;

}  // namespace regraft::rl
