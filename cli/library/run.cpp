#include "cli/library/run.h"

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/interrupts.h"
#include "cli/library/hosting.h"
#include "cli/measure/worker.h"
#include "cli/program/program.h"
#include "cli/support/commands.h"
#include "cli/support/report.h"

namespace regraft::cli {
namespace {

constexpr size_t kStack = size_t{64} << 20;  // bytes; models may be nested
constexpr const char* kReport = "json";

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = 0; !what.empty() && (at = text.find(what, at)) != std::string::npos;
       at += with.size())
    text.replace(at, what.size(), with);
}

}  // namespace

Run::Run(Request request, const std::map<std::string, std::string_view>& inputs)
    : request_(std::move(request)) {
  for (const auto& [name, bytes] : inputs) {
    auto file = MemoryFile::make();
    Status filled = file ? file->write(bytes) : Status(file.error());
    if (!filled) {
      finish(kBadInput, name + ": " + filled.error().message + "\n");
      return;
    }
    files_.emplace(name, *std::move(file));
    request_.inputs.push_back(name);
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  // Signals are for the program's own threads; a pipe without a reader is an error of writing.
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  auto body = [](void* self) -> void* {
    static_cast<Run*>(self)->work();
    return nullptr;
  };
  started_ = pthread_create(&thread_, &attributes, body, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (!started_) finish(kInternal, "no thread could be started\n");
}

Run::~Run() {
  cancel();
  if (started_) pthread_join(thread_, nullptr);
}

bool Run::wait(double seconds) {
  std::unique_lock lock(mutex_);
  auto is_done = [this] { return done_; };
  constexpr double kForever = 1e9;
  if (seconds < 0 || seconds > kForever) {
    ended_.wait(lock, is_done);
    return true;
  }
  return ended_.wait_for(lock, std::chrono::duration<double>(seconds), is_done);
}

void Run::cancel() {
  std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (running_) request_interrupt();
}

void Run::set_running(Now now) {
  std::lock_guard lock(mutex_);
  running_ = now == Now::Running;
  if (running_ && cancelled_) request_interrupt();
}

void Run::finish(int status, std::string messages) {
  std::lock_guard lock(mutex_);
  status_ = status;
  messages_ = std::move(messages);
  done_ = true;
  ended_.notify_all();
}

MemoryFile* Run::output(const std::string& name) {
  auto it = files_.find(name);
  bool ours = name == kReport || it == files_.end();
  for (const std::string& input : request_.inputs) ours = ours || name == input;
  return ours ? nullptr : &it->second;
}

/// A name for the file in memory, so that messages can say it.
Result<std::string> Run::place(const std::string& folder, const std::string& name) {
  if (!files_.contains(name)) {
    ASSIGN_OR_RETURN(MemoryFile file, MemoryFile::make());
    files_.emplace(name, std::move(file));
  }
  std::string path = folder + "/" + name;
  std::error_code failed;
  std::filesystem::create_symlink(files_.at(name).path(), path, failed);
  if (failed) return error(path + ": " + failed.message());
  return path;
}

int Run::run_command(const std::string& folder) {
  Program program;
  auto arguments = arguments_of(program.app(), request_,
                                [&](const std::string& name) { return place(folder, name); });
  if (!arguments) {
    tell(arguments.error().message);
    return kUsage;
  }
  return program.run(*std::move(arguments));
}

void Run::work() {
  std::unique_lock mine(turn(), std::defer_lock);
  while (!mine.try_lock_for(std::chrono::milliseconds(20)))
    if (cancelled_) {
      finish(kInterrupted, "");
      return;
    }
  int status = kInternal;
  std::string messages, folder;
  try {
    Captured text, said;
    {
      Hosted host(text.stream(), said.stream());
      set_running(Now::Running);
      TemporaryFolder names;
      try {
        if (auto path = names.path()) {
          folder = *path;
          status = run_command(folder);
        } else {
          tell(path.error().message);
          status = kBadInput;
        }
      } catch (const InternalError& e) {
        tell("internal error: " + e.message);
      }
      set_running(Now::Idle);
    }
    text_ = text.text();
    messages = said.text();
    if (auto it = files_.find(kReport); it != files_.end())
      if (auto report = it->second.bytes()) report_ = *report;
  } catch (const std::exception& e) {
    messages += std::string("regraft: internal error: ") + e.what() + "\n";
  } catch (...) {
    messages += "regraft: internal error\n";
  }
  set_running(Now::Idle);
  for (std::string* said : {&messages, &text_, &report_}) {
    if (!folder.empty()) replace_all(*said, folder + "/", "");
    for (const auto& [name, file] : files_) replace_all(*said, file.path(), name);
  }
  finish(status, std::move(messages));
}

}  // namespace regraft::cli
