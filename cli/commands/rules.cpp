// Looks into rule files.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/printable.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cli/support/rule_set.h"
#include "gen/derive/derive.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"
#include "substitutions/taso.h"

namespace regraft::cli {
namespace {

std::string sides(const Rule& rule) {
  return fmt::format("{} {} {}", size(rule.lhs), rule.both ? "<->" : "->", size(rule.rhs));
}

struct Counts {
  std::map<std::string, int> by_verdict, by_numerics, by_size, by_op, by_origin;
  size_t signatures = 0, reversible = 0;
};

/// The names of a rule's operators, each once.
std::set<std::string> operators_of(const Rule& rule) {
  std::set<std::string> names;
  for (const Pattern* side : {&rule.lhs, &rule.rhs})
    for (const auto& n : side->nodes) names.emplace(n.op->name);
  return names;
}

Counts count(const std::vector<Rule>& rules) {
  Counts c;
  for (const Rule& rule : rules) {
    ++c.by_verdict[to_string(rule.verdict.kind)];
    ++c.by_numerics[to_string(rule.numerics.kind)];
    if (rule.both) ++c.by_numerics[to_string(rule.numerics_back.kind)];
    ++c.by_size[sides(rule)];
    ++c.by_origin[rule.origin];
    c.signatures += rule.domain.size();
    c.reversible += rule.both;
    for (const std::string& name : operators_of(rule)) ++c.by_op[name];
  }
  return c;
}

nlohmann::json to_json(const Rule& rule, const std::string& file) {
  return {{"name", rule.name},
          {"text", to_string(rule)},
          {"verdict", to_string(rule.verdict.kind)},
          {"numerics", to_string(rule.numerics.kind)},
          {"operators", operators_of(rule)},
          {"reversible", rule.both},
          {"file", file}};
}

void append(Table& table, const char* title, const std::map<std::string, int>& counts) {
  table.rows.emplace_back();
  for (const auto& [name, n] : counts)
    table.rows.push_back({fmt::format("{} {}", title, name), fmt::format("{}", n)});
}

/// The rules of all files, which may share names.
Result<std::vector<Rule>> read_all(const std::vector<std::string>& files) {
  std::vector<Rule> rules;
  for (const std::string& path : files) {
    ASSIGN_OR_RETURN(auto file, substitutions::read_candidates(path));
    rules.insert(rules.end(), file.rules.begin(), file.rules.end());
  }
  return rules;
}

const char* answer(const gen::Derivation& d) {
  if (d.derived) return "derived";
  if (d.stopped) return "stopped";
  if (!d.tried) return "not derived: no sizes tried";
  return d.well_formed ? "not derived" : "not derived: the right side is not well-formed";
}

std::vector<std::string> used_names(const gen::Derivation& d, const std::vector<Rule>& rules) {
  std::vector<std::string> names;
  for (size_t k : d.used) names.push_back(rules[k].name);
  return names;
}

}  // namespace

int run_rules_show(const RulesFlags& flags) {
  auto files = rule_files(flags.file.empty() ? std::vector<std::string>{}
                                             : std::vector<std::string>{flags.file});
  auto distinct =
      require_distinct(named("a rule file", files), {{"the report", flags.common.json}});
  if (!distinct) return bad_input(distinct.error());
  auto output = OutputFile::open(flags.common.json);
  if (!output) return bad_input(output.error());
  auto report = nlohmann::json::array();
  for (const std::string& path : files) {
    auto file = substitutions::read_candidates(path);
    if (!file) return bad_input(file.error());
    for (const Rule& rule : file->rules) {
      if (flags.common.verbosity == Verbosity::Normal)
        fmt::print(results(), "{}\n", to_string(rule));
      report.push_back(to_json(rule, path));
    }
  }
  Status written = output->write(to_text(report, 1));
  if (written) written = output->commit();
  return written ? kDone : bad_input(written.error());
}

int run_rules_stats(const RulesFlags& flags) {
  auto distinct =
      require_distinct({{"the rules", flags.file}}, {{"the report", flags.common.json}});
  if (!distinct) return bad_input(distinct.error());
  auto file = substitutions::read_candidates(flags.file);
  if (!file) return bad_input(file.error());
  Counts c = count(file->rules);
  Table table{{{"what", "rules"},
               {"all", fmt::format("{}", file->rules.size())},
               {"reversible", fmt::format("{}", c.reversible)}}};
  append(table, "verdict", c.by_verdict);
  append(table, "origin", c.by_origin);
  append(table, "numerics", c.by_numerics);
  append(table, "operators", c.by_size);
  append(table, "uses", c.by_op);
  table.rows.emplace_back();
  table.rows.push_back({"shapes the rules are proved for", fmt::format("{}", c.signatures)});
  fmt::print(results(), "{}", to_string(table));
  nlohmann::json report = {{"rules", file->rules.size()}, {"reversible", c.reversible},
                           {"verdicts", c.by_verdict},    {"numerics", c.by_numerics},
                           {"origins", c.by_origin},      {"sizes", c.by_size},
                           {"operators", c.by_op},        {"signatures", c.signatures}};
  if (auto status = write_file(flags.common.json, to_text(report, 2)); !status)
    return bad_input(status.error());
  return kDone;
}

int run_rules_derive(const DeriveFlags& flags) {
  std::vector<NamedFile> inputs = named("a rule file", flags.from);
  inputs.push_back({"the goals", flags.goals});
  if (auto s = require_distinct(inputs, {{"the report", flags.common.json}}); !s)
    return bad_input(s.error());
  auto goals = substitutions::read_candidates(flags.goals);
  if (!goals) return bad_input(goals.error());
  auto rules = read_all(flags.from);
  if (!rules) return bad_input(rules.error());
  auto output = OutputFile::open(flags.common.json);
  if (!output) return bad_input(output.error());
  gen::DeriveOptions options = flags.limits;
  options.seed = flags.common.seed;
  gen::Deriver deriver(*rules, options);
  Stop stop(flags.common.seconds);
  auto derivations = gen::derive_all(deriver, goals->rules, thread_count(flags.common), stop);
  if (stop.must_end()) tell("stopped early; the last rules may not have been tried");
  auto report = nlohmann::json::array();
  size_t derived = 0;
  for (size_t k = 0; k < derivations.size(); ++k) {
    const gen::Derivation& d = derivations[k];
    auto names = used_names(d, *rules);
    derived += d.derived;
    if (flags.common.verbosity == Verbosity::Normal)
      fmt::print(results(), "{}: {}{}{}\n", goals->rules[k].name, answer(d),
                 d.derived ? " from " : "", fmt::join(names, " "));
    report.push_back({{"name", goals->rules[k].name},
                      {"answer", answer(d)},
                      {"derived", d.derived},
                      {"used", names},
                      {"rounds", d.rounds},
                      {"nodes", d.nodes},
                      {"refused", d.refused}});
  }
  fmt::print(results(), "{} of {} derived\n", derived, derivations.size());
  Status written = output->write(to_text(report, 2));
  if (written) written = output->commit();
  if (!written) return bad_input(written.error());
  if (Stop::was_interrupted()) return kInterrupted;
  return derived == derivations.size() ? kDone : kFailed;
}

int run_rules_import(const ImportFlags& flags) {
  if (auto s = require_distinct({{"the substitutions", flags.in}},
                                {{"the candidates", flags.out}, {"the report", flags.common.json}});
      !s)
    return bad_input(s.error());
  auto read = substitutions::read_taso(flags.in);
  if (!read) return bad_input(read.error());
  auto report = OutputFile::open(flags.common.json);
  if (!report) return bad_input(report.error());
  auto left_out = nlohmann::json::array();
  for (const auto& r : read->skipped) left_out.push_back({{"name", r.name}, {"reason", r.reason}});
  Status written =
      report->write(to_text({{"rules", read->file.rules.size()}, {"left_out", left_out}}, 2));
  if (written) written = substitutions::write_rules(flags.out, read->file);
  if (written) written = report->commit();
  if (!written) return bad_input(written.error());
  if (flags.common.verbosity == Verbosity::Quiet) return kDone;
  for (const auto& r : read->skipped)
    fmt::print(results(), "left out {}\n", printable(r.name + ": " + r.reason));
  fmt::print(results(), "{} rules, {} left out\n", read->file.rules.size(), read->skipped.size());
  return kDone;
}

int run_rules_export(const ExportFlags& flags) {
  if (auto s = require_distinct({{"the rules", flags.in}}, {{"the substitutions", flags.out}}); !s)
    return bad_input(s.error());
  auto file = substitutions::read_rules(flags.in, substitutions::Admit::AllSizes);
  if (!file) return bad_input(file.error());
  auto taso = substitutions::to_taso(file->rules);
  if (auto s = write_file(flags.out, taso.data); !s) return bad_input(s.error());
  for (const std::string& reason : taso.left_out)
    fmt::print(results(), "left out {}\n", printable(reason));
  for (size_t k = 0; k < taso.names.size(); ++k)
    fmt::print(results(), "{} is rule {}\n", taso.names[k], k);
  fmt::print(results(), "{} rules, {} left out\n", taso.names.size(), taso.left_out.size());
  return kDone;
}

}  // namespace regraft::cli
