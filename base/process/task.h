#pragma once
// Work that is a function of its input, so that anybody may do it, and do it twice.
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace regraft {

struct Task {
  std::string kind;   ///< which function
  std::string input;  ///< all that the result depends on, beside the program
};

/// Does many tasks somewhere and returns their results, in order.
using TaskRunner = std::function<Result<std::vector<std::string>>(const std::vector<Task>&)>;

/// Bytes that many tasks need. Their inputs mention them by name.
struct Objects {
  std::function<Result<std::string>(const std::string& bytes)> keep;  ///< returns the name
  std::function<Result<std::string>(const std::string& name)> fetch;
};

/// Others who do tasks. Empty: the process does all itself.
struct Helpers {
  TaskRunner run;
  Objects objects;
  std::function<size_t()> width;  ///< about how many there are, at least 1
  explicit operator bool() const { return static_cast<bool>(run); }
};

}  // namespace regraft
