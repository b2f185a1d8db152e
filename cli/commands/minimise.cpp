// Rule files without what follows from their other rules.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/input_file.h"
#include "base/files/output_file.h"
#include "base/host.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "gen/derive/minimal_set.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

constexpr size_t kMaxNames = size_t{1} << 24;  // bytes of a file of names

/// Proved rules are written with seals again, so theirs must fit; others are taken as they are.
Result<substitutions::RuleFile> read_whole(const std::string& path) {
  ASSIGN_OR_RETURN(auto file, substitutions::read_candidates(path));
  bool proved = std::any_of(file.rules.begin(), file.rules.end(), [](const Rule& r) {
    return r.verdict.kind >= VerdictKind::ProvedBounded;
  });
  if (proved)
    if (auto sealed = substitutions::read_rules(path, substitutions::Admit::Bounded); !sealed)
      return sealed.error();
  return file;
}

/// One name a line; empty lines and those with # in front do not count.
Result<std::set<std::string>> read_names(const std::string& path) {
  std::set<std::string> names;
  if (path.empty()) return names;
  ASSIGN_OR_RETURN(std::string text, read_file(path, kMaxNames));
  for (size_t from = 0; from < text.size();) {
    size_t end = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, end - from);
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty() && line[0] != '#') names.insert(line);
    from = end + 1;
  }
  return names;
}

/// The rules of all files, and where they came from.
struct AllRules {
  std::vector<substitutions::RuleFile> files;
  std::vector<Rule> rules;
  std::vector<std::pair<size_t, size_t>> places;  ///< file, and number in it
};

Result<AllRules> read_all_rules(const std::vector<std::string>& paths) {
  AllRules all;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(auto file, read_whole(path));
    for (size_t k = 0; k < file.rules.size(); ++k) {
      all.places.emplace_back(all.files.size(), k);
      all.rules.push_back(file.rules[k]);
    }
    all.files.push_back(std::move(file));
  }
  return all;
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// An output in the folder for each file.
Result<std::vector<OutputFile>> open_outputs(const MinimiseFlags& flags) {
  std::set<std::string> names;
  for (const std::string& path : flags.files)
    if (!names.insert(file_name(path)).second)
      return error("two rule files have the name " + file_name(path));
  std::error_code ec;
  std::filesystem::create_directories(flags.out, ec);
  std::vector<OutputFile> outputs;
  for (const std::string& path : flags.files) {
    ASSIGN_OR_RETURN(auto output, OutputFile::open(flags.out + "/" + file_name(path)));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

/// What was decided about each rule.
struct Decision {
  std::vector<char> remains;
  std::vector<std::string> reasons;  ///< of those that do not remain
};

Decision decide(const AllRules& all, const std::set<std::string>& keep, const MinimiseFlags& flags,
                const Stop& stop, gen::MinimalSet& found) {
  Decision d{std::vector<char>(all.rules.size(), 1), std::vector<std::string>(all.rules.size())};
  std::vector<Rule> asked;
  std::vector<size_t> numbers;
  gen::DropOptions options;
  for (size_t k = all.rules.size(); k-- > 0;) {  // of equal rules the last goes
    bool kept = keep.count(all.rules[k].name) > 0;
    if (flags.without_ones && !kept && gen::needs_an_extent_of_one(all.rules[k])) {
      d.remains[k] = 0;
      d.reasons[k] = "some size is 1 wherever it holds";
      continue;
    }
    asked.push_back(all.rules[k]);
    numbers.push_back(k);
    options.pinned.push_back(kept);
  }
  gen::DeriveOptions limits = flags.limits;
  limits.seed = flags.common.seed;
  gen::Deriver deriver(std::move(asked), limits);
  found = gen::minimal_set(deriver, options, thread_count(flags.common), stop);
  for (const auto& dropped : found.dropped) {
    size_t k = numbers[dropped.rule];
    d.remains[k] = 0;
    d.reasons[k] = "follows from";
    for (size_t n : dropped.used) d.reasons[k] += " " + deriver.rules()[n].name;
  }
  for (size_t n : found.far) d.reasons[numbers[n]] += " (which were dropped in their turn)";
  return d;
}

Status write_all(AllRules& all, const Decision& d, std::vector<OutputFile>& outputs) {
  std::vector<std::vector<Rule>> left(all.files.size());
  for (size_t k = 0; k < all.rules.size(); ++k)
    if (d.remains[k]) left[all.places[k].first].push_back(all.rules[k]);
  for (size_t f = 0; f < all.files.size(); ++f) {
    all.files[f].rules = std::move(left[f]);
    RETURN_IF_ERROR(substitutions::write_rules(outputs[f], all.files[f]));
  }
  return {};
}

}  // namespace

int run_rules_minimise(const MinimiseFlags& flags) {
  std::vector<NamedFile> inputs = named("a rule file", flags.files), written;
  if (!flags.keep.empty()) inputs.push_back({"the names to keep", flags.keep});
  auto all = read_all_rules(flags.files);
  if (!all) return bad_input(all.error());
  auto keep = read_names(flags.keep);
  if (!keep) return bad_input(keep.error());
  auto outputs = open_outputs(flags);
  if (!outputs) return bad_input(outputs.error());
  for (const OutputFile& o : *outputs) written.push_back({"the remaining rules", o.path()});
  written.push_back({"the report", flags.common.json});
  if (auto s = require_distinct(inputs, written); !s) return bad_input(s.error());
  auto json = OutputFile::open(flags.common.json);
  if (!json) return bad_input(json.error());

  Stop stop(flags.common.seconds);
  gen::MinimalSet found;
  Decision d = decide(*all, *keep, flags, stop, found);
  auto dropped = nlohmann::json::array();
  size_t remaining = 0;
  for (size_t k = 0; k < all->rules.size(); ++k) {
    remaining += d.remains[k] != 0;
    if (d.remains[k]) continue;
    const std::string file = file_name(flags.files[all->places[k].first]);
    if (flags.common.verbosity == Verbosity::Normal)
      fmt::print(results(), "{}: {}: {}\n", file, all->rules[k].name, d.reasons[k]);
    dropped.push_back({{"name", all->rules[k].name}, {"file", file}, {"reason", d.reasons[k]}});
  }
  fmt::print(results(), "{} of {} rules remain\n", remaining, all->rules.size());
  if (!found.complete) tell("stopped early; rules that were not asked about remain");
  Status ok = write_all(*all, d, *outputs);
  if (ok)
    ok = json->write(to_text({{"rules", all->rules.size()},
                              {"remain", remaining},
                              {"questions", found.questions},
                              {"complete", found.complete},
                              {"dropped", dropped}},
                             2));
  for (OutputFile& o : *outputs)
    if (ok) ok = o.commit();
  if (ok) ok = json->commit();
  if (!ok) return bad_input(ok.error());
  return Stop::was_interrupted() ? kInterrupted : kDone;
}

}  // namespace regraft::cli
