// Models that compute the same as a model: what random walks over its graph meet.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/rng.h"
#include "cli/measure/kernels.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/profiles.h"
#include "cli/support/report.h"
#include "cli/support/rule_set.h"
#include "io/model.h"
#include "ir/graph/fold.h"
#include "rewrite/engine/engine.h"
#include "rewrite/neighbours.h"
#include "rewrite/optimize.h"
#include "rewrite/searchers.h"

namespace regraft::cli {
namespace {

constexpr int kLongest = 64;        // moves of a walk
constexpr int kTriesPerModel = 20;  // walks that may lead to a graph seen before

/// Walks of 1 to kLongest moves, short ones as likely as long ones in proportion.
Result<Graph> walk(const Graph& from, const rewrite::RuleIndex& rules, const cost::CostModel& model,
                   Opset opset, Rng& rng, int& moves) {
  rewrite::Engine engine(from, rules, model, {opset});
  int32_t max_calls = engine.calls() + engine.calls() / 2 + 4;
  int length = static_cast<int>(std::exp(rng.unit() * std::log(kLongest)));
  for (moves = 0; moves < length; ++moves) {
    int32_t number = rewrite::random_match(engine, max_calls, rng);
    if (number < 0) break;
    engine.apply(number);
  }
  ASSIGN_OR_RETURN(auto folded, fold(engine.to_graph()));
  return std::move(folded.graph);
}

std::vector<NamedFile> inputs_of(const CostFlags& flags, const io::Imported& model) {
  std::vector<NamedFile> inputs = with_data("the model", flags.files[0], model);
  for (auto& file : named("a rule file", rule_files(flags.rules))) inputs.push_back(file);
  if (flags.cost.ends_with(".profile")) inputs.push_back({"the profile", flags.cost});
  return inputs;
}

}  // namespace

int run_cost_variants(const CostFlags& flags) {
  auto chosen = choose_cost(flags.cost);
  if (!chosen) return bad_input(chosen.error());
  auto rules = load_rules({.files = flags.rules});
  if (!rules) return bad_input(rules.error());
  auto imported = io::load(flags.files[0]);
  if (!imported) return bad_input(imported.error());
  const auto inputs = inputs_of(flags, *imported);
  Status distinct = require_distinct_in(flags.dir, inputs, {"variant"});
  if (distinct) distinct = require_distinct(inputs, {{"the report", flags.common.json}});
  if (!distinct) return bad_input(distinct.error());
  auto report = OutputFile::open(flags.common.json);
  if (!report) return bad_input(report.error());
  if (auto s = make_folder(flags.dir); !s) return bad_input(s.error());
  rewrite::SearchOptions options;
  options.opset = io::summarise(*imported, imported->graph).opset;
  options.max_growth = 2;
  auto best = rewrite::make_searcher("greedy")->search(imported->graph, *rules, *chosen->model,
                                                       options, Stop());
  const Graph* starts[] = {&imported->graph, &best.best};
  Rng rng(flags.common.seed);
  std::set<uint64_t> seen;  // a collision loses a variant, no more
  nlohmann::json list = nlohmann::json::array();
  Stop stop;
  for (int tries = 0; static_cast<int>(list.size()) < flags.count && !stop.must_end(); ++tries) {
    if (tries >= kTriesPerModel * flags.count)
      return bad_input(error(fmt::format("{}: only {} graphs were found that compute the same",
                                         flags.files[0], list.size())));
    int moves = 0;
    auto g = walk(*starts[tries % 2], *rules, *chosen->model, options.opset, rng, moves);
    if (!g) return bad_input(g.error());
    if (!seen.insert(structural_hash(*g)).second) continue;
    std::string file = fmt::format("{}/variant{:03}.onnx", flags.dir, list.size());
    if (auto s = io::save(*imported, *g, file); !s) return bad_input(s.error());
    nlohmann::json entry = {
        {"file", file},
        {"moves", moves},
        {"start", tries % 2 ? "greedy" : "model"},
        {"sum", rewrite::account(*chosen->model, *g).cost.microseconds},
        {"roofline", cost::graph_cost(cost::Roofline(), *g).total.microseconds}};
    if (chosen->profiled) {
      auto p = chosen->profiled->predict(*g);
      entry["predicted"] = p.microseconds;
      entry["estimated"] = p.estimated_microseconds;
    }
    list.push_back(std::move(entry));
  }
  Status written = report->write(to_text(list, 1));
  if (written) written = write_file(flags.dir + "/variants.json", to_text(list, 1));
  if (written) written = report->commit();
  return written ? kDone : bad_input(written.error());
}

}  // namespace regraft::cli
