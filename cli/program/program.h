#pragma once
// The whole command line, for the program and for the library.
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace regraft::cli {

/// What is said where memory ends.
inline constexpr const char* kNoMemory = "more memory is needed than --memory or the system allows";

/// All subcommands with their options. One for each command line: options keep their values.
class Program {
 public:
  Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();
  CLI::App& app();
  /// Runs a command line, without the program's name. Returns its exit code (Exit); nothing is
  /// thrown but an InternalError.
  int run(std::vector<std::string> arguments);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraft::cli
