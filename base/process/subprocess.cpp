#include "base/process/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "base/process/spawn.h"

extern char** environ;

namespace regraft {
namespace {

namespace fs = std::filesystem;

constexpr int kPollMilliseconds = 20;
constexpr int kMostPolls = 100;  // until a program that was asked to end has ended

/// Both ends are closed in every other program that we start.
struct Pipe {
  int read = -1, write = -1;
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
};

std::vector<std::string> with_ours(const std::vector<std::string>& environment) {
  std::vector<std::string> all = environment;
  for (char** e = environ; *e; ++e) {
    std::string_view entry = *e;
    bool replaced = false;
    for (const auto& own : environment)
      replaced = replaced || entry.substr(0, entry.find('=')) == own.substr(0, own.find('='));
    if (!replaced) all.emplace_back(entry);
  }
  return all;
}

/// Empty and relative entries of PATH are not searched: they would be the current folder's.
Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return fs::absolute(name).string();
  const char* set = std::getenv("PATH");
  std::string_view rest = set ? set : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    size_t end = std::min(rest.find(':'), rest.size());
    fs::path file = fs::path(rest.substr(0, end)) / name;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    bool runs = file.is_absolute() && access(file.c_str(), X_OK) == 0;
    if (runs && !fs::is_directory(file)) return file.string();
  }
  return error(name + ": not found in the absolute folders of PATH");
}

}  // namespace

struct Subprocess::State {
  pid_t pid = -1;
  int to = -1, from = -1;
  std::string name;
  std::string unread;  ///< of its output

  ~State() {
    end_input();
    for (int k = 0; pid > 0 && k < kMostPolls; ++k)
      if (!has_ended()) std::this_thread::sleep_for(std::chrono::milliseconds(kPollMilliseconds));
    end_group();
    if (from >= 0) close(from);
  }
  void end_input() {
    if (to >= 0) close(std::exchange(to, -1));
  }
  bool has_ended() {
    if (pid > 0 && waitpid(pid, nullptr, WNOHANG) == pid) pid = -1;
    return pid <= 0;
  }
  void end_group() {
    if (pid > 0) kill_group(std::exchange(pid, -1));
  }
  Error ended() const { return error(name + ": it ended without an answer"); }

  /// Waits until `fd` can be used. An Error when that was stopped.
  Status wait_for(int fd, short events, const Stop& stop) {
    for (;;) {
      if (stop.must_end()) {
        end_input();
        end_group();
        return error(name + ": stopped before it answered");
      }
      pollfd one{fd, events, 0};
      if (poll(&one, 1, kPollMilliseconds) > 0) return {};
    }
  }
  Status send(std::string_view bytes, const Stop& stop) {
    while (!bytes.empty()) {
      RETURN_IF_ERROR(wait_for(to, POLLOUT, stop));
      ssize_t n = ::write(to, bytes.data(), bytes.size());
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n <= 0) return ended();
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return {};
  }
  Result<std::string> receive(const Stop& stop) {
    size_t searched = 0;
    for (;;) {
      size_t end = unread.find('\n', searched);
      if (end != std::string::npos) {
        std::string line = unread.substr(0, end);
        unread.erase(0, end + 1);
        return line;
      }
      searched = unread.size();
      RETURN_IF_ERROR(wait_for(from, POLLIN, stop));
      char block[1 << 14];
      ssize_t n = ::read(from, block, sizeof block);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return ended();
      unread.append(block, static_cast<size_t>(n));
    }
  }
};

Subprocess::Subprocess(std::unique_ptr<State> state) : state_(std::move(state)) {}
Subprocess::Subprocess(Subprocess&&) noexcept = default;
Subprocess& Subprocess::operator=(Subprocess&&) noexcept = default;
Subprocess::~Subprocess() = default;

Result<Subprocess> Subprocess::start(const std::vector<std::string>& argv,
                                     const std::vector<std::string>& environment) {
  std::signal(SIGPIPE, SIG_IGN);  // a program that ended is an Error of the next question
  ASSIGN_OR_RETURN(std::string program, find_program(argv[0]));
  Pipe in, out;
  if (!in.open() || !out.open()) return error(argv[0] + ": " + std::strerror(errno));
  auto state = std::make_unique<State>();
  state->name = argv[0];
  Spawn spawn;
  spawn.connect(in.read, STDIN_FILENO);
  spawn.connect(out.write, STDOUT_FILENO);
  spawn.start_in("/");
  const std::vector<std::string> variables = with_ours(environment);
  int failed = spawn.run(program, argv, state->pid, &variables);
  if (failed) {
    state->pid = -1;
    return error(argv[0] + ": " + std::strerror(failed));
  }
  state->to = std::exchange(in.write, -1);
  state->from = std::exchange(out.read, -1);
  fcntl(state->to, F_SETFL, O_NONBLOCK);
  return Subprocess(std::move(state));
}

Result<std::string> Subprocess::ask(const std::string& line, const Stop& stop) {
  if (state_->to < 0) return state_->ended();
  RETURN_IF_ERROR(state_->send(line + "\n", stop));
  return state_->receive(stop);
}

}  // namespace regraft
