#include "gen/generate.h"

#include <algorithm>
#include <mutex>

#include "base/nearest.h"
#include "base/resources.h"
#include "gen/enumerate/enumerate.h"
#include "gen/minimise/collect.h"
#include "gen/minimise/merge.h"
#include "gen/parts.h"

namespace regraft::gen {
namespace {

constexpr double kSaveSeconds = 20;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One run over the grammars of an op set.
class Run {
 public:
  Run(const GenerateOptions& options, const Stop& stop) : options_(options), stop_(stop) {
    threads_ = options.threads > 0 ? options.threads : default_threads();
    saved_ = Clock::now();
    checkpoint_ = options.resume;
  }
  Status grammar(const Grammar& grammar);
  Result<GenerateReport> finish();

 private:
  Result<Enumeration> enumerate_grammar(ShapedOps& ops, int max_size, Bank& bank);
  void collect(const Finding& finding);
  Status minimise(Minimiser& minimiser);
  std::string part(int size) const;
  void save(const Minimiser& minimiser, size_t position);
  void save_soon();
  Answers remembered(std::map<size_t, Answer>& known);
  Answers with_helpers(Answers answers, const Deriver& deriver, const std::vector<Rule>& goals,
                       const DeriveOptions& how);
  void add(const DistilCounts& counts);
  std::vector<char> without_derivable();

