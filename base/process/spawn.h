#pragma once
// How a program is started and ended: inside base/process.
#include <spawn.h>

#include <optional>
#include <string>
#include <vector>

namespace regraft {

/// A program starts in a process group of its own, with the usual signals.
class Spawn {
 public:
  Spawn();
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  ~Spawn();
  /// Its file `descriptor` is /dev/null, opened with `flags`.
  void silence(int descriptor, int flags);
  /// Its file `descriptor` is the file `from`.
  void connect(int from, int descriptor);
  void start_in(const char* folder);
  /// 0, or the system's error. Without an environment it has ours.
  int run(const std::string& program, const std::vector<std::string>& argv, pid_t& pid,
          const std::vector<std::string>* environment = nullptr);

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// Ends the process and its group, and waits for it.
void kill_group(pid_t pid);
/// Its exit code, 128 and the signal's number where one ended it. Nothing: it runs.
std::optional<int> exit_code(pid_t pid);

}  // namespace regraft
