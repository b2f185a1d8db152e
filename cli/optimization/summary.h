#pragma once
// What became of a model, as text.
#include "cli/optimization/outcome.h"

namespace regraft::cli {

/// Prints sizes, costs, the rules applied, how it was found and checked.
void print(const Outcome& o);

}  // namespace regraft::cli
