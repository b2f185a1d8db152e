#include "verify/model/judgements.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace regraft::verify {
namespace {

class Judges {
 public:
  Judges(std::map<std::string, Judged>& judged, uint64_t effort, const Stop& stop)
      : judged_(judged), effort_(effort), stop_(stop) {}

  bool any_proved(Ways& ways) {
    for (Window& w : ways.windows) {
      {
        std::lock_guard lock(mutex_);
        if (auto it = judged_.find(w.key); it != judged_.end()) {
          if (is_for_all_sizes(it->second.verdict.kind)) return true;
          continue;
        }
      }
      Verdict v = stop_.must_end() ? Verdict{VerdictKind::Unknown, stop_.reason()}
                                   : judge(w, effort_, stop_);
      bool proved = is_for_all_sizes(v.kind);
      std::string key = w.key;
      std::lock_guard lock(mutex_);
      judged_.emplace(std::move(key), Judged{std::move(w), std::move(v), 0});
      if (proved) return true;
    }
    return false;
  }

 private:
  std::map<std::string, Judged>& judged_;
  uint64_t effort_;
  const Stop& stop_;
  std::mutex mutex_;
};

}  // namespace

size_t judge(std::vector<Ways>& merges, std::map<std::string, Judged>& judged,
             const JudgeOptions& options, const Stop& stop) {
  constexpr size_t kAtATime = 8;  // where failures end it; whatever the number of threads
  const size_t most = options.most_failures, step = most > 0 ? kAtATime : merges.size();
  Judges judges(judged, options.effort, stop);
  size_t failures = 0;
  for (size_t first = 0; first < merges.size() && (most == 0 || failures < most); first += step) {
    std::atomic<size_t> failed = 0;
    parallel_for(std::min(step, merges.size() - first), options.threads, [&](size_t k) {
      if (!judges.any_proved(merges[first + k])) ++failed;
    });
    failures += failed;
  }
  return failures;
}

}  // namespace regraft::verify
