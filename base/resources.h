#pragma once
// What this process has used so far, and may use.
#include <cstdint>

namespace regraft {

/// User and system time of all threads, in seconds.
double cpu_seconds();
/// The same of the calling thread.
double thread_seconds();
/// Highest resident memory since the program started, in bytes (not that of what started it, which
/// getrusage may report).
int64_t peak_bytes();
/// Resident memory now, in bytes.
int64_t resident_bytes();
/// What this machine has, or this process may use (its control group, `ulimit -v`), in bytes.
int64_t machine_bytes();
/// From here on memory beyond `bytes` in all is refused (std::bad_alloc) and not taken from other
/// programs. Threads' stacks count, so some slack is added. Without effect under a sanitizer and
/// inside another program.
void limit_memory(int64_t bytes);

}  // namespace regraft
