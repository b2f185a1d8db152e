#pragma once
// The options of `validate`.
#include "cli/support/commands.h"

namespace CLI {
class App;
}

namespace regraft::cli {

struct ValidateFlags {
  Common common;
  std::string a, b;
  std::vector<std::string> sizes;  ///< "symbolic", or "NAME=8" for named dimensions
  std::string constants = "auto";  ///< or "exact"
  std::vector<std::string> rules;  ///< empty: the shipped ones
  std::string certificate, html;   ///< files; empty: none
  bool numerics = false;           ///< also what the proved windows do in floating point
};

/// Adds the subcommand, which sets `code` to its exit code. All outlive the parsing.
void add_validate(CLI::App& root, ValidateFlags& f, int& code);
int run_validate(const ValidateFlags& flags);

}  // namespace regraft::cli
