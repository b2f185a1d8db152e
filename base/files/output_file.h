#pragma once
// The one way in which files are written: they appear whole, or not at all.
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace regraft {

/// What a path leads to: equal for all names of one file (links of both kinds, "." and ".."),
/// whether the file exists or is yet to be made.
struct FileIdentity {
  uint64_t device = 0, inode = 0;  ///< of the file, or of the folder that is to hold it
  std::string name;                ///< empty: the file exists
  bool regular = true;             ///< a regular file, or none yet: not a device, pipe or folder
  auto operator<=>(const FileIdentity&) const = default;
};
/// None when neither the file nor its folder is there.
std::optional<FileIdentity> identity_of(const std::string& path);
/// An Error for a device, a pipe or a folder in place of a file that is read at the start and kept
/// up to date: reading it might never end. A missing file and an empty path are fine.
Status require_regular(const std::string& path);

/// A file on its way. Opened before work begins, so that what cannot be written is known then; its
/// bytes go to a temporary file beside the target, which takes the target's place in one step. What
/// is not committed vanishes, and what a killed process left behind is removed by the next one that
/// writes the same file.
///
/// Symbolic links are followed. An existing file keeps its mode; a new one gets what the umask
/// leaves. What is there and is no regular file (a device, a pipe), or is in no folder any more (a
/// MemoryFile), is written in place. "-", and any name of the open standard output, is standard
/// output; from then on all else that this process prints there goes to standard error. An empty
/// path is nowhere: all calls succeed. Not thread-safe.
class OutputFile {
 public:
  OutputFile() = default;  ///< nowhere
  /// An Error is one line that names the path.
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept { swap(other); }
  OutputFile& operator=(OutputFile&& other) noexcept {
    OutputFile(std::move(other)).swap(*this);
    return *this;
  }
  ~OutputFile();

  Status write(std::string_view bytes);
  /// Brings the bytes to the disk. What is written in place is complete then.
  Status sync();
  /// sync(), then takes the target's place.
  Status commit();
  /// The same under another name in the target's folder; the file stays open, and locked (flock),
  /// until this goes. REQUIRES: not in_place().
  Status commit_as(const std::string& name);

  /// As it was given.
  const std::string& path() const { return path_; }
  /// The file that a link leads to; the path where it is written in place.
  const std::string& target() const { return target_; }
  /// REQUIRES: not committed.
  bool in_place() const { return !path_.empty() && temporary_.empty(); }
  /// For writers that need a descriptor; -1: nowhere.
  int descriptor() const { return fd_; }
  /// What `errno` says of this file.
  Error failed() const;

 private:
  void swap(OutputFile& other) noexcept;
  Status open_in_place(int flags);
  Status open_standard_output();
  Status open_temporary();

  std::string path_, target_, temporary_;
  int fd_ = -1;
};

/// Brings all to the disk and then, in order, into their places: an Error of writing leaves every
/// target as it was.
Status commit_all(std::initializer_list<OutputFile*> files);

/// Opens, writes and commits.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace regraft
