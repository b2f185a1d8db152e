#pragma once
// The process that this code runs in: its own, or that of another program, which must go on
// whatever happens here. The state is the process's, so that it is one command's at a time.
#include <cstdint>
#include <cstdio>
#include <string>

namespace regraft {

/// A failed CHECK inside another program. No std::exception: nobody takes it for bad input.
struct InternalError {
  std::string message;
};

/// While one lives, the process is another program's: no limit is set for it, what is printed goes
/// to the streams, and a failed CHECK throws. Interruptions are forgotten when it begins and when
/// it ends. REQUIRES: no other one lives.
class Hosted {
 public:
  Hosted(std::FILE* results, std::FILE* messages);
  ~Hosted();
  Hosted(const Hosted&) = delete;
  Hosted& operator=(const Hosted&) = delete;
};
bool hosted();

/// From now on a failed CHECK throws also where no Hosted lives: in a library, whose host calls it
/// from several threads.
void throw_failed_checks();

/// Where results are printed: stdout, or the host's stream.
std::FILE* results();
/// Where everything else is said: stderr, or the host's stream.
std::FILE* messages();
/// Writes to `messages()`. That nobody can read it, as on a full disk, changes nothing else.
void say(const std::string& text);

/// How far the latest long work is.
struct ProgressNow {
  std::string label, unit, note;  ///< empty: there was none yet
  uint64_t done = 0, total = 0;   ///< total 0: unknown
  uint64_t changes = 0;           ///< counts reports: the same number, the same report
};
/// Remembered while the process is another program's. From any thread.
void report_progress(const std::string& label, const std::string& unit, const std::string& note,
                     uint64_t done, uint64_t total);
ProgressNow progress_now();

}  // namespace regraft
