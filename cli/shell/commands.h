#pragma once
// What a shell and a manual page say of the command line, read off its options.
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace regraft::cli {

struct OptionText {
  std::vector<std::string> names;    ///< "--out", "-o"; empty: an operand
  std::string label;                 ///< of an operand: "model"
  std::string help;                  ///< one line
  std::string value;                 ///< what it takes, "TEXT" or "NUMBER"; empty: a flag
  std::vector<std::string> choices;  ///< all its values, where they are known
  bool several = false, required = false;
};
struct CommandText {
  std::string path;  ///< "optimize", "rules show"; empty: the program
  std::string help;
  std::vector<OptionText> options;
  std::vector<std::string> commands;  ///< names of the commands below it
};

/// The program and all commands that are shown, each before those below it.
std::vector<CommandText> command_texts(const CLI::App& program);

/// Scripts that complete the command line.
std::string bash_completions(const std::vector<CommandText>& commands);
std::string zsh_completions(const std::vector<CommandText>& commands);
std::string fish_completions(const std::vector<CommandText>& commands);
/// The page for man.
std::string manual(const std::vector<CommandText>& commands);

/// Adds the command that prints them, which is not shown.
void add_shell(CLI::App& root, int& code);

}  // namespace regraft::cli
