// Writes the atlas of a rule database.
#include "cli/pages/atlas/atlas.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

#include "base/host.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "cli/derivations/kernel_report.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/profiles.h"
#include "cli/support/report.h"
#include "cli/support/rule_set.h"

namespace regraft::cli {
namespace {

/// The file's name without .rules; of files of one name the later ones get a number.
std::string family_name(const std::string& path, const std::vector<Family>& others) {
  std::string stem = std::filesystem::path(path).stem().string(), name = stem;
  auto taken = [&] {
    return std::ranges::any_of(others, [&](const Family& f) { return f.name == name; });
  };
  for (int k = 2; taken(); ++k) name = fmt::format("{}-{}", stem, k);
  return name;
}

Result<std::vector<Family>> read_families(const std::vector<std::string>& files) {
  std::vector<Family> families;
  for (const std::string& path : files) {
    ASSIGN_OR_RETURN(auto file, substitutions::read_rules(path, substitutions::Admit::Bounded));
    if (file.left_out > 0)
      tell(fmt::format("{}: {} rules that are not proved are left out", path, file.left_out));
    families.push_back({family_name(path, families), std::move(file), book_beside({&path, 1})});
  }
  if (families.empty())
    return error(shipped_rules_folder() + ": no rule files; give some with --rules");
  return families;
}

/// Names in the court's file that are of no rule, or direction of one.
size_t strangers(const Atlas& atlas) {
  std::set<std::string> names;
  for (const Family& f : atlas.families)
    for (const Rule& rule : f.file.rules) names.insert({rule.name, rule.name + "~"});
  return static_cast<size_t>(std::ranges::count_if(
      atlas.court, [&](const auto& entry) { return !names.count(entry.first); }));
}

/// The shipped profile of the default target with one thread, whatever this machine is: the site is
/// the same everywhere.
Result<std::unique_ptr<cost::Profiled>> shipped_prices() {
  std::error_code ignored;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(shipped_profiles_folder(), ignored))
    if (entry.path().extension() == ".profile") files.push_back(entry.path().string());
  std::ranges::sort(files);
  for (const std::string& path : files) {
    ASSIGN_OR_RETURN(auto profiles, cost::read_profiles(path));
    for (cost::Profile& p : profiles)
      if (p.key.runtime == kOnnxruntime && p.key.threads == 1)
        return std::make_unique<cost::Profiled>(std::move(p));
  }
  return std::unique_ptr<cost::Profiled>();
}

}  // namespace

int run_rules_atlas(const AtlasFlags& flags) {
  auto start = std::chrono::steady_clock::now();
  Atlas atlas;
  auto inputs = named("a rule file", rule_files(flags.rules));
  inputs.push_back({"the court's file", flags.court});
  if (auto s = require_distinct(inputs, named("a page", fixed_files(flags.out))); !s)
    return bad_input(s.error());
  auto families = read_families(rule_files(flags.rules));
  if (!families) return bad_input(families.error());
  atlas.families = *std::move(families);
  if (!flags.court.empty()) {
    auto court = read_court(flags.court);
    if (!court) return bad_input(court.error());
    atlas.court = *std::move(court);
    if (size_t n = strangers(atlas); n > 0)
      tell(fmt::format("{}: {} of its names are of no rule here", flags.court, n));
  }
  auto prices = shipped_prices();
  if (!prices) return bad_input(prices.error());
  atlas.prices = prices->get();
  if (atlas.prices) atlas.profile = to_string(atlas.prices->profile().key);
  auto written = write_atlas(atlas, flags.out, thread_count(flags.common), flags.common.verbosity);
  if (!written) return bad_input(written.error());
  if (Stop::was_interrupted()) {
    tell("interrupted: there is no index");
    return kInterrupted;
  }
  size_t rules = 0;
  for (const Family& f : atlas.families) rules += f.file.rules.size();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.common.verbosity == Verbosity::Normal)
    fmt::print(results(), "{} rules in {:.1f} s: {}\n", rules, seconds,
               printable(flags.out + "/index.html"));
  return kDone;
}

}  // namespace regraft::cli
