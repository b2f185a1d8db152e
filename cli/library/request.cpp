#include "cli/library/request.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/nearest.h"
#include "cli/options/shared.h"
#include "cli/support/json_file.h"
#include "cli/support/report.h"

namespace regraft::cli {
namespace {

using nlohmann::json;

constexpr const char *kReport = "json", *kQuiet = "quiet", *kHelp = "help";

bool anything(const CLI::App*) { return true; }

/// nullptr: there is no such command.
CLI::App* find_command(CLI::App& program, const std::string& command) {
  CLI::App* at = &program;
  std::istringstream words(command);
  for (std::string word; words >> word;) {
    auto below = at->get_subcommands(std::function<bool(CLI::App*)>(anything));
    auto found = std::ranges::find_if(below, [&](auto* app) { return app->get_name() == word; });
    if (found == below.end()) return nullptr;
    at = *found;
  }
  return at;
}

/// "max-size", "model": without dashes at the front.
std::string name_of(const CLI::Option& option) {
  const auto& names = option.get_lnames();
  return names.empty() ? option.get_name() : names.front();
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

CLI::Option* find_option(CLI::App& app, std::string name) {
  std::ranges::replace(name, '_', '-');
  for (CLI::Option* option : app.get_options())
    if (name_of(*option) == name) return option;
  return nullptr;
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(name_of(*option));
  return names;
}

Error mistake(const std::string& name, const std::string& what) {
  return error(name + ": " + what);
}

Result<std::string> text_of(const std::string& name, const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) {
    std::string text = to_text(value, -1);
    text.pop_back();  // the end of the line
    return text;
  }
  return mistake(name, "a text or a number is needed");
}

/// "NAME=1,3,224,224"
Result<std::string> setting_of(const std::string& name, const std::string& key, const json& value) {
  std::string text = key + "=";
  const json list = value.is_array() ? value : json::array({value});
  for (size_t k = 0; k < list.size(); ++k) {
    ASSIGN_OR_RETURN(std::string part, text_of(name, list[k]));
    text += (k ? "," : "") + part;
  }
  return text;
}

/// The values of an option, as the command line has them.
Result<std::vector<std::string>> values_of(const std::string& name, const json& value,
                                           const Place& place) {
  std::vector<std::string> values;
  if (value.is_object()) {
    for (const auto& [key, part] : value.items()) {
      ASSIGN_OR_RETURN(std::string text, setting_of(name, key, part));
      values.push_back(std::move(text));
    }
    return values;
  }
  if (value == true) {
    ASSIGN_OR_RETURN(std::string path, place(name));
    return std::vector<std::string>{path};
  }
  const json list = value.is_array() ? value : json::array({value});
  for (const json& part : list) {
    ASSIGN_OR_RETURN(std::string text, text_of(name, part));
    values.push_back(std::move(text));
  }
  return values;
}

bool is_absent(const json& value) { return value.is_null() || value == false; }

/// Takes options one by one; operands come last, in the command's order.
class Line {
 public:
  Line(CLI::App& app, Arguments words) : app_(app), options_(std::move(words)) {}

  Status add(const std::string& name, const json& value, const Place& place) {
    CLI::Option* option = find_option(app_, name);
    if (!option || name == kHelp)
      return mistake(
          name, app_.get_name() + " has no option of this name" + suggestion(name, names_of(app_)));
    if (is_absent(value)) return {};
    if (is_flag(*option)) {
      if (value != true) return mistake(name, "true or false is needed");
      options_.push_back("--" + name_of(*option));
      return {};
    }
    ASSIGN_OR_RETURN(auto values, values_of(name_of(*option), value, place));
    for (const std::string& v : values) {
      if (v.empty()) return mistake(name, "the value is empty");
      if (v.find('\0') != std::string::npos) return mistake(name, "a byte of the value is zero");
    }
    if (is_operand(*option)) {
      operands_[option] = std::move(values);
      return {};
    }
    for (const std::string& v : values) options_.push_back("--" + name_of(*option) + "=" + v);
    return {};
  }

  Arguments finish() && {
    options_.emplace_back("--");
    for (CLI::Option* option : app_.get_options())
      if (auto it = operands_.find(option); it != operands_.end())
        options_.insert(options_.end(), it->second.begin(), it->second.end());
    return std::move(options_);
  }

 private:
  CLI::App& app_;
  Arguments options_;
  std::map<CLI::Option*, std::vector<std::string>> operands_;
};

Arguments words_of(const std::string& command) {
  std::istringstream words(command);
  return {std::istream_iterator<std::string>(words), {}};
}

json option_json(const CLI::Option& option) {
  return {{"name", name_of(option)},
          {"help", option.get_description()},
          {"kind", is_operand(option) ? "operand"
                   : is_flag(option)  ? "flag"
                                      : "option"},
          {"several", option.get_items_expected_max() > 1},
          {"required", option.get_required()},
          {"type", option.get_type_name()},
          {"default", option.get_default_str()}};
}

}  // namespace

Result<Arguments> arguments_of(CLI::App& program, const Request& request, const Place& place) {
  CLI::App* app = find_command(program, request.command);
  if (!app || app == &program) return mistake(request.command, "there is no such command");
  json options = request.options.empty() ? json::object() : parse_json(request.options);
  if (!options.is_object()) return error("options: not a JSON object");
  for (const char* ours : {kReport, kQuiet})
    if (options.contains(ours)) return mistake(ours, "is set by the library");
  Line line(*app, words_of(request.command));
  for (const std::string& name : request.inputs) {
    if (options.contains(name)) return mistake(name, "is given twice, as an option and as bytes");
    options[name] = true;
  }
  for (const char* ours : {kReport, kQuiet})
    if (find_option(*app, ours)) options[ours] = true;
  for (const auto& [name, value] : options.items()) RETURN_IF_ERROR(line.add(name, value, place));
  return std::move(line).finish();
}

json options_of(CLI::App& program, const std::string& command) {
  CLI::App* app = find_command(program, command);
  if (!app) return nullptr;
  json described = {{"help", app->get_description()}, {"options", json::array()}};
  for (const CLI::Option* option : app->get_options())
    if (name_of(*option) != kHelp && name_of(*option) != "version")
      described["options"].push_back(option_json(*option));
  for (const CLI::App* below : app->get_subcommands(std::function<bool(CLI::App*)>(anything)))
    if (!below->get_group().empty()) described["commands"].push_back(below->get_name());
  return described;
}

}  // namespace regraft::cli
