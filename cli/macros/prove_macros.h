#pragma once
// Compositions on their way to rules: named, proved, judged in floating point.
#include <span>

#include "base/parallel.h"
#include "cli/support/commands.h"
#include "ir/rule/rule.h"

namespace regraft::cli {

/// The same for compositions that differ in names of variables only.
std::string macro_name(const Rule& rule);

struct ProvedMacros {
  std::vector<std::optional<Rule>> rules;  ///< by candidate: with verdict, domain and numerics
  size_t proved = 0, unproved = 0, unsafe = 0;
};

/// Proves each for all sizes; what is unsafe in floating point is left out. The same answer for any
/// number of threads. What stopping cut off is unproved.
ProvedMacros prove_macros(std::span<const Rule> candidates, const Common& common, const Stop& stop);

}  // namespace regraft::cli
