#pragma once
// Work inside another program: one at a time, and what it prints is kept.
#include <mutex>
#include <string>

#include "base/host.h"

namespace regraft::cli {

/// Whose turn it is: what commands share is the process's (base/host.h). Not a plain mutex, so that
/// who waits can be cancelled.
std::timed_mutex& turn();

/// Beside the library, wherever it lies, is what was installed with it; from now on it is found.
void find_folder();

/// Text that is printed to a stream.
class Captured {
 public:
  Captured();
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured();
  std::FILE* stream() { return stream_; }
  std::string text();

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* stream_;
};

}  // namespace regraft::cli
