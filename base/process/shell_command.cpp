#include "base/process/shell_command.h"

#include <chrono>
#include <thread>

namespace regraft {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(10);

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
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
  ASSIGN_OR_RETURN(Child shell, Child::start({"/bin/sh", "-c", command}, printed));
  for (;;) {
    if (auto code = shell.ended()) return *code;
    if (stop.must_end()) return error("the command was stopped before it ended");
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace regraft
