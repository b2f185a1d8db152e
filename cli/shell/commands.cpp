#include "cli/shell/commands.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <sstream>

#include "base/host.h"
#include "cli/options/shared.h"
#include "cli/support/commands.h"

namespace regraft::cli {
namespace {

/// The members of "TEXT:{a,b}".
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return choices;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string one; std::getline(list, one, ',');) choices.push_back(one);
  return choices;
}

OptionText text_of(const CLI::Option& option) {
  OptionText t;
  for (const auto& name : option.get_lnames()) t.names.push_back("--" + name);
  for (const auto& name : option.get_snames()) t.names.push_back("-" + name);
  t.help = option.get_description();
  t.several = option.get_items_expected_max() > 1;
  t.required = option.get_required();
  if (is_operand(option)) {
    t.names.clear();
    t.label = option.get_name();
  }
  if (option.get_items_expected_max() > 0) {
    std::string type = option.get_type_name();
    t.choices = choices_in(type);
    t.value = type.substr(0, type.find_first_of(":[{ "));
    if (t.value.empty()) t.value = "TEXT";
  }
  return t;
}

void collect(const CLI::App& app, const std::string& path, std::vector<CommandText>& into) {
  CommandText c{path, app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) c.options.push_back(text_of(*option));
  auto shown = [](const CLI::App* below) { return !below->get_group().empty(); };
  auto below = app.get_subcommands(std::function<bool(const CLI::App*)>(shown));
  for (const CLI::App* one : below) c.commands.push_back(one->get_name());
  into.push_back(std::move(c));
  for (const CLI::App* one : below)
    collect(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), into);
}

using Print = std::string (*)(const std::vector<CommandText>&);
const std::map<std::string, Print> kForms = {{"bash", bash_completions},
                                             {"zsh", zsh_completions},
                                             {"fish", fish_completions},
                                             {"man", manual}};

}  // namespace

std::vector<CommandText> command_texts(const CLI::App& program) {
  std::vector<CommandText> commands;
  collect(program, "", commands);
  return commands;
}

void add_shell(CLI::App& root, int& code) {
  auto* app =
      root.add_subcommand("shell", "print completions for a shell, or the manual page")->group("");
  auto form = std::make_shared<std::string>();
  app->add_option("form", *form, "bash, zsh, fish or man")
      ->required()
      ->check(one_of({"bash", "zsh", "fish", "man"}));
  app->callback([&root, &code, form] {
    fmt::print(results(), "{}", kForms.at(*form)(command_texts(root)));
    code = kDone;
  });
}

}  // namespace regraft::cli
