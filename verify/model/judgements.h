#pragma once
// What is known of windows, and how more becomes known.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "verify/model/window.h"

namespace regraft::verify {

/// What was found of windows that are alike.
struct Judged {
  Window window;  ///< the first of them
  Verdict verdict;
  int64_t count = 0;  ///< merges that rest on it
};

/// Windows of which any one shows the same merge.
struct Ways {
  std::vector<Window> windows;
};

struct JudgeOptions {
  int threads = 0;
  uint64_t effort = 1;       ///< multiplies the limits of each proof
  size_t most_failures = 0;  ///< after so many no others are tried; 0: all are
};

/// The windows of a merge one after the other until one is proved; merges side by side. Verdicts
/// are added to `judged`, by the windows' keys. Returns how many merges no window proved.
size_t judge(std::vector<Ways>& merges, std::map<std::string, Judged>& judged,
             const JudgeOptions& options, const Stop& stop);

}  // namespace regraft::verify
