#pragma once
// The parts of the atlas that no rule changes.
#include <string>

namespace regraft::cli {

std::string search_script();  ///< JavaScript of the index: filters its table
std::string reading_body();   ///< HTML: how to read a page of a rule

}  // namespace regraft::cli
