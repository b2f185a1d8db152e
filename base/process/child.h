#pragma once
// A program of its own that runs beside this one.
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace regraft {

/// What becomes of what a program prints: nothing is shown, its stderr is ours, or both are our
/// stderr.
enum class Printed : unsigned char { Nowhere, Errors, Stderr };

/// Runs in the current folder, in a process group of its own, with nothing to read. Killed with its
/// group when this goes. Not thread-safe.
class Child {
 public:
  /// `argv[0]` is a path.
  static Result<Child> start(const std::vector<std::string>& argv, Printed printed);
  Child(Child&& other) noexcept : pid_(other.pid_), code_(other.code_) { other.pid_ = -1; }
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(code_, other.code_);
    return *this;
  }
  ~Child();
  /// Its exit code, 128 and the signal's number where one ended it. Nothing: it runs.
  std::optional<int> ended();
  /// Asks it to end (SIGTERM).
  void stop();

 private:
  explicit Child(int pid) : pid_(pid) {}
  int pid_ = -1;
  std::optional<int> code_;
};

}  // namespace regraft
