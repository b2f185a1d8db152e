#include "base/process/child.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/process/spawn.h"

namespace regraft {

Result<Child> Child::start(const std::vector<std::string>& argv, Printed printed) {
  Spawn spawn;
  spawn.silence(STDIN_FILENO, O_RDONLY);
  if (printed == Printed::Nowhere) spawn.silence(STDERR_FILENO, O_WRONLY);
  if (printed == Printed::Errors)
    spawn.silence(STDOUT_FILENO, O_WRONLY);
  else
    spawn.connect(STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = -1;
  if (int failed = spawn.run(argv[0], argv, pid))
    return error(argv[0] + ": " + std::strerror(failed));
  return Child(pid);
}

std::optional<int> Child::ended() {
  if (pid_ > 0 && !code_) code_ = exit_code(pid_);
  return code_;
}

void Child::stop() {
  if (pid_ > 0 && !ended()) kill(pid_, SIGTERM);
}

Child::~Child() {
  if (pid_ > 0 && !ended()) kill_group(pid_);
}

}  // namespace regraft
