#include "base/process/shell_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

extern char** environ;

namespace regraft {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(10);

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

int start(const std::string& command, Printed printed, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (printed == Printed::Nowhere)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual, none;
  sigemptyset(&usual);
  for (int ignored_by_us : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, ignored_by_us);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const char* argv[] = {"sh", "-c", command.c_str(), nullptr};
  int failed =
      posix_spawn(&pid, "/bin/sh", &actions, &attributes, const_cast<char**>(argv), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

void kill_group(pid_t pid) {
  kill(-pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

std::string with_path(const std::string& command, const std::string& path) {
  std::string text = command;
  size_t at = text.find("{}");
  if (at == std::string::npos) return text + " " + quoted(path);
  for (const std::string word = quoted(path); at != std::string::npos;
       at = text.find("{}", at + word.size()))
    text.replace(at, 2, word);
  return text;
}

Result<int> run_shell(const std::string& command, Printed printed, const Stop& stop) {
  pid_t pid = -1;
  if (int failed = start(command, printed, pid))
    return error(std::string("/bin/sh: ") + std::strerror(failed));
  for (int status = 0;;) {
    pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (stop.must_end()) {
      kill_group(pid);
      return error("the command was stopped before it ended");
    }
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace regraft
