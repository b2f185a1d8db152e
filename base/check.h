#pragma once
// CHECK: our own bugs, in every build. Bad input is a Result instead.

namespace regraft {

/// Says so on stderr and ends the process with the command line's code for internal errors; inside
/// another program (base/host.h) throws an InternalError.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace regraft

#define CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::regraft::check_failed(#condition, __FILE__, __LINE__))
