#include "cli/macros/propose.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/macros/generalise_macro.h"
#include "cli/macros/mine.h"
#include "cli/macros/prove_macros.h"
#include "cli/support/evidence.h"
#include "cli/support/profiles.h"
#include "cli/support/rule_set.h"
#include "cost/model/roofline.h"
#include "rl/policy_file.h"
#include "rl/search.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Compositions {
  std::vector<Rule> rules;
  size_t special = 0;  ///< parts that are no rule, or at the sizes of their place only
};

/// The parts as rules, each once, by name; without those that are known.
Compositions composed(const std::vector<rewrite::PayingPart>& parts,
                      const std::vector<Rule>& known) {
  std::map<std::string, Rule> by_name;
  Compositions all;
  for (const rewrite::PayingPart& part : parts) {
    auto rule = part.composed ? generalise_macro(*part.composed) : std::nullopt;
    all.special += !rule;
    if (!rule) continue;
    Rule candidate = renamed(*rule);
    candidate.name = macro_name(candidate);
    auto named = [&](const Rule& r) { return r.name == candidate.name; };
    if (std::ranges::none_of(known, named)) by_name.emplace(candidate.name, std::move(candidate));
  }
  for (auto& [name, rule] : by_name) all.rules.push_back(std::move(rule));
  return all;
}

/// Adds rules, as far as their proofs and numerics are enough.
Result<rewrite::RuleIndex> with(const rewrite::RuleIndex& rules, const std::vector<Rule>& more,
                                rewrite::Scope scope) {
  std::vector<Rule> all;
  for (const auto& compiled : rules.rules()) all.push_back(compiled.rule);
  for (const Rule& rule : more)
    if (scope != rewrite::Scope::Kernel || rule.verdict.kind == VerdictKind::ProvedAllSizes)
      all.push_back(rule);
  ASSIGN_OR_RETURN(auto index, rewrite::RuleIndex::build(std::move(all), scope, rules.least()));
  index.share_selection(rules);
  return index;
}

}  // namespace

Result<std::vector<Rule>> kept_macros(const std::string& file) {
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return std::vector<Rule>();
  ASSIGN_OR_RETURN(auto read, substitutions::read_rules(file, substitutions::Admit::Bounded));
  return std::move(read.rules);
}

Result<Proposed> propose_macros(const OptimizeFlags& flags, const io::Imported& imported,
                                const rewrite::RuleIndex& rules, std::vector<Rule> kept,
                                const Stop& whole) {
  const auto start = Clock::now();
  const Stop stop = Stop::within(whole, flags.search_seconds.value_or(0));
  ASSIGN_OR_RETURN(std::shared_ptr<const rl::Policy> policy, rl::read_policy(flags.propose, rules));
  ASSIGN_OR_RETURN(auto cost, choose_cost(flags.cost, cost::find_runtime(flags.target)));
  rewrite::SearchOptions options;
  options.budget = flags.budget;
  options.max_growth = flags.growth;
  options.seed = flags.common.seed;
  const rl::PolicySearch search(policy, rl::PolicyMode::Proposed);
  const cost::Roofline roofline;
  Proposed p;
  ProposalCounts& c = p.counts;
  c.kept = kept.size();
  std::vector<rewrite::PayingPart> parts;
  auto propose = [&](const Descended& model, const cost::CostModel& by) {
    options.opset = model.opset;
    auto report = search.search(model.clean, rules, by, options, stop);  // it descends first
    std::span<const rewrite::AppliedRule> steps(report.steps);
    steps = steps.subspan(std::min(model.steps, steps.size()));
    for (auto& part :
         rewrite::paying_parts(model.graph, rules, steps, by, {model.opset, &stop}, stop))
      parts.push_back(std::move(part));
    c.candidates += report.candidates;
    c.gain = std::max(c.gain, 100 * (1 - report.cost_after / model.cost));
  };
  const Beginning beginning(imported, rules, cost, stop);
  ASSIGN_OR_RETURN(const Descended model, beginning.descended());
  propose(model, *cost.model);
  if (cost.profiled) {
    ASSIGN_OR_RETURN(const Descended other, beginning.descended_by(roofline));
    propose(other, roofline);
  }
  c.parts = parts.size();
  const Compositions candidates = composed(parts, kept);
  c.special = candidates.special;
  c.searching = seconds_since(start);
  ProvedMacros proved = prove_macros(candidates.rules, flags.common, stop);
  std::vector<Rule> fresh;
  for (auto& rule : proved.rules)
    if (rule) fresh.push_back(*std::move(rule));
  c.unproved = proved.unproved;
  c.unsafe = proved.unsafe;
  c.proved = proved.proved;
  ASSIGN_OR_RETURN(p.rules, with(rules, fresh, proofs_wanted(flags.proof)));
  p.macros = std::move(kept);
  p.macros.insert(p.macros.end(), fresh.begin(), fresh.end());
  c.proving = seconds_since(start) - c.searching;
  return p;
}

Status write_macros(OutputFile& out, const std::vector<Rule>& macros) {
  substitutions::RuleFile file;
  file.generator = "optimize --propose";
  file.prover = prover_name();
  file.rules = macros;
  return substitutions::write_rules(out, file);
}

nlohmann::json to_json(const ProposalCounts& c) {
  return {{"kept", c.kept},         {"parts", c.parts},           {"special", c.special},
          {"unproved", c.unproved}, {"unsafe", c.unsafe},         {"proved", c.proved},
          {"gain", c.gain},         {"candidates", c.candidates}, {"searching", c.searching},
          {"proving", c.proving}};
}

}  // namespace regraft::cli
