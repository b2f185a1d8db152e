#pragma once
// A program of its own that answers line by line.
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace regraft {

/// A running program whose stdin and stdout are ours; its stderr is left alone. Ended by closing
/// its stdin when this goes. Not thread-safe.
class Subprocess {
 public:
  /// `argv[0]` is looked up in PATH; `environment` ("NAME=value") is set beside our own. An Error
  /// when it cannot be started.
  static Result<Subprocess> start(const std::vector<std::string>& argv,
                                  const std::vector<std::string>& environment);
  Subprocess(Subprocess&&) noexcept;
  Subprocess& operator=(Subprocess&&) noexcept;
  ~Subprocess();

  /// Sends a line and waits for one. An Error when the program ended.
  Result<std::string> ask(const std::string& line);

 private:
  struct State;
  explicit Subprocess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace regraft
