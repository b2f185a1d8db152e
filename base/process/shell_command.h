#pragma once
// A command that the user wrote, run by the shell.
#include <string>

#include "base/parallel.h"
#include "base/process/child.h"
#include "base/result.h"

namespace regraft {

/// `command` with the path in place of each {}, or behind it where there is none, quoted for the
/// shell.
std::string with_path(const std::string& command, const std::string& path);

/// Runs it in the current folder, in a process group of its own, with nothing to read; what it
/// prints goes to stderr, or nowhere. Returns its exit code, 128 and the signal's number where one
/// ended it. An Error when it cannot be started, or when `stop` came first: it was killed then,
/// with its group.
Result<int> run_shell(const std::string& command, Printed printed, const Stop& stop);

}  // namespace regraft
