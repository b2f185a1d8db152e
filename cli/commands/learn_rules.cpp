// Composes rules of what searches do beyond greedy descent, proves them, keeps what pays elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/rng.h"
#include "cli/macros/architecture.h"
#include "cli/macros/generalise_macro.h"
#include "cli/macros/mine.h"
#include "cli/macros/prove_macros.h"
#include "cli/support/commands.h"
#include "cli/support/evidence.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cli/support/rule_set.h"
#include "gen/derive/derive.h"
#include "ir/rule/text.h"
#include "rewrite/search/greedy.h"
#include "rl/network/network_file.h"
#include "rl/planner/proposer.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

constexpr double kLeastPercent = 0.05;  // of a model's cost: less is not worth a rule
constexpr double kSizePercent = 0.01;   // of a model's cost, that a call of a rule must bring
constexpr char kAtItsSizes[] = "it holds at the sizes of its place only";

/// A composition and where it was found.
struct Macro {
  Rule rule;
  std::set<size_t> sources;  ///< architectures, by number
  size_t found = 0;          ///< how often
  double gain = 0;           ///< microseconds where it was found, all together
};

struct LearnCounts {
  size_t models = 0, architectures = 0;
  size_t parts = 0, followed = 0, unproved = 0, unsafe = 0, proved = 0;
  std::map<std::string, size_t> special;  ///< parts that became no rule, by the reason
  size_t all_special() const {
    size_t n = 0;
    for (const auto& [why, count] : special) n += count;
    return n;
  }
};

class RuleLearner {
 public:
  RuleLearner(const LearnRulesFlags& flags, const rewrite::RuleIndex& rules, const ChosenCost& cost,
              const Stop& stop)
      : flags_(flags), rules_(rules), cost_(cost), stop_(stop) {}

  Result<std::vector<Rule>> run(const std::vector<std::string>& files) {
    RETURN_IF_ERROR(mine(files));
    prove();
    return flags_.choose == "paying" ? paying() : others();
  }
  const LearnCounts& counts() const { return counts_; }

  /// Of all parts that pay, those that are no rule as well. After run().
  rl::Proposer proposer() const {
    std::vector<rl::ProposalLesson> lessons;
    for (size_t k = 0; k < models_.size(); ++k)
      lessons.push_back({&models_[k].graph, models_[k].opset, parts_[k]});
    rl::ProposerOptions options;
    options.seed = flags_.common.seed;
    options.threads = thread_count(flags_.common);
    return rl::train_proposer(lessons, rules_, *cost_.model, options, stop_);
  }

 private:
  /// A model as the search would see it.
  Result<Descended> descended(const std::string& file) const {
    ASSIGN_OR_RETURN(auto imported, io::load(file));
    auto model = Beginning(imported, rules_, cost_, stop_).descended();
    if (!model) return error(file + ": " + model.error().message);
    return model;
  }

  /// Each model by itself, merged in the order of files: threads make no difference.
  Status mine(const std::vector<std::string>& files) {
    std::vector<std::optional<Result<Descended>>> read(files.size());
    std::vector<std::vector<std::pair<Rule, double>>> found(files.size());
    std::vector<std::vector<rewrite::PayingPart>> parts(files.size());
    std::vector<std::map<std::string, size_t>> special(files.size());
    MineOptions options;
    options.budget = flags_.budget;
    options.seed = flags_.common.seed;
    parallel_for(files.size(), thread_count(flags_.common), [&](size_t k) {
      if (stop_.must_end()) return;
      read[k] = descended(files[k]);
      if (!*read[k]) return;
      parts[k] = mined(**read[k], rules_, *cost_.model, options, stop_);
      for (const auto& part : parts[k]) {
        auto rule = part.composed ? generalise_macro(*part.composed) : std::nullopt;
        if (rule)
          found[k].emplace_back(renamed(*rule), part.gain);
        else
          ++special[k][part.composed ? kAtItsSizes : part.composed.error().message];
      }
    });
    for (size_t k = 0; k < files.size(); ++k) {
      if (!read[k]) continue;
      if (!*read[k]) return read[k]->error();
      models_.push_back(**read[k]);
    }
    std::vector<const Graph*> graphs;
    for (const Descended& model : models_) graphs.push_back(&model.graph);
    architectures_ = architectures_of(graphs);
    counts_.models = models_.size();
    counts_.architectures = std::set(architectures_.begin(), architectures_.end()).size();
    std::map<std::string, Macro> by_key;
    for (size_t k = 0, model = 0; k < files.size(); ++k) {
      if (!read[k]) continue;
      counts_.parts += parts[k].size();
      parts_.push_back(std::move(parts[k]));
      for (const auto& [why, n] : special[k]) counts_.special[why] += n;
      for (auto& [rule, gain] : found[k]) {
        Macro& m = by_key.try_emplace(canonical_key(rule), Macro{rule, {}, 0, 0}).first->second;
        m.sources.insert(architectures_[model]);
        ++m.found;
        m.gain += gain;
        if (!std::ranges::count(m.rule.domain, rule.domain.at(0)))
          m.rule.domain.push_back(rule.domain.at(0));
      }
      ++model;
    }
    for (auto& [key, m] : by_key) {
      m.rule.name = macro_name(m.rule);
      macros_.push_back(std::move(m));
    }
    return {};
  }

