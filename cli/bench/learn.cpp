// Runs policies and searches that learned nothing: the same engine, rules, costs and limits. What
// the runs say is bench/learn/learn_scores.py's business.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file_digest.h"
#include "base/files/output_file.h"
#include "base/host.h"
#include "cli/bench/methods.h"
#include "cli/bench/runs.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/profiles.h"
#include "cli/support/report.h"
#include "cli/support/rule_set.h"
#include "cost/profile/timing.h"
#include "io/model.h"
#include "rewrite/searchers.h"
#include "rl/environment/observation.h"

namespace regraft::cli {
namespace {

using nlohmann::json;

constexpr uint64_t kNoBudget = 1'000'000'000'000;  // candidates

/// What is the same for all runs.
struct Setting {
  rewrite::RuleIndex rules;
  ChosenCost cost;
  std::string digest;  ///< of rules and costs
};

std::string digest_of(const rewrite::RuleIndex& rules, const cost::CostModel& model) {
  Sha256 sha;
  sha.text(model.description());
  for (const auto& rule : rules.rules()) sha.text(rule.rule.name);
  const auto described = rl::describe(rules);
  std::vector<float> numbers(described.rows.size() * described.columns, 0);
  for (size_t k = 0; k < described.rows.size(); ++k)
    for (const auto& e : described.rows[k])
      numbers[k * described.columns + static_cast<size_t>(e.column)] = e.number;
  return hex(sha.bytes(std::as_bytes(std::span(numbers))).finish());
}

/// A run's limits; 0: none.
struct RunLimits {
  uint64_t candidates = 0, expanded = 0;
  double seconds = 0;
};
std::string to_string(const RunLimits& l) {
  return fmt::format("{} candidates, {} expanded, {:g} s", l.candidates, l.expanded, l.seconds);
}

struct GraphRuns {
  std::string name;
  double before = 0;
  std::vector<BenchRun> runs;
  std::optional<BenchRun> baseline;  ///< the long run that is to be reached
};

/// One graph, read when the first run needs it.
class GraphBench {
 public:
  GraphBench(const BenchFlags& flags, const Setting& setting, const std::vector<Method>& methods,
             KeptRuns& kept, std::string file)
      : flags_(flags),
        setting_(setting),
        methods_(methods),
        kept_(kept),
        file_(std::move(file)),
        digest_(hex(file_digest(file_))) {}

  Result<GraphRuns> run() {
    GraphRuns all{std::filesystem::path(file_).stem().string(), 0, {}, {}};
    for (const Method& m : methods_)
      for (const Training& t : m.trainings)
        for (int k = 0; k < (m.draws ? flags_.search_seeds : 1); ++k) {
          ASSIGN_OR_RETURN(auto runs, both(m, t, flags_.common.seed + static_cast<uint64_t>(k)));
          all.runs.insert(all.runs.end(), runs.begin(), runs.end());
        }
    if (!all.runs.empty()) all.before = all.runs[0].before;
    for (const Method& m : methods_) {
      if (m.name != kBaseline || flags_.expansions == 0) continue;
      ASSIGN_OR_RETURN(all.baseline,
                       one(m, m.trainings[0], 0, {0, flags_.expansions, flags_.expanding}));
    }
    return all;
  }

 private:
  /// A run by seconds, and one by candidates unless the first evaluated as many, or all there are.
  Result<std::vector<BenchRun>> both(const Method& m, const Training& t, uint64_t seed) {
    double seconds = *std::max_element(flags_.seconds.begin(), flags_.seconds.end());
    uint64_t candidates = *std::max_element(flags_.budgets.begin(), flags_.budgets.end());
    ASSIGN_OR_RETURN(BenchRun run, one(m, t, seed, {0, 0, seconds}));
    std::vector<BenchRun> runs{run};
    bool enough = run.stop != "time" || run.candidates >= candidates;
    if (enough || flags_.cap <= seconds) return runs;
    ASSIGN_OR_RETURN(run, one(m, t, seed, {candidates, 0, flags_.cap}));
    runs.push_back(run);
    return runs;
  }

  Result<BenchRun> one(const Method& m, const Training& t, uint64_t seed, const RunLimits& limits) {
    std::string key = fmt::format("{}|{}|{}|{}|{}|{}", digest_, setting_.digest, m.name, t.label,
                                  seed, to_string(limits));
    if (const BenchRun* run = kept_.find(key)) return *run;
    RETURN_IF_ERROR(load());
    Stop stop(limits.seconds);
    rewrite::SearchOptions options;
    options.alpha = m.alpha;
    options.budget = limits.candidates > 0 ? limits.candidates : kNoBudget;
    options.max_expanded = limits.expanded;
    options.seed = seed;
    options.opset = opset_;
    auto report =
        t.searcher->search(imported_->graph, setting_.rules, *setting_.cost.model, options, stop);
    if (report.stop == rewrite::StopReason::Interrupted)
      return error("interrupted; the same command goes on where a file is given with --kept");
    BenchRun run = record(report);
    run.key = key;
    run.method = m.name;
    run.training = t.label;
    run.seed = seed;
    note(run, limits);
    RETURN_IF_ERROR(kept_.add(run));
    return run;
  }

  BenchRun record(const rewrite::SearchReport& r) const {
    BenchRun run;
    run.graph = std::filesystem::path(file_).stem().string();
    run.before = r.cost_before;
    run.after = r.cost_after;
    run.expanded = r.expanded;
    run.candidates = r.candidates;
    run.seconds = r.seconds;
    run.stop = rewrite::to_string(r.stop);
    run.applied = r.applied;
    for (const auto& i : r.improvements) run.curve.push_back({i.candidate, i.seconds, i.cost});
    return run;
  }

