#include "base/resources.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "base/host.h"

namespace regraft {
namespace {

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

/// The number that a file holds; nothing: there is none ("max").
std::optional<int64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  int64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

/// The least limit of the control group (version 2) and those around it.
std::optional<int64_t> control_group_bytes() {
  std::ifstream in("/proc/self/cgroup");
  std::optional<int64_t> least = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::string path = line.substr(3);; path.erase(path.rfind('/'))) {
      auto limit = number_in("/sys/fs/cgroup" + path + "/memory.max");
      if (limit) least = std::min(*limit, least.value_or(*limit));
      if (path.empty()) break;
    }
  }
  return least;
}

}  // namespace

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double thread_seconds() {
  timespec used{};  // finer than getrusage
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

int64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  int64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int64_t machine_bytes() {
  int64_t all = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  auto group = control_group_bytes();
  if (group && *group > 0) all = std::min(all, *group);
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(all))
    all = static_cast<int64_t>(limit.rlim_cur);
  return all;
}

void limit_memory([[maybe_unused]] int64_t bytes) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr int64_t kSlack = int64_t{512} << 20;  // stacks and what the allocator keeps
  if (hosted()) return;                           // it would be the other program's
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(static_cast<rlim_t>(bytes + kSlack), limit.rlim_max);
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

}  // namespace regraft
