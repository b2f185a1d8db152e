#pragma once
// What `regraft --version --json` says.
#include <string>

namespace regraft::cli {

/// JSON: {"version", "solver", "runtimes" that this program can time in,
/// "rules": the folder of the shipped ones}.
std::string about();

}  // namespace regraft::cli
