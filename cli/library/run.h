#pragma once
// A command on a thread of its own, inside another program.
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/files/memory_file.h"
#include "cli/library/request.h"

namespace regraft::cli {

/// Runs wait for each other: what they share is the process's (base/host.h).
class Run {
 public:
  /// Inputs are copied; the command runs from now on.
  Run(Request request, const std::map<std::string, std::string_view>& inputs);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  /// Cancels, and waits for the end.
  ~Run();

  /// Has it ended? Waits so many seconds for it; below 0: for ever.
  bool wait(double seconds);
  void cancel();
  bool is_running() const { return running_; }  ///< it has begun, and has not ended

  // Once wait() was true; see regraft.h.
  int status() const { return status_; }
  const std::string& messages() const { return messages_; }
  const std::string& text() const { return text_; }
  const std::string& report() const { return report_; }
  /// nullptr: there is none of this name.
  MemoryFile* output(const std::string& name);

 private:
  enum class Now : uint8_t { Idle, Running };
  void set_running(Now now);
  void work();
  int run_command(const std::string& folder);
  Result<std::string> place(const std::string& folder, const std::string& name);
  void finish(int status, std::string messages);

  Request request_;
  std::map<std::string, MemoryFile> files_;
  std::string text_, messages_, report_;
  int status_ = 0;
  std::atomic<bool> cancelled_{false}, running_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  pthread_t thread_{};
  bool started_ = false;
};

}  // namespace regraft::cli