  /// What one step of the rules does already is no macro; what is left is proved.
  void prove() {
    drop_followers();
    std::vector<Rule> candidates;
    for (const Macro& m : macros_) candidates.push_back(m.rule);
    ProvedMacros found = prove_macros(candidates, flags_.common, stop_);
    std::vector<Macro> proved;
    for (size_t k = 0; k < macros_.size(); ++k) {
      if (!found.rules[k]) continue;
      macros_[k].rule = *std::move(found.rules[k]);
      proved.push_back(std::move(macros_[k]));
    }
    counts_.unproved = found.unproved;
    counts_.unsafe = found.unsafe;
    macros_ = std::move(proved);
    counts_.proved = macros_.size();
  }

  void drop_followers() {
    std::vector<Rule> rules, goals;
    for (const auto& compiled : rules_.rules()) rules.push_back(compiled.rule);
    for (const Macro& m : macros_) goals.push_back(m.rule);
    gen::DeriveOptions options;
    options.max_rounds = 1;
    options.max_signatures = 1;
    auto follows = gen::derive_all(gen::Deriver(std::move(rules), options), goals,
                                   thread_count(flags_.common), stop_);
    size_t k = 0;
    counts_.followed = std::erase_if(macros_, [&](const Macro&) { return follows[k++].derived; });
  }

  /// Percent that greedy descent by these rules saves of a model that it has descended.
  double saves(const std::vector<Rule>& rules, const Descended& model) const {
    auto index = rewrite::RuleIndex::build(rules);
    if (!index) return 0;
    rewrite::SearchOptions options;
    options.opset = model.opset;
    options.verbosity = Verbosity::Quiet;
    auto report = rewrite::Greedy().search(model.graph, *index, *cost_.model, options, stop_);
    return 100 * (1 - report.cost_after / model.cost);
  }

  /// Summed over models, each without what was found in its architecture alone.
  double benefit(const std::vector<const Macro*>& chosen) const {
    std::vector<double> percent(models_.size());
    parallel_for(models_.size(), thread_count(flags_.common), [&](size_t k) {
      std::vector<Rule> rules;
      for (const Macro* m : chosen)
        if (m->sources.size() > 1 || !m->sources.count(architectures_[k])) rules.push_back(m->rule);
      if (!rules.empty()) percent[k] = saves(rules, models_[k]);
    });
    double sum = 0;
    for (double p : percent) sum += p >= kLeastPercent ? p : 0;
    return sum;
  }

  static double length(const Macro& m) {
    return kSizePercent * static_cast<double>(size(m.rule.lhs) + size(m.rule.rhs));
  }

  /// One after the other the macro that brings most beyond those taken, as long as that is more
  /// than its length.
  std::vector<Rule> paying() {
    std::vector<std::pair<double, const Macro*>> alone;
    for (const Macro& m : macros_)
      if (double b = benefit({&m}) - length(m); b > 0) alone.emplace_back(b, &m);
    std::ranges::stable_sort(alone, std::greater<>(), &std::pair<double, const Macro*>::first);
    std::vector<const Macro*> chosen;
    double before = 0;
    for (const auto& [bound, m] : alone) {
      if (chosen.size() >= flags_.count || stop_.must_end()) break;
      chosen.push_back(m);
      double with = benefit(chosen);
      if (with - before > length(*m))
        before = with;
      else
        chosen.pop_back();
    }
    std::vector<Rule> rules;
    for (const Macro* m : chosen) rules.push_back(m->rule);
    return rules;
  }

  /// The most frequent, or some at random: what the choice is compared with.
  std::vector<Rule> others() {
    std::vector<const Macro*> order;
    for (const Macro& m : macros_) order.push_back(&m);
    if (flags_.choose == "frequent") {
      std::ranges::stable_sort(order, std::greater<>(), &Macro::found);
    } else {
      Rng rng(flags_.common.seed);
      for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
    }
    order.resize(std::min(order.size(), flags_.count));
    std::vector<Rule> rules;
    for (const Macro* m : order) rules.push_back(m->rule);
    return rules;
  }

