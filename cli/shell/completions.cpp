#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shell/commands.h"

namespace regraft::cli {
namespace {

/// Within single quotes of a POSIX shell.
std::string quoted(const std::string& text) {
  std::string safe = "'";
  for (char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return safe + "'";
}

/// What comes before details, as menus have room for.
std::string brief(const std::string& help) {
  std::string text = help.substr(0, help.find_first_of(";:"));
  size_t open = text.rfind(" (");  // of what was cut off
  bool closed = open == std::string::npos || text.find(')', open) != std::string::npos;
  return closed ? text : text.substr(0, open);
}

std::vector<std::string> names_of(const CommandText& c) {
  std::vector<std::string> names = c.commands;
  for (const OptionText& o : c.options) names.insert(names.end(), o.names.begin(), o.names.end());
  return names;
}

/// Text in a part of zsh's _arguments: colons and brackets mean something there.
std::string zsh_escaped(const std::string& text) {
  std::string safe;
  for (char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string zsh_action(const OptionText& o) {
  return o.choices.empty() ? "_files" : fmt::format("({})", fmt::join(o.choices, " "));
}

std::string zsh_name(const std::string& path) {
  std::string name = "_regraft";
  if (!path.empty()) name += " " + path;
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return name;
}

std::string zsh_function(const CommandText& c) {
  std::string text = zsh_name(c.path) + "() {\n";
  if (!c.commands.empty()) {
    text += "  local line state\n  local -a commands\n  commands=(\n";
    for (const std::string& name : c.commands) text += "    " + quoted(name) + "\n";
    text += "  )\n";
  }
  text += "  _arguments -S";
  if (!c.commands.empty()) text += " -C";
  for (const OptionText& o : c.options) {
    for (const std::string& name : o.names) {
      std::string spec = (o.several ? "*" : "") + name + (o.value.empty() ? "" : "=") + "[" +
                         zsh_escaped(brief(o.help)) + "]";
      if (!o.value.empty()) spec += ":" + zsh_escaped(o.value) + ":" + zsh_action(o);
      if (name.size() == 2 && !o.value.empty()) spec.erase(spec.find('='), 1);
      text += " \\\n    " + quoted(spec);
    }
    if (o.names.empty())
      text += " \\\n    " +
              quoted((o.several ? "*:" : ":") + zsh_escaped(o.label) + ":" + zsh_action(o));
  }
  if (c.commands.empty()) return text + "\n}\n";
  text += " \\\n    '1:command:->command' '*::argument:->argument'\n";
  text += "  case $state in\n    command) _describe command commands ;;\n    argument)\n";
  text += "      case $line[1] in\n";
  for (const std::string& name : c.commands)
    text += fmt::format("        {}) {} ;;\n", name,
                        zsh_name(c.path.empty() ? name : c.path + " " + name));
  return text + "      esac ;;\n  esac\n}\n";
}

/// Is this command chosen, and none below it?
std::string fish_condition(const CommandText& c) {
  if (c.path.empty()) return "__fish_use_subcommand";
  std::string condition;
  std::string rest = c.path;
  for (size_t end = 0; end != std::string::npos;) {
    end = rest.find(' ');
    condition += (condition.empty() ? "" : "; and ");
    condition += "__fish_seen_subcommand_from " + rest.substr(0, end);
    if (end != std::string::npos) rest = rest.substr(end + 1);
  }
  if (!c.commands.empty())
    condition +=
        fmt::format("; and not __fish_seen_subcommand_from {}", fmt::join(c.commands, " "));
  return condition;
}

}  // namespace

std::string bash_completions(const std::vector<CommandText>& commands) {
  std::string paths, words, values;
  for (const CommandText& c : commands) {
    for (const std::string& below : c.commands) {
      std::string to = c.path.empty() ? below : c.path + " " + below;
      paths += fmt::format("      {}) command={} ;;\n", quoted(c.path + ":" + below), quoted(to));
    }
    words += fmt::format("    {}) words={} ;;\n", quoted(c.path),
                         quoted(fmt::format("{}", fmt::join(names_of(c), " "))));
    for (const OptionText& o : c.options)
      for (const std::string& name : o.names)
        if (!o.choices.empty())
          values += fmt::format("    {}) words={} ;;\n", quoted(c.path + ":" + name),
                                quoted(fmt::format("{}", fmt::join(o.choices, " "))));
        else if (!o.value.empty())
          values += fmt::format("    {}) words= ;;\n", quoted(c.path + ":" + name));
  }
  return "# bash completion of regraft\n"
         "_regraft() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command= words= word k\n"
         "  for ((k = 1; k < COMP_CWORD; ++k)); do\n"
         "    word=${COMP_WORDS[k]}\n"
         "    case $command:$word in\n" +
         paths +
         "    esac\n"
         "  done\n"
         "  case $command in\n" +
         words +
         "  esac\n"
         "  case $command:$previous in\n" +
         values +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- \"$current\"))\n"
         "}\n"
         "complete -o filenames -o bashdefault -F _regraft regraft\n";
}

std::string zsh_completions(const std::vector<CommandText>& commands) {
  std::string text = "#compdef regraft\n";
  for (const CommandText& c : commands) text += zsh_function(c);
  return text + "_regraft \"$@\"\n";
}

std::string fish_completions(const std::vector<CommandText>& commands) {
  std::string text = "# fish completion of regraft\n";
  for (const CommandText& c : commands) {
    std::string start = "complete -c regraft -n " + quoted(fish_condition(c));
    for (const std::string& name : c.commands) text += start + " -f -a " + name + "\n";
    for (const OptionText& o : c.options) {
      if (o.names.empty()) continue;
      text += start;
      for (const std::string& name : o.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!o.choices.empty())
        text += fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(o.choices, " "))));
      else if (!o.value.empty())
        text += " -r";
      text += " -d " + quoted(brief(o.help)) + "\n";
    }
  }
  return text;
}

}  // namespace regraft::cli
