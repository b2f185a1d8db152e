#pragma once
// What a search gave, kept in a file of lines of JSON so that it is not done twice.
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/files/journal.h"
#include "base/result.h"

namespace regraft::cli {

/// The cheapest graph so far.
struct CurvePoint {
  uint64_t candidate = 0;
  double seconds = 0, cost = 0;  ///< since the start; microseconds
};

struct BenchRun {
  std::string key;  ///< all that it depends on
  std::string graph, method;
  std::string training;  ///< label
  uint64_t seed = 0;     ///< of the search
  double before = 0, after = 0;
  uint64_t expanded = 0, candidates = 0;
  double seconds = 0;
  std::string stop;
  std::vector<CurvePoint> curve;
  std::map<std::string, int64_t> applied;
};
nlohmann::json to_json(const BenchRun& run);

/// Of one build: what the code does is not part of a key. Not thread-safe.
class KeptRuns {
 public:
  /// Reads what is there; "": keeps nothing. The first line says what the file is; older files lack
  /// it, and begin with a run. Of the others the last may have been cut off, and is left out; an
  /// Error names one that cannot be read. A file that is no such file stays as it is.
  static Result<KeptRuns> open(const std::string& path);
  const BenchRun* find(const std::string& key) const;
  Status add(const BenchRun& run);

 private:
  Journal lines_;
  std::map<std::string, BenchRun> runs_;
};

}  // namespace regraft::cli
