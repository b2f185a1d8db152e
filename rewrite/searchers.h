#pragma once
// All searchers, by name.
#include <memory>

#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// In the order in which they are explained to users.
std::vector<std::string> searcher_names();
/// nullptr when there is none of that name.
std::unique_ptr<Searcher> make_searcher(std::string_view name);

}  // namespace regraft::rewrite