  void note(const BenchRun& run, const RunLimits& limits) const {
    if (flags_.common.verbosity == Verbosity::Quiet) return;
    say(fmt::format("{} {} {} seed {} ({}): {:.1f} of {:.1f} us, {} candidates, {:.2f} s\n",
                    run.graph, run.method, run.training, run.seed, to_string(limits), run.after,
                    run.before, run.candidates, run.seconds));
  }

  Status load() {
    if (imported_) return {};
    ASSIGN_OR_RETURN(auto imported, io::load(file_));
    imported_ = std::move(imported);
    opset_ = io::summarise(*imported_, imported_->graph).opset;
    warm_up();
    return {};
  }

  /// Rules are compiled when a place first asks for them: not in the first run that is timed.
  void warm_up() const {
    rewrite::SearchOptions options;
    options.opset = opset_;
    rewrite::make_searcher("windows")->search(imported_->graph, setting_.rules,
                                              *setting_.cost.model, options, Stop());
  }

  const BenchFlags& flags_;
  const Setting& setting_;
  const std::vector<Method>& methods_;
  KeptRuns& kept_;
  std::string file_, digest_;
  std::optional<io::Imported> imported_;
  Opset opset_ = {};
};

/// Costs at the end, medians of the runs.
Table table_of(const std::vector<GraphRuns>& graphs, const std::vector<Method>& methods) {
  Table table{{{"cost at the end, us"}, {"before"}}};
  for (const Method& m : methods) table.rows.push_back({m.name});
  for (const GraphRuns& g : graphs) {
    table.rows[0].push_back(g.name);
    table.rows[1].push_back(fmt::format("{:.2f}", g.before));
    for (size_t m = 0; m < methods.size(); ++m) {
      std::vector<double> costs;
      for (const BenchRun& r : g.runs)
        if (r.method == methods[m].name) costs.push_back(r.after);
      table.rows[m + 2].push_back(fmt::format("{:.2f}", cost::median(std::move(costs))));
    }
  }
  return table;
}

json json_of(const std::vector<BenchRun>& runs) {
  json all = json::array();
  for (const BenchRun& r : runs) all.push_back(to_json(r));
  return all;
}

json to_json(const std::vector<GraphRuns>& graphs, const std::vector<Method>& methods) {
  json report{{"version", REGRAFT_VERSION}, {"baseline", kBaseline}};
  for (const Method& m : methods)
    report["methods"].push_back({{"name", m.name},
                                 {"kind", to_string(m.kind)},
                                 {"trainings", m.trainings.size()},
                                 {"draws", m.draws}});
  for (const GraphRuns& g : graphs) {
    json j{{"name", g.name}, {"before", g.before}, {"runs", json_of(g.runs)}};
    if (g.baseline) j["baseline"] = to_json(*g.baseline);
    report["graphs"].push_back(std::move(j));
  }
  return report;
}

std::vector<NamedFile> inputs_of(const BenchFlags& flags, const std::vector<std::string>& models) {
  std::vector<NamedFile> inputs = with_data("a model", models);
  for (auto& file : named("a rule file", rule_files(flags.rules))) inputs.push_back(file);
  for (const std::string& policy : flags.policies)  // NAME=FILE
    inputs.push_back({"a policy", policy.substr(policy.find('=') + 1)});
  if (flags.cost.ends_with(".profile")) inputs.push_back({"the profile", flags.cost});
  return inputs;
}

Status bench(const BenchFlags& flags) {
  Setting setting;
  ASSIGN_OR_RETURN(setting.rules, load_rules({.files = flags.rules}));
  ASSIGN_OR_RETURN(setting.cost, choose_cost(flags.cost));
  setting.digest = digest_of(setting.rules, *setting.cost.model);
  ASSIGN_OR_RETURN(auto methods, bench_methods({flags.policies, flags.methods}, setting.rules));
  ASSIGN_OR_RETURN(auto files, model_files(flags.graphs));
  RETURN_IF_ERROR(require_distinct(
      inputs_of(flags, files), {{"the runs kept", flags.kept}, {"the report", flags.common.json}}));
  ASSIGN_OR_RETURN(OutputFile output, OutputFile::open(flags.common.json));
  ASSIGN_OR_RETURN(auto kept, KeptRuns::open(flags.kept));
  std::vector<GraphRuns> graphs;
  for (const std::string& file : files) {
    GraphBench graph(flags, setting, methods, kept, file);
    ASSIGN_OR_RETURN(auto runs, graph.run());
    graphs.push_back(std::move(runs));
  }
  if (flags.common.verbosity != Verbosity::Quiet)
    fmt::print(results(), "{}\n", to_string(table_of(graphs, methods)));
  json report = to_json(graphs, methods);
  report.update({{"cost_model", setting.cost.model->description()},
                 {"profile", to_json(used_profile(setting.cost))},
                 {"rules", setting.rules.rules().size()},
                 {"seed", flags.common.seed},
                 {"budgets", flags.budgets},
                 {"seconds", flags.seconds},
                 {"search_seeds", flags.search_seeds},
                 {"cap", flags.cap},
                 {"expansions", flags.expansions},
                 {"expanding", flags.expanding}});
  RETURN_IF_ERROR(output.write(to_text(report, -1)));
  return output.commit();
}

}  // namespace

int run_bench_learn(const BenchFlags& flags) {
  Status done = bench(flags);
  if (!done && Stop::was_interrupted()) {
    tell(done.error().message);
    return kInterrupted;
  }
  return done ? kDone : bad_input(done.error());
}

}  // namespace regraft::cli
