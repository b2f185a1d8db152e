#pragma once
// Numbers for the size symbols of two graphs.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"

namespace regraft::rewrite {

/// Numbers by name, and as each graph's own symbols have them.
struct SizeAssignment {
  std::map<std::string, int64_t> by_name;
  std::array<Valuation, 2> values;
  bool zero = false;  ///< some symbol is 0
};

/// What is worth a try, in this order: different numbers for different names, equal numbers, larger
/// ones for models whose windows need room, last some that are 0. Equal names have equal numbers in
/// both graphs. Left out is what makes a dimension of the first graph negative; before those that
/// are 0 also what makes one of them 0 that is not always 0, as long as there is anything else. One
/// entry without numbers when neither graph has symbols.
std::vector<SizeAssignment> sizes_to_try(const Graph& a, const Graph& b);

/// These sizes, of all symbols of both graphs; nothing where one is less than it may be, or where
/// they make what sizes_to_try leaves out.
std::optional<SizeAssignment> assign_sizes(const Graph& a, const Graph& b,
                                           const std::map<std::string, int64_t>& by_name);

}  // namespace regraft::rewrite
