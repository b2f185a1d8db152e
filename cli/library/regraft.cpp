#include "cli/library/regraft.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>

#include "base/host.h"
#include "base/parallel.h"
#include "cli/library/hosting.h"
#include "cli/library/run.h"
#include "cli/measure/worker.h"
#include "cli/program/program.h"
#include "cli/support/commands.h"
#include "cli/support/report.h"

using namespace regraft;
using namespace regraft::cli;

struct regraft_run {
  Run run;
  ProgressNow shown;  ///< what the strings of the last regraft_progress are of
};

namespace {

std::terminate_handler usual_end = nullptr;

/// Where no handler is around: in a thread of Z3, or where nothing may be thrown.
[[noreturn]] void end_without_memory() {
  try {
    if (auto thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    for (const char* part : {"regraft: ", kNoMemory, "\n"})
      (void)!::write(STDERR_FILENO, part, std::strlen(part));
    ::_exit(kBadInput);
  } catch (...) {
  }
  usual_end();
  std::abort();
}

std::string text_or_empty(const char* text) { return text ? text : ""; }

const void* given(std::string_view bytes, size_t* size) {
  if (size) *size = bytes.size();
  return bytes.data();
}

}  // namespace

int regraft_api_version(void) { return REGRAFT_API_VERSION; }

const char* regraft_version(void) { return REGRAFT_VERSION; }

const char* regraft_options(const char* command) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  std::lock_guard lock(mutex);
  std::string name = text_or_empty(command);
  auto it = known.find(name);
  if (it == known.end()) {
    Program program;
    nlohmann::json described = options_of(program.app(), name);
    if (described.is_null()) return nullptr;
    it = known.emplace(name, to_text(described, -1)).first;
  }
  return it->second.c_str();
}

void regraft_set_python(const char* path) { set_python(text_or_empty(path)); }

regraft_run* regraft_start(const char* command, const char* options, const regraft_buffer* inputs,
                           size_t count) {
  find_folder();
  try {
    std::map<std::string, std::string_view> buffers;
    for (size_t k = 0; k < count; ++k)
      buffers[text_or_empty(inputs[k].name)] = {static_cast<const char*>(inputs[k].data),
                                                inputs[k].size};
    Request request{text_or_empty(command), text_or_empty(options), {}};
    return new regraft_run{{std::move(request), buffers}, {}};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

int regraft_wait(regraft_run* run, double seconds, regraft_callback callback, void* user) {
  constexpr double kBetween = 0.1;  // seconds, two calls of the callback
  if (!callback) return run->run.wait(seconds) ? 1 : 0;
  double left = seconds < 0 ? HUGE_VAL : seconds;
  for (;; left -= kBetween) {
    if (run->run.wait(std::clamp(left, 0.0, kBetween))) return 1;
    regraft_progress now = regraft_progress_of(run);
    if (callback(&now, user) != 0) run->run.cancel();
    if (left <= kBetween) return 0;
  }
}

regraft_progress regraft_progress_of(regraft_run* run) {
  run->shown = run->run.is_running() ? progress_now() : ProgressNow{};
  const ProgressNow& p = run->shown;
  return {p.label.c_str(), p.unit.c_str(), p.note.c_str(), p.done, p.total};
}

void regraft_cancel(regraft_run* run) { run->run.cancel(); }

int regraft_status(const regraft_run* run) { return run->run.status(); }

const char* regraft_messages(const regraft_run* run) { return run->run.messages().c_str(); }

const char* regraft_report(const regraft_run* run, size_t* size) {
  return static_cast<const char*>(given(run->run.report(), size));
}

const char* regraft_text(const regraft_run* run, size_t* size) {
  return static_cast<const char*>(given(run->run.text(), size));
}

const void* regraft_output(const regraft_run* run, const char* name, size_t* size) {
  MemoryFile* file = const_cast<regraft_run*>(run)->run.output(text_or_empty(name));
  auto bytes = file ? file->bytes() : Result<std::string_view>(error("none"));
  if (!bytes || bytes->empty()) return nullptr;
  return given(*bytes, size);
}

void regraft_free(regraft_run* run) { delete run; }

int regraft_main(int argc, char** argv) {
  install_interrupt_handler();
  usual_end = std::set_terminate(end_without_memory);
  return Program().run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}
