#pragma once
// A program of its own that answers line by line.
#include <memory>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"

namespace regraft {

/// A running program whose stdin and stdout are ours; its stderr is left alone. It runs in a
/// process group of its own (a terminal's Ctrl-C is ours to handle) and in the root folder, so that
/// nothing is loaded from where we were started. Ended by closing its stdin when this goes; one
/// that does not end then is killed with its group. Not thread-safe.
class Subprocess {
 public:
  /// `argv[0]` is a path, or a name that is looked up in the absolute folders of PATH, never in the
  /// current one. `environment` ("NAME=value") is set beside our own. An Error when it cannot be
  /// started.
  static Result<Subprocess> start(const std::vector<std::string>& argv,
                                  const std::vector<std::string>& environment);
  Subprocess(Subprocess&&) noexcept;
  Subprocess& operator=(Subprocess&&) noexcept;
  ~Subprocess();

  /// Sends a line and waits for one. An Error when the program ended, or when `stop` came first:
  /// the program is killed then, and every later question is an Error.
  Result<std::string> ask(const std::string& line, const Stop& stop);

 private:
  struct State;
  explicit Subprocess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace regraft
