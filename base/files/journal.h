#pragma once
// A file of lines that grows while work goes on.
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace regraft {

/// Begins as a text that takes its place in one step, then gets a line at a time. Every line is
/// whole, also after a full disk; after a kill at most the last one is cut off. Not thread-safe.
class Journal {
 public:
  Journal() = default;  ///< keeps nothing
  /// The file holds `text` (whole lines) from now on. An empty path keeps nothing; an Error names a
  /// file that cannot be written.
  static Result<Journal> open(const std::string& path, std::string_view text);
  Journal(Journal&& other) noexcept { swap(other); }
  Journal& operator=(Journal&& other) noexcept {
    Journal(std::move(other)).swap(*this);
    return *this;
  }
  ~Journal();
  /// REQUIRES: no line break in it.
  Status add(std::string_view line);

 private:
  void swap(Journal& other) noexcept;
  Error failed() const;
  std::string path_;
  int fd_ = -1;
};

}  // namespace regraft
