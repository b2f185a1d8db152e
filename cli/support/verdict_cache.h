#pragma once
// Verdicts of earlier runs of `regraft verify`, kept in a file.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/journal.h"
#include "base/result.h"
#include "verify/verify.h"

namespace regraft::cli {

/// What a line of such a file says of a rule; nothing when that was cut off, changed, or is of
/// another rule. A counterexample is tried again.
std::optional<verify::Finding> parse_verdict(const Rule& candidate, std::string_view line);
/// Inverse of parse_verdict.
std::string to_line(const Rule& candidate, const verify::Finding& finding);

/// A text file: a header that names the program (its version and a hash of its code), the solver
/// and the options, then a line of JSON for each rule judged, appended as soon as it is. A file
/// whose header differs is begun anew; a line that was cut off or changed is ignored. Thread-safe.
class VerdictCache {
 public:
  /// An empty path: remembers nothing. An Error names a file that is no such cache, or one that
  /// cannot be written.
  static Result<std::unique_ptr<VerdictCache>> open(const std::string& path,
                                                    const verify::VerifyOptions& options);
  /// For verify_rules. The cache must outlive it.
  verify::VerdictStore store();
  /// An Error when a verdict could not be kept, as on a full disk.
  Status status() const;

 private:
  VerdictCache() = default;
  Status read(const std::string& path, const std::string& header);
  std::optional<verify::Finding> find(const Rule& candidate);
  void keep(const Rule& candidate, const verify::Finding& finding);

  bool used_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> lines_;  // JSON by rule
  Journal journal_;
  Status failure_;
};

}  // namespace regraft::cli
