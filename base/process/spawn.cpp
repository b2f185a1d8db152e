#include "base/process/spawn.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

extern char** environ;

namespace regraft {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> p;
  for (const std::string& s : strings) p.push_back(const_cast<char*>(s.c_str()));
  p.push_back(nullptr);
  return p;
}

}  // namespace

Spawn::Spawn() {
  posix_spawn_file_actions_init(&actions_);
  posix_spawnattr_init(&attributes_);
  sigset_t usual, none;
  sigemptyset(&usual);
  for (int ignored_by_us : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, ignored_by_us);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes_, &usual);
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setflags(&attributes_,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

Spawn::~Spawn() {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawnattr_destroy(&attributes_);
}

void Spawn::silence(int descriptor, int flags) {
  posix_spawn_file_actions_addopen(&actions_, descriptor, "/dev/null", flags, 0);
}

void Spawn::connect(int from, int descriptor) {
  posix_spawn_file_actions_adddup2(&actions_, from, descriptor);
}

void Spawn::start_in(const char* folder) {
  posix_spawn_file_actions_addchdir_np(&actions_, folder);
}

int Spawn::run(const std::string& program, const std::vector<std::string>& argv, pid_t& pid,
               const std::vector<std::string>* environment) {
  std::vector<char*> given;
  if (environment) given = pointers(*environment);
  return posix_spawn(&pid, program.c_str(), &actions_, &attributes_, pointers(argv).data(),
                     environment ? given.data() : environ);
}

void kill_group(pid_t pid) {
  kill(-pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<int> exit_code(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace regraft