  const LearnRulesFlags& flags_;
  const rewrite::RuleIndex& rules_;
  const ChosenCost& cost_;
  const Stop& stop_;
  std::vector<Descended> models_;
  std::vector<std::vector<rewrite::PayingPart>> parts_;  // of models
  std::vector<size_t> architectures_;                    // of models
  std::vector<Macro> macros_;
  LearnCounts counts_;
};

void print(const LearnCounts& c, const std::vector<Rule>& rules, const std::string& out) {
  Table table{{{"learn-rules", "count"}}};
  const std::pair<const char*, size_t> rows[] = {
      {"models", c.models},
      {"architectures", c.architectures},
      {"parts of searches that pay", c.parts},
      {"of these no rule, or at the sizes of their place only", c.all_special()},
      {"rules that follow by one step", c.followed},
      {"not proved", c.unproved},
      {"unsafe in floating point", c.unsafe},
      {"proved", c.proved},
      {"kept", rules.size()}};
  for (const auto& [name, n] : rows) table.rows.push_back({name, fmt::format("{}", n)});
  fmt::print(results(), "{}wrote {}\n", to_string(table), out);
}

nlohmann::json to_json(const rl::Proposer& p) {
  auto epoch = [](const rl::ExpertReport& r) {
    return nlohmann::json{{"policy_loss", r.policy_loss}, {"agreement", r.agreement}};
  };
  return {{"samples", p.samples},
          {"numbers", p.network.parameters().count()},
          {"first_epoch", epoch(p.first)},
          {"last_epoch", epoch(p.last)}};
}

nlohmann::json to_json(const LearnCounts& c, const std::vector<Rule>& rules) {
  nlohmann::json j = {{"models", c.models},     {"architectures", c.architectures},
                      {"parts", c.parts},       {"special", c.all_special()},
                      {"followed", c.followed}, {"unproved", c.unproved},
                      {"unsafe", c.unsafe},     {"proved", c.proved}};
  j["special_by_reason"] = c.special;
  j["rules"] = nlohmann::json::array();
  for (const Rule& rule : rules) j["rules"].push_back(to_string(rule));
  return j;
}

Status learn_rules(const LearnRulesFlags& flags) {
  ASSIGN_OR_RETURN(auto files, model_files(flags.graphs));
  std::vector<NamedFile> inputs = with_data("a model", files);
  for (auto& file : named("a rule file", rule_files(flags.rules))) inputs.push_back(file);
  if (flags.cost.ends_with(".profile")) inputs.push_back({"the profile", flags.cost});
  RETURN_IF_ERROR(require_distinct(inputs, {{"the learnt rules", flags.out},
                                            {"the network", flags.propose},
                                            {"the report", flags.common.json}}));
  ASSIGN_OR_RETURN(auto rules, load_rules({.files = flags.rules}));
  ASSIGN_OR_RETURN(auto cost, choose_cost(flags.cost, cost::find_runtime(kOnnxruntime)));
  ASSIGN_OR_RETURN(auto out, OutputFile::open(flags.out));
  ASSIGN_OR_RETURN(auto network, OutputFile::open(flags.propose));
  ASSIGN_OR_RETURN(auto report, OutputFile::open(flags.common.json));
  Stop stop(flags.common.seconds, memory_limit(flags.common));
  RuleLearner learner(flags, rules, cost, stop);
  ASSIGN_OR_RETURN(auto learnt, learner.run(files));
  nlohmann::json told = to_json(learner.counts(), learnt);
  if (!flags.propose.empty()) {
    const rl::Proposer proposer = learner.proposer();
    told["proposer"] = to_json(proposer);
    RETURN_IF_ERROR(
        rl::write_checkpoint(network, rl::network_file(proposer.network, rl::kNetworkPolicy)));
  }
  if (stop.must_end())
    return error("stopped before the end, nothing written; --time and --memory are the limits");
  substitutions::RuleFile file;
  file.generator = fmt::format("learn-rules budget={} seed={} choose={} models={}", flags.budget,
                               flags.common.seed, flags.choose, files.size());
  file.prover = prover_name();
  file.rules = learnt;
  RETURN_IF_ERROR(substitutions::write_rules(out, file));
  RETURN_IF_ERROR(report.write(to_text(told, 2)));
  RETURN_IF_ERROR(commit_all({&out, &network, &report}));
  if (flags.common.verbosity == Verbosity::Normal) print(learner.counts(), learnt, flags.out);
  return {};
}

}  // namespace

int run_learn_rules(const LearnRulesFlags& flags) {
  Status done = learn_rules(flags);
  if (!done && Stop::was_interrupted()) {
    tell(done.error().message);
    return kInterrupted;
  }
  return done ? kDone : bad_input(done.error());
}

}  // namespace regraft::cli
