// Compares policies with searches that learned nothing: the same engine, rules, costs and limits.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files/output_file.h"
#include "base/hash.h"
#include "base/printable.h"
#include "cli/bench/report.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/profiles.h"
#include "cli/support/report.h"
#include "cli/support/rule_set.h"
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
  uint64_t h = hash_text(model.description());
  for (const auto& rule : rules.rules()) h = combine(h, hash_text(rule.rule.name));
  for (float x : rl::describe(rules).rows) h = combine(h, std::bit_cast<uint32_t>(x));
  return hex(h);
}

std::string digest_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  uint64_t h = 0;
  for (std::string part(1 << 20, 0); in.read(part.data(), 1 << 20) || in.gcount() > 0;)
    h = combine(h, hash_text({part.data(), static_cast<size_t>(in.gcount())}));
  return hex(h);
}

/// A run's limits; 0: none.
struct RunLimits {
  uint64_t candidates = 0, expanded = 0;
  double seconds = 0;
};
std::string to_string(const RunLimits& l) {
  return fmt::format("{} candidates, {} expanded, {:g} s", l.candidates, l.expanded, l.seconds);
}

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
        digest_(digest_of_file(file_)) {}

  const std::string& digest() const { return digest_; }

  Result<GraphRuns> run() {
    GraphRuns all;
    all.name = std::filesystem::path(file_).stem().string();
    for (const Method& m : methods_) {
      ASSIGN_OR_RETURN(auto runs, all_of(m));
      all.methods.push_back(std::move(runs));
    }
    if (!all.methods.empty()) all.before = all.methods[0][0][0].by_seconds.before;
    for (const Method& m : methods_) {
      if (m.name != kBaseline || flags_.expansions == 0) continue;
      ASSIGN_OR_RETURN(all.baseline,
                       one(m, m.trainings[0], 0, {0, flags_.expansions, flags_.expanding}));
    }
    return all;
  }

 private:
  Result<MethodRuns> all_of(const Method& m) {
    MethodRuns runs;
    for (const Training& t : m.trainings) {
      auto& row = runs.emplace_back();
      for (int k = 0; k < (m.draws ? flags_.search_seeds : 1); ++k) {
        ASSIGN_OR_RETURN(auto both, pair(m, t, flags_.common.seed + static_cast<uint64_t>(k)));
        row.push_back(std::move(both));
      }
    }
    return runs;
  }

  /// The run by seconds stands for that by candidates where it evaluated as many, or all there are.
  Result<RunPair> pair(const Method& m, const Training& t, uint64_t seed) {
    double seconds = *std::max_element(flags_.seconds.begin(), flags_.seconds.end());
    uint64_t candidates = *std::max_element(flags_.budgets.begin(), flags_.budgets.end());
    RunPair p;
    ASSIGN_OR_RETURN(p.by_seconds, one(m, t, seed, {0, 0, seconds}));
    p.by_candidates = p.by_seconds;
    bool enough = p.by_seconds.stop != "time" || p.by_seconds.candidates >= candidates;
    if (enough || flags_.cap <= seconds) return p;
    ASSIGN_OR_RETURN(p.by_candidates, one(m, t, seed, {candidates, 0, flags_.cap}));
    return p;
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
    fmt::print(stderr, "{} {} {} seed {} ({}): {:.1f} of {:.1f} us, {} candidates, {:.2f} s\n",
               run.graph, run.method, run.training, run.seed, to_string(limits), run.after,
               run.before, run.candidates, run.seconds);
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
  int opset_ = 0;
};

/// The least costs known, in a file: of a graph under a cost model, whatever the rules.
class References {
 public:
  static Result<References> open(const std::string& path) {
    References r;
    r.path_ = path;
    std::ifstream in(path);
    if (path.empty() || !in) return r;
    r.known_ = json::parse(in, nullptr, false);
    if (!r.known_.is_object()) return error(path + ": not a file of least costs");
    return r;
  }
  /// The least known, `cost` included, which is kept.
  Result<double> least(const std::string& key, const std::string& graph, double cost) {
    if (auto at = known_.find(key); at != known_.end()) {
      auto known = at->find("cost");
      if (known == at->end() || !known->is_number())
        return error(path_ + ": " + key + ": there is no cost");
      cost = std::min(cost, known->get<double>());
    }
    known_[key] = {{"graph", graph}, {"cost", cost}};
    return cost;
  }
  /// With what others wrote there since.
  Status write() {
    ASSIGN_OR_RETURN(References now, open(path_));
    for (const auto& [key, of] : now.known_.items()) {
      auto cost = of.find("cost");
      if (cost != of.end() && cost->is_number())
        RETURN_IF_ERROR(least(key, of.value("graph", ""), *cost));
    }
    return write_file(path_, to_text(known_, 2));
  }

 private:
  std::string path_;
  json known_ = json::object();
};

double least_cost(const GraphRuns& g) {
  double least = g.baseline ? std::min(g.before, g.baseline->after) : g.before;
  for (const MethodRuns& runs : g.methods)
    for (const auto& row : runs)
      for (const RunPair& p : row)
        least = std::min({least, p.by_seconds.after, p.by_candidates.after});
  return least;
}

Status bench(const BenchFlags& flags) {
  Setting setting;
  ASSIGN_OR_RETURN(setting.rules, load_rules({flags.rules, {}, false}));
  ASSIGN_OR_RETURN(setting.cost, choose_cost(flags.cost));
  setting.digest = digest_of(setting.rules, *setting.cost.model);
  ASSIGN_OR_RETURN(auto methods, bench_methods({flags.policies, flags.methods}, setting.rules));
  ASSIGN_OR_RETURN(auto files, model_files(flags.graphs));
  RETURN_IF_ERROR(require_distinct(named("a model", files), {{"the reference", flags.reference},
                                                             {"the runs kept", flags.kept},
                                                             {"the report", flags.common.json}}));
  ASSIGN_OR_RETURN(OutputFile output, OutputFile::open(flags.common.json));
  ASSIGN_OR_RETURN(auto kept, KeptRuns::open(flags.kept));
  ASSIGN_OR_RETURN(auto references, References::open(flags.reference));
  std::vector<GraphRuns> graphs;
  for (const std::string& file : files) {
    GraphBench graph(flags, setting, methods, kept, file);
    ASSIGN_OR_RETURN(auto runs, graph.run());
    std::string key = graph.digest() + "|" + setting.cost.model->description();
    ASSIGN_OR_RETURN(runs.reference, references.least(key, runs.name, least_cost(runs)));
    graphs.push_back(std::move(runs));
  }
  RETURN_IF_ERROR(references.write());
  BenchFound f{methods, graphs, limits_of(flags.budgets, flags.seconds), {}, {}, {}, {}};
  f.reached = reaching(graphs, methods.size());
  f.ratios = ratios(graphs, f.reached, methods.size());
  f.comparisons = comparisons(graphs, methods, f.limits);
  f.sooner = sooner(graphs, methods);
  if (flags.common.verbosity != Verbosity::Quiet) print(f);
  json report = to_json(f);
  report.update({{"cost_model", setting.cost.model->description()},
                 {"rules", setting.rules.rules().size()},
                 {"seed", flags.common.seed},
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
