#pragma once
// Where a fleet keeps its files: the few operations that a folder and an object store both have.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace regraft::fleet {

/// Values by key, in a folder that all workers see. A value appears whole or not at all. Keys are
/// names with slashes; those of this program need no quoting. An Error is one line that names the
/// file. Thread-safe; any number of processes may use one folder.
///
/// An object store needs the same: PUT with If-None-Match (put_if_absent), PUT, GET, LIST, DELETE
/// with If-Match (remove_if).
class Storage {
 public:
  /// A folder that is made where there is none.
  static Result<Storage> make(const std::string& folder);
  /// One that is there.
  static Result<Storage> open(const std::string& folder);

  /// False: there is one already, which stays.
  Result<bool> put_if_absent(const std::string& key, std::string_view value) const;
  /// In place of one that is there.
  Status put(const std::string& key, std::string_view value) const;
  Result<std::optional<std::string>> get(const std::string& key) const;
  bool has(const std::string& key) const;
  /// Names of the keys directly below `folder`, sorted.
  Result<std::vector<std::string>> list(const std::string& folder) const;
  /// Nothing happens when it is not there.
  Status remove(const std::string& key) const;
  /// Removes the value only where it is `seen`; false: it was another, which stays.
  Result<bool> remove_if(const std::string& key, std::string_view seen) const;

  std::string path(const std::string& key) const { return folder_ + "/" + key; }
  const std::string& folder() const { return folder_; }

 private:
  explicit Storage(std::string folder) : folder_(std::move(folder)) {}
  /// A file of its own that is not at its place yet.
  Result<std::string> write_beside(const std::string& key, std::string_view value) const;
  std::string folder_;
};

}  // namespace regraft::fleet
