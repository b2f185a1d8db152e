#pragma once
// The options of `optimize` and `simplify`.
#include "cli/support/commands.h"

namespace CLI {
class App;
}

namespace regraft::cli {

/// Each adds a subcommand that runs when it is chosen, and sets `code` to its exit code. All
/// outlive the parsing.
void add_optimize(CLI::App& root, OptimizeFlags& f, int& code);
void add_simplify(CLI::App& root, OptimizeFlags& f, int& code);

}  // namespace regraft::cli
