#pragma once
// Commands whose options are JSON, as command lines.
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace regraft::cli {

/// A command line, without the program's name.
using Arguments = std::vector<std::string>;

struct Request {
  std::string command;  ///< words with blanks between them
  std::string options;  ///< a JSON object, as library/regraft.h says; empty: none
  Arguments inputs;     ///< names of options that stand for files at `place`
};
/// The path for a file of this name that is kept in memory.
using Place = std::function<Result<std::string>(const std::string& name)>;

/// The request as a command line, quiet and with a report where the command has one. Values are not
/// looked at: the command line does that. An Error names the option.
Result<Arguments> arguments_of(CLI::App& program, const Request& request, const Place& place);

/// What regraft_options says; null: there is no such command.
nlohmann::json options_of(CLI::App& program, const std::string& command);

}  // namespace regraft::cli
