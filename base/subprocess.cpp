#include "base/subprocess.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

extern char** environ;

namespace regraft {
namespace {

struct Pipe {
  int read = -1, write = -1;
  bool open() {
    int ends[2];
    if (pipe(ends) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> p;
  for (const std::string& s : strings) p.push_back(const_cast<char*>(s.c_str()));
  p.push_back(nullptr);
  return p;
}

}  // namespace

struct Subprocess::State {
  pid_t pid = -1;
  FILE* to = nullptr;
  FILE* from = nullptr;
  std::string name;

  ~State() {
    if (to) fclose(to);
    if (from) fclose(from);
    if (pid > 0) waitpid(pid, nullptr, 0);
  }
};

Subprocess::Subprocess(std::unique_ptr<State> state) : state_(std::move(state)) {}
Subprocess::Subprocess(Subprocess&&) noexcept = default;
Subprocess& Subprocess::operator=(Subprocess&&) noexcept = default;
Subprocess::~Subprocess() = default;

Result<Subprocess> Subprocess::start(const std::vector<std::string>& argv,
                                     const std::vector<std::string>& environment) {
  std::signal(SIGPIPE, SIG_IGN);  // a program that ended is an Error of the next question
  Pipe in, out;
  if (!in.open() || !out.open()) return error(argv[0] + ": " + std::strerror(errno));
  auto state = std::make_unique<State>();
  state->name = argv[0];
  std::vector<std::string> all = environment;
  for (char** e = environ; *e; ++e) {
    std::string_view entry = *e;
    bool replaced = false;
    for (const auto& own : environment)
      replaced = replaced || entry.substr(0, entry.find('=')) == own.substr(0, own.find('='));
    if (!replaced) all.emplace_back(entry);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  for (int fd : {in.read, in.write, out.read, out.write})
    posix_spawn_file_actions_addclose(&actions, fd);
  int failed = posix_spawnp(&state->pid, argv[0].c_str(), &actions, nullptr, pointers(argv).data(),
                            pointers(all).data());
  posix_spawn_file_actions_destroy(&actions);
  close(in.read);
  close(out.write);
  state->to = fdopen(in.write, "w");
  state->from = fdopen(out.read, "r");
  if (failed) {
    state->pid = -1;
    return error(argv[0] + ": " + std::strerror(failed));
  }
  return Subprocess(std::move(state));
}

Result<std::string> Subprocess::ask(const std::string& line) {
  std::string ended = state_->name + ": it ended without an answer";
  if (fputs((line + "\n").c_str(), state_->to) < 0 || fflush(state_->to) != 0) return error(ended);
  char* text = nullptr;
  size_t capacity = 0;
  ssize_t length = getline(&text, &capacity, state_->from);
  std::string answer(text ? text : "", length > 0 ? static_cast<size_t>(length) : 0);
  free(text);
  if (length <= 0) return error(ended);
  if (answer.back() == '\n') answer.pop_back();
  return answer;
}

}  // namespace regraft
