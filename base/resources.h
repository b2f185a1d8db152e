#pragma once
// What this process has used so far.
#include <cstdint>

namespace regraft {

/// User and system time of all threads, in seconds.
double cpu_seconds();
/// The same of the calling thread.
double thread_seconds();
/// Highest resident memory since the program started, in bytes (not that of what started it, which
/// getrusage may report).
int64_t peak_bytes();

}  // namespace regraft
