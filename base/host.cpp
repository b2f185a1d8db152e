#include "base/host.h"

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "base/check.h"
#include "base/interrupts.h"

namespace regraft {
namespace {

std::atomic<bool> inside_another{false}, checks_throw{false};
std::FILE* given_results = nullptr;
std::FILE* given_messages = nullptr;
std::mutex progress_mutex;
ProgressNow latest;

}  // namespace

Hosted::Hosted(std::FILE* results, std::FILE* messages) {
  CHECK(!inside_another);
  given_results = results;
  given_messages = messages;
  forget_interrupts();
  {
    std::lock_guard lock(progress_mutex);
    latest = {};
  }
  inside_another = true;
}

Hosted::~Hosted() {
  inside_another = false;
  forget_interrupts();
}

bool hosted() { return inside_another; }
void throw_failed_checks() { checks_throw = true; }
std::FILE* results() { return hosted() ? given_results : stdout; }
std::FILE* messages() { return hosted() ? given_messages : stderr; }
void say(const std::string& text) { std::fputs(text.c_str(), messages()); }

void report_progress(const std::string& label, const std::string& unit, const std::string& note,
                     uint64_t done, uint64_t total) {
  if (!hosted()) return;
  std::lock_guard lock(progress_mutex);
  latest = {label, unit, note, done, total, latest.changes + 1};
}

ProgressNow progress_now() {
  std::lock_guard lock(progress_mutex);
  return latest;
}

void check_failed(const char* condition, const char* file, int line) {
  if (hosted() || checks_throw)
    throw InternalError{std::string(condition) + " is false at " + file + ":" +
                        std::to_string(line)};
  std::fprintf(stderr, "regraft: internal error: %s is false at %s:%d\n", condition, file, line);
  std::fflush(nullptr);
#ifdef REGRAFT_FUZZ
  std::abort();  // an exit is nothing to a fuzzer
#else
  std::_Exit(4);  // the command line's code for internal errors
#endif
}

}  // namespace regraft
