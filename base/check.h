#pragma once
// CHECK: our own bugs, in every build. Bad input is a Result instead.
#include <cstdio>
#include <cstdlib>

namespace regraft {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "regraft: internal error: %s is false at %s:%d\n", condition, file, line);
  std::fflush(nullptr);
#ifdef REGRAFT_FUZZ
  std::abort();  // an exit is nothing to a fuzzer
#else
  std::_Exit(4);  // the command line's code for internal errors
#endif
}

}  // namespace regraft

#define CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::regraft::check_failed(#condition, __FILE__, __LINE__))