  const GenerateOptions& options_;
  const Stop& stop_;
  int threads_;
  GenerateReport report_;
  Collector collector_;
  Checkpoint checkpoint_;  ///< begins as what is resumed, and only grows
  size_t grammar_ = 0;     ///< number of the grammar at work
  std::mutex mutex_;       ///< of the checkpoint, in the last stages
  Clock::time_point saved_;
  Status asked_;                  ///< why helpers gave no answers
  std::vector<Judged> grammars_;  ///< only for an audit
};

Result<Enumeration> Run::enumerate_grammar(ShapedOps& ops, int max_size, Bank& bank) {
  double cpu = cpu_seconds();
  auto start = Clock::now();
  EnumerateOptions how{max_size,           options_.seed,    threads_,      options_.max_bytes,
                       options_.verbosity, options_.helpers, part(max_size)};
  ASSIGN_OR_RETURN(Enumeration found, enumerate(ops, how, bank, stop_));
  report_.applications += found.counts.applications;
  report_.evaluations += found.counts.evaluations;
  report_.classes += found.counts.classes;
  report_.error_bound += found.counts.error_bound;
  report_.enumerate_cpu_seconds += cpu_seconds() - cpu;
  report_.enumerate_wall_seconds += seconds_since(start);
  report_.enumerate_peak_bytes = static_cast<uint64_t>(peak_bytes());
  if (found.ended != Ended::Complete) report_.ended = found.ended;
  return found;
}

void Run::collect(const Finding& finding) {
  if (!collector_.add(finding.rule, finding.signature)) return;
  Rule rule = finding.rule;
  rule.domain = {finding.signature};
  for (Rule& way : directions(rule)) {
    Signature signature = way.domain[0];
    way.domain.clear();
    auto merge = merge_of(way, signature, kShapeSeed);
    if (merge && collector_.add(*merge, signature)) ++report_.merges;
  }
}

void Run::add(const DistilCounts& c) {
  DistilCounts& d = report_.distilled;
  d.pairs += c.pairs;
  d.renamed += c.renamed;
  d.followers += c.followers;
  d.alias += c.alias;
  d.renaming += c.renaming;
  d.common += c.common;
  d.derivable += c.derivable;
  d.chance += c.chance;
  d.constants += c.constants;
  d.other_shapes += c.other_shapes;
  d.generalised += c.generalised;
  d.grows += c.grows;
}

void Run::save(const Minimiser& minimiser, size_t position) {
  Checkpoint::GrammarState& known = checkpoint_.grammars[grammar_];
  if (position < known.position) return;  // stopped before it was where an earlier run had come
  known = {minimiser.size(), position, minimiser.judged()};
  if (!options_.save) return;
  saved_ = Clock::now();
  options_.save(checkpoint_);
}

/// REQUIRES: mutex_ is held.
void Run::save_soon() {
  if (!options_.save || seconds_since(saved_) < kSaveSeconds) return;
  saved_ = Clock::now();
  options_.save(checkpoint_);
}

/// Answers are of a run whose grammars are all finished; of another they are not kept.
Answers Run::remembered(std::map<size_t, Answer>& known) {
  if (report_.ended != Ended::Complete) return {};
  return {[&](size_t question) -> std::optional<Answer> {
            std::lock_guard lock(mutex_);
            auto at = known.find(question);
            return at == known.end() ? std::nullopt : std::optional(at->second);
          },
          [&](size_t question, const Answer& answer) {
            std::lock_guard lock(mutex_);
            known[question] = answer;
            save_soon();
          }};
}

std::string Run::part(int size) const {
  return to_bytes(PartOf{options_.ops, grammar_, size, options_.seed, options_.trials});
}

Status Run::minimise(Minimiser& minimiser) {
  for (size_t k = 0; k < collector_.rules().size(); ++k)
    minimiser.know(collector_.rules()[k], collector_.signatures(k));
  if (checkpoint_.grammars.size() <= grammar_) checkpoint_.grammars.resize(grammar_ + 1);
  const Checkpoint::GrammarState from = checkpoint_.grammars[grammar_];
  if (from.position > 0 && from.groups != minimiser.size())
    return error("a checkpoint of another version of the generator: grammar " +
                 std::to_string(grammar_ + 1) + " had " + std::to_string(from.groups) +
                 " groups of equal values, and has " + std::to_string(minimiser.size()));
  Progress progress("minimise", "groups", minimiser.size(), options_.verbosity);
  size_t position = minimiser.replay(from.position, from.judged, stop_, progress);
  while (position < minimiser.size() && !stop_.must_end()) {
    position = minimiser.run(position, stop_, progress);
    if (!stop_.must_end()) RETURN_IF_ERROR(minimiser.failure());
    if (seconds_since(saved_) > kSaveSeconds) save(minimiser, position);
  }
  save(minimiser, position);
  if (position < minimiser.size()) report_.ended = Ended::Stopped;
  if (report_.ended == Ended::Complete)
    for (const auto& [number, signature] : minimiser.places(stop_))
      collector_.note(*minimiser.rewrites().added()[number].rule, signature);
  return {};
}

Status Run::grammar(const Grammar& grammar) {
  if (report_.ended != Ended::Complete) return {};
  Judged t;
  t.ops = std::make_unique<ShapedOps>(grammar, options_.trials, options_.seed);
  RETURN_IF_ERROR(t.ops->load());
  t.bank = std::make_unique<Bank>(kShapeSeed, grammar.compare);
  int size = std::clamp(options_.max_size + grammar.more, 1, grammar.most);
  ASSIGN_OR_RETURN(Enumeration found, enumerate_grammar(*t.ops, size, *t.bank));
  if (found.ended == Ended::Stopped) return {};
  t.graph = std::move(found.graph);
  t.minimiser = std::make_unique<Minimiser>(*t.graph, *t.bank, kShapeSeed, threads_,
                                            [&](const Finding& f) { collect(f); });
  if (options_.helpers) {
    ASSIGN_OR_RETURN(std::string tuples, options_.helpers.objects.keep(found.last_tuples));
    t.minimiser->share(options_.helpers, part(size), std::move(tuples));
  }
  RETURN_IF_ERROR(minimise(*t.minimiser));
  ++grammar_;
  add(t.minimiser->counts());
  if (options_.audit > 0) grammars_.push_back(std::move(t));
  return {};
}

Answers Run::with_helpers(Answers answers, const Deriver& deriver, const std::vector<Rule>& goals,
                          const DeriveOptions& how) {
  if (!options_.helpers) return answers;
  auto ask = asked_of(options_.helpers, deriver.rules(), goals, how);
  answers.others = [this, ask](const std::vector<Question>& asked) -> Result<std::vector<Answer>> {
    auto found = ask(asked);
    if (!found) asked_ = found.error();
    return found;
  };
  return answers;
}

/// Drops what follows from the rest in few steps, by terms that are not larger: a rule that only
/// others by way of large terms imply is worth having.
std::vector<char> Run::without_derivable() {
  DeriveOptions near;
  near.slack = 0;
  near.max_rounds = 2;
  near.max_nodes = 2000;
  const std::vector<Rule>& rules = collector_.rules();
  DropOptions quick;
  quick.by_no_larger = quick.once = true;
  const Deriver all(rules, near);
  std::vector<char> keep = minimal_set(all, quick, threads_, stop_,
                                       with_helpers(remembered(checkpoint_.near), all, rules, near))
                               .remains;
  std::vector<Rule> kept, dropped;
  std::vector<size_t> places;
  for (size_t k = 0; k < rules.size(); ++k) {
    (keep[k] ? kept : dropped).push_back(rules[k]);
    if (!keep[k]) places.push_back(k);
  }
  if (!asked_) return keep;
  DeriveOptions far;  // steps of dropped rules are several steps of kept ones
  far.slack = 1;
  const Deriver others(std::move(kept), far);
  auto answers = stop_.must_end() ? Answers() : remembered(checkpoint_.far);
  auto again = derivable(others, dropped, threads_, stop_,
                         with_helpers(std::move(answers), others, dropped, far));
  for (size_t k = 0; k < again.size(); ++k)
    if (!again[k]) keep[places[k]] = 1;
  return keep;
}

Result<GenerateReport> Run::finish() {
  std::vector<char> keep = without_derivable();
  if (!stop_.must_end()) RETURN_IF_ERROR(asked_);
  report_.removed_derivable = static_cast<uint64_t>(std::count(keep.begin(), keep.end(), 0));
  report_.removed_duplicate = collector_.duplicates();
  bool complete = report_.ended == Ended::Complete && !stop_.must_end();
  Domains domains(complete ? checkpoint_.domains : Domains::Map(), [&](const Domains::Map& all) {
    if (!complete) return;
    std::lock_guard lock(mutex_);
    if (seconds_since(saved_) >= kSaveSeconds) checkpoint_.domains = all;
    save_soon();
  });
  report_.candidates = collector_.finished(keep, threads_, domains);
  if (options_.audit > 0)
    report_.audit =
        audit(grammars_, report_.candidates, options_.audit, options_.seed, threads_, stop_);
  if (stop_.must_end()) report_.ended = Ended::Stopped;
  if (options_.save && !checkpoint_.grammars.empty()) options_.save(checkpoint_);
  return std::move(report_);
}

}  // namespace

Result<GenerateReport> generate(const GenerateOptions& options, const Stop& stop) {
  if (auto set = find_op_set(options.ops)) return generate(*set, options, stop);
  std::string known;
  for (std::string_view name : op_set_names()) known += " " + std::string(name);
  return error("--ops " + options.ops + ": no such op set; there are:" + known +
               suggestion(options.ops, {op_set_names().begin(), op_set_names().end()}));
}

Result<GenerateReport> generate(const OpSet& set, const GenerateOptions& options,
                                const Stop& stop) {
  double cpu = cpu_seconds();
  auto start = Clock::now();
  Run run(options, stop);
  for (const Grammar& grammar : set.grammars) RETURN_IF_ERROR(run.grammar(grammar));
  ASSIGN_OR_RETURN(GenerateReport report, run.finish());
  report.cpu_seconds = cpu_seconds() - cpu;
  report.wall_seconds = seconds_since(start);
  report.peak_bytes = static_cast<uint64_t>(peak_bytes());
  return report;
}

}  // namespace regraft::gen
