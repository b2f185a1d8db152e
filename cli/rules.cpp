// Looks into rule files.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/report.h"
#include "ir/text.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

std::string sides(const Rule& rule) {
  return fmt::format("{} {} {}", size(rule.lhs), rule.both ? "<->" : "->", size(rule.rhs));
}

struct Counts {
  std::map<std::string, int> by_verdict, by_size, by_op, by_origin;
  size_t signatures = 0, reversible = 0;
};

Counts count(const std::vector<Rule>& rules) {
  Counts c;
  for (const Rule& rule : rules) {
    ++c.by_verdict[to_string(rule.verdict.kind)];
    ++c.by_size[sides(rule)];
    ++c.by_origin[rule.origin];
    c.signatures += rule.domain.size();
    c.reversible += rule.both;
    std::map<std::string_view, int> ops;
    for (const auto& n : rule.lhs.nodes) ops[n.op->name] = 1;
    for (const auto& n : rule.rhs.nodes) ops[n.op->name] = 1;
    for (const auto& [name, one] : ops) c.by_op[std::string(name)] += one;
  }
  return c;
}

void append(Table& table, const char* title, const std::map<std::string, int>& counts) {
  table.rows.emplace_back();
  for (const auto& [name, n] : counts)
    table.rows.push_back({fmt::format("{} {}", title, name), fmt::format("{}", n)});
}

}  // namespace

int run_rules_show(const RulesFlags& flags) {
  auto file = substitutions::read_candidates(flags.file);
  if (!file) return bad_input(file.error());
  for (const Rule& rule : file->rules) fmt::print("{}\n", to_string(rule));
  return kDone;
}

int run_rules_stats(const RulesFlags& flags) {
  auto file = substitutions::read_candidates(flags.file);
  if (!file) return bad_input(file.error());
  Counts c = count(file->rules);
  Table table{{{"what", "rules"},
               {"all", fmt::format("{}", file->rules.size())},
               {"reversible", fmt::format("{}", c.reversible)}}};
  append(table, "verdict", c.by_verdict);
  append(table, "origin", c.by_origin);
  append(table, "operators", c.by_size);
  append(table, "uses", c.by_op);
  table.rows.emplace_back();
  table.rows.push_back({"shapes the rules are proved for", fmt::format("{}", c.signatures)});
  fmt::print("{}", to_string(table));
  nlohmann::json report = {{"rules", file->rules.size()}, {"reversible", c.reversible},
                           {"verdicts", c.by_verdict},    {"origins", c.by_origin},
                           {"sizes", c.by_size},          {"operators", c.by_op},
                           {"signatures", c.signatures}};
  if (auto status = write_text(flags.common.json, report.dump(2) + "\n"); !status)
    return bad_input(status.error());
  return kDone;
}

}  // namespace regraft::cli
