#include "cli/library/environments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files/output_file.h"
#include "base/printable.h"
#include "certify/check.h"
#include "cli/library/fields.h"
#include "cli/support/commands.h"
#include "cli/support/float_check.h"
#include "cli/support/report.h"
#include "cli/support/rewards.h"
#include "cli/support/rule_set.h"
#include "cost/model/kernel.h"
#include "ir/graph/fold.h"

namespace regraft::cli {
namespace {

constexpr int64_t kMostEnvironments = 65536, kMostRows = int64_t{1} << 20;

/// All of regraft_envs_make's options.
struct Wanted {
  std::vector<std::string> rules;
  std::string cost, reward;
  rl::EnvironmentOptions environment;
  rl::VectorOptions vector;
};

Result<Wanted> wanted_of(const std::string& text) {
  Wanted w;
  auto& e = w.environment;
  auto& v = w.vector;
  ASSIGN_OR_RETURN(Fields f, Fields::of(text));
  ASSIGN_OR_RETURN(w.rules, f.texts("rules"));
  ASSIGN_OR_RETURN(w.cost, f.text("cost", "roofline"));
  ASSIGN_OR_RETURN(w.reward, f.text("reward", to_string(e.reward)));
  ASSIGN_OR_RETURN(std::string actions, f.text("actions", "matches"));
  ASSIGN_OR_RETURN(bool hidden, f.flag("hide_cost"));
  ASSIGN_OR_RETURN(v.environments, f.number("environments", 1, 1, kMostEnvironments));
  ASSIGN_OR_RETURN(v.threads, f.number("threads", 1, 1, 1024));
  ASSIGN_OR_RETURN(e.max_steps, f.number("max_steps", 0, 0, 1000000));
  ASSIGN_OR_RETURN(e.max_locations, f.number("max_locations", 200, 1, kMostRows));
  ASSIGN_OR_RETURN(e.max_growth, f.real("max_growth", e.max_growth, 0, 1000));
  ASSIGN_OR_RETURN(e.ceiling, f.real("ceiling", e.ceiling, 1, 1e9));
  ASSIGN_OR_RETURN(v.nodes, f.number("max_nodes", 0, 0, kMostRows));
  ASSIGN_OR_RETURN(v.edges, f.number("max_edges", 0, 0, kMostRows));
  ASSIGN_OR_RETURN(v.match_actions, f.number("max_actions", 0, 0, kMostRows));
  RETURN_IF_ERROR(f.finish());
  auto reward = rl::reward_named(w.reward);
  if (!reward) return f.wrong("reward", either_of(rl::reward_names()));
  e.reward = *reward;
  bool known = w.cost == "auto" || w.cost == "roofline" || w.cost.ends_with(".profile");
  if (!known && !cost::find_runtime(w.cost))
    return error("cost: " + printable(w.cost) + " is no cost model and no .profile file");
  if (actions != "matches" && actions != "factorised")
    return f.wrong("actions", either_of({"matches", "factorised"}));
  v.actions = actions == "matches" ? rl::Actions::Matches : rl::Actions::Factorised;
  v.costs = hidden ? rl::Costs::Hidden : rl::Costs::Shown;
  return w;
}

nlohmann::json to_json(const rl::ArraySpec& s) {
  return {{"name", s.name},
          {"part", s.part == rl::Part::Observation ? "observation" : "info"},
          {"type", to_string(s.element)},
          {"shape", s.shape},
          {"low", s.low},
          {"high", s.high},
          {"padding", s.padding}};
}

}  // namespace

Result<std::unique_ptr<Environments>> Environments::make(const std::string& options,
                                                         const std::vector<GivenModel>& models) {
  ASSIGN_OR_RETURN(Wanted w, wanted_of(options));
  if (models.empty()) return error("models: at least one is needed");
  std::unique_ptr<Environments> made(new Environments());
  ASSIGN_OR_RETURN(made->rules_, load_rules({.files = w.rules}));
  ASSIGN_OR_RETURN(made->cost_, choose_cost(w.cost));
  made->texts_ = named("a rule file", rule_files(w.rules));
  if (w.cost.ends_with(".profile")) made->texts_.push_back({"the profile", w.cost});
  std::vector<rl::Task> tasks;
  for (const GivenModel& m : models) {
    auto imported = m.bytes ? io::parse(*m.bytes, m.name) : io::load(m.name);
    if (!imported) return imported.error();
    made->models_.push_back({m.name, !m.bytes, *std::move(imported)});
    const io::Imported& model = made->models_.back().imported;
    rl::EnvironmentOptions e = w.environment;
    e.opset = io::summarise(model).opset;
    RETURN_IF_ERROR(prepare_reward(e, made->cost_, model.graph));
    tasks.push_back({model.graph, std::move(e)});
  }
  made->all_ = std::make_unique<rl::VectorEnvironment>(std::move(tasks), made->rules_,
                                                       *made->cost_.model, w.vector);
  made->requests_.resize(w.vector.environments);
  return made;
}

nlohmann::json Environments::description() {
  auto rules = nlohmann::json::array(), models = nlohmann::json::array(),
       arrays = nlohmann::json::array();
  for (const auto& r : rules_.rules()) rules.push_back(r.rule.name);
  for (size_t k = 0; k < models_.size(); ++k) {
    rl::TaskFacts f = all_->facts(k);
    models.push_back({{"name", models_[k].name},
                      {"cost", f.cost},
                      {"nodes", f.nodes},
                      {"edges", f.edges},
                      {"matches", f.matches},
                      {"max_steps", f.max_steps}});
  }
  for (const auto& s : all_->specs()) arrays.push_back(to_json(s));
  return {{"environments", requests_.size()},
          {"rules", rules},
          {"operators", rl::op_names()},
          {"models", models},
          {"arrays", arrays}};
}

Status Environments::bind(const std::vector<void*>& arrays) {
  size_t needed = all_->specs().size();
  if (arrays.size() != needed)
    return error("arrays: " + std::to_string(needed) + " are needed, not " +
                 std::to_string(arrays.size()));
  if (std::ranges::count(arrays, nullptr) > 0) return error("arrays: one is NULL");
  all_->bind(arrays);
  bound_ = true;
  return {};
}

Status Environments::reset(const std::string& options) {
  if (!bound_) return error("reset: no arrays were bound");
  ASSIGN_OR_RETURN(Fields f, Fields::of(options));
  size_t n = requests_.size();
  ASSIGN_OR_RETURN(auto seeds, f.numbers("seeds", n));
  ASSIGN_OR_RETURN(auto first, f.number_if_there("seed", 0, INT64_MAX));
  ASSIGN_OR_RETURN(auto marks, f.numbers("marked", n));
  ASSIGN_OR_RETURN(auto model,
                   f.number_if_there("model", 0, static_cast<int64_t>(models_.size()) - 1));
  RETURN_IF_ERROR(f.finish());
  for (size_t k = 0; k < n; ++k) {
    if (first) all_->seed(k, static_cast<uint64_t>(*first) + k);
    if (!seeds.empty() && seeds[k]) all_->seed(k, static_cast<uint64_t>(*seeds[k]));
  }
  std::vector<char> marked(n, 1);
  for (size_t k = 0; k < marks.size(); ++k) marked[k] = marks[k].value_or(0) != 0;
  std::optional<size_t> task;
  if (model) task = static_cast<size_t>(*model);
  all_->reset(marked, task);
  return {};
}

Status Environments::step(const int64_t* actions) {
  if (!all_->was_reset()) return error("step: reset() comes first");
  bool pairs = all_->options().actions == rl::Actions::Factorised;
  for (auto& r : requests_) {
    r.rule = *actions++;
    r.location = pairs ? *actions++ : 0;
  }
  all_->step(requests_);
  return {};
}

nlohmann::json Environments::moves(size_t k) const {
  auto list = nlohmann::json::array();
  if (k >= requests_.size() || !all_->was_reset(k)) return list;
  for (const rewrite::Move& m : all_->moves(k))
    list.push_back(
        {{"rule", rules_.rules()[static_cast<size_t>(m.rule)].rule.name}, {"cost", m.cost}});
  return list;
}

Status Environments::require_own_files(size_t task, const std::string& out,
                                       const std::string& proof) const {
  std::vector<NamedFile> inputs = texts_, own;
  for (const Model& m : models_) {
    bool is_own = &m == &models_[task];
    if (m.is_file) (is_own ? own : inputs).push_back({"a model of the environment", m.name});
    for (auto& file : named("a model's data", io::data_files(m.imported))) inputs.push_back(file);
  }
  std::vector<NamedFile> certificate = {{"the certificate", proof}};
  RETURN_IF_ERROR(require_distinct(inputs, {{"the model", out}, certificate[0]}));
  return require_distinct(own, certificate);
}

Result<std::optional<std::string>> Environments::write(size_t k, const std::string& options) {
  ASSIGN_OR_RETURN(Fields f, Fields::of(options));
  ASSIGN_OR_RETURN(std::string out, f.text("out", ""));
  ASSIGN_OR_RETURN(std::string which, f.text("which", "best"));
  ASSIGN_OR_RETURN(std::string proof, f.text("certificate", ""));
  ASSIGN_OR_RETURN(int64_t runs, f.number("check", 1, 1, 1000));
  RETURN_IF_ERROR(f.finish());
  if (out.empty()) return error("export: \"out\" names no file");
  if (which != "best" && which != "last") return f.wrong("which", either_of({"best", "last"}));
  if (k >= requests_.size())
    return error(fmt::format("export: environment: from 0 to {}", requests_.size() - 1));
  if (!all_->was_reset(k)) return error("export: reset() comes first");

  size_t task = all_->task(k);
  const io::Imported& original = models_[task].imported;
  auto moves = all_->moves(k);
  if (which == "best") moves.resize(all_->best_depth(k));
  RETURN_IF_ERROR(require_own_files(task, out, proof));
  ASSIGN_OR_RETURN(auto model, io::ModelOutput::open(out));
  ASSIGN_OR_RETURN(auto certificate, OutputFile::open(proof));
  ASSIGN_OR_RETURN(FoldReport folded, fold(all_->graph_after(task, moves)));
  ASSIGN_OR_RETURN(auto check, compare_on(kReference, original.graph, folded.graph,
                                          static_cast<int>(runs), Common(), Stop()));
  if (!check.agrees) return std::optional("the check failed, nothing written: " + describe(check));
  if (!rewrite::incomplete(check).empty())
    tell("warning: the check is incomplete: " + describe(check));
  io::Imported base = original;
  base.as_initialisers = true;
  RETURN_IF_ERROR(model.write(base, folded.graph));
  if (!proof.empty()) {
    std::vector<rewrite::AppliedRule> steps;
    for (const rewrite::Move& m : moves)
      steps.push_back(
          {rules_.rules()[static_cast<size_t>(m.rule)].rule.name, m.nodes, m.variables});
    ASSIGN_OR_RETURN(auto c, certify::make_certificate(original, base, folded.graph, rules_,
                                                       {steps, folded.folded, {}}));
    RETURN_IF_ERROR(certificate.write(to_text(c)));
  }
  RETURN_IF_ERROR(model.sync());
  RETURN_IF_ERROR(commit_all({&certificate}));
  RETURN_IF_ERROR(model.commit());
  return std::optional<std::string>();
}

}  // namespace regraft::cli
