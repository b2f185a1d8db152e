#include "cli/support/rule_set.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/nearest.h"
#include "cli/support/commands.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

constexpr std::string_view kSelection = "selection";  ///< the name of their file, without .rules

std::vector<std::string> shipped_files() {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(shipped_rules_folder(), ignored))
    if (entry.path().extension() == ".rules") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

substitutions::Admit admit_for(rewrite::Scope scope) {
  switch (scope) {
    case rewrite::Scope::Kernel:
      return substitutions::Admit::Kernel;
    case rewrite::Scope::AllSizes:
      return substitutions::Admit::AllSizes;
    case rewrite::Scope::Proved:
      break;
  }
  return substitutions::Admit::Bounded;
}

/// Each of the names to leave out is that of a rule that is there, or of one of its directions.
Status check_known(const std::set<std::string>& disabled, const std::set<std::string>& names) {
  for (const std::string& name : disabled) {
    std::string whole = name.ends_with('~') ? name.substr(0, name.size() - 1) : name;
    if (!names.count(name) && !names.count(whole))
      return error("--disable-rule " + name + ": there is no rule of this name" +
                   suggestion(name, {names.begin(), names.end()}));
  }
  return {};
}

/// For a mistyped name of a file that has none like it in its folder: a shipped one.
std::string shipped_like(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::exists(path, ignored) || !suggested_file(path).empty()) return "";
  const std::string given = fs::path(path).filename().string();
  for (const std::string& file : shipped_files())
    if (nearest(given, {fs::path(file).filename().string(), fs::path(file).stem().string()}))
      return "; did you mean '" + file + "'?";
  return "";
}

}  // namespace

std::vector<std::string> rule_files(const std::vector<std::string>& files) {
  return files.empty() ? shipped_files() : files;
}

rewrite::Scope proofs_wanted(const std::string& word) {
  if (word == "kernel") return rewrite::Scope::Kernel;
  return word == "bounded" ? rewrite::Scope::Proved : rewrite::Scope::AllSizes;
}

Numerics numerics_wanted(const std::string& word) {
  if (word == "real") return Numerics::Unknown;
  return word == "exact" ? Numerics::Exact : rewrite::usual_numerics();
}

Result<rewrite::RuleIndex> load_rules(const RuleSet& set) {
  std::set<std::string> disabled(set.disabled.begin(), set.disabled.end()), names;
  std::vector<Rule> rules, selection;
  auto files = rule_files(set.files);
  if (files.empty())
    return error(shipped_rules_folder() + ": no rule files; give some with --rules");
  for (const auto& path : files) {
    auto file = substitutions::read_rules(path, admit_for(set.scope));
    if (!file) return error(file.error().message + shipped_like(path));
    auto& into = std::filesystem::path(path).stem() == kSelection ? selection : rules;
    for (Rule& rule : file->rules) {
      if (!names.insert(rule.name).second || disabled.count(rule.name)) continue;
      if (disabled.empty()) {
        into.push_back(std::move(rule));
        continue;
      }
      for (Rule& directed : directions(std::move(rule)))
        if (!disabled.count(directed.name)) into.push_back(std::move(directed));
    }
  }
  RETURN_IF_ERROR(check_known(disabled, names));
  ASSIGN_OR_RETURN(auto index,
                   rewrite::RuleIndex::build(std::move(rules), set.scope, set.numerics));
  if (selection.empty()) return index;
  ASSIGN_OR_RETURN(auto chosen,
                   rewrite::RuleIndex::build(std::move(selection), set.scope, set.numerics));
  index.set_selection(std::move(chosen));
  return index;
}

}  // namespace regraft::cli
