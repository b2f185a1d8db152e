#pragma once
// Files without a place on a disk, for readers and writers that want a path.
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace regraft {

/// Lives in memory as long as this does; other processes of the user can read it meanwhile. Not
/// thread-safe.
class MemoryFile {
 public:
  /// An empty one. An Error: the system has no more files or no memory.
  static Result<MemoryFile> make();
  MemoryFile(MemoryFile&& other) noexcept { swap(other); }
  MemoryFile& operator=(MemoryFile&& other) noexcept {
    MemoryFile(std::move(other)).swap(*this);
    return *this;
  }
  ~MemoryFile();

  /// For whoever opens it, to read or to write (OutputFile writes it in place).
  const std::string& path() const { return path_; }
  Status write(std::string_view bytes);
  /// All that it holds, until this goes. REQUIRES: nobody writes any more.
  Result<std::string_view> bytes();

 private:
  MemoryFile() = default;
  void swap(MemoryFile& other) noexcept;
  std::string path_;
  int fd_ = -1;
  std::string_view mapped_;
};

}  // namespace regraft
