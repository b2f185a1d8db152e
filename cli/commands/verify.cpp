// Judges the rules of files and writes the proved ones.
#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/resources.h"
#include "base/terminal.h"
#include "cli/derivations/kernel_report.h"
#include "cli/fleet/verify_tasks.h"
#include "cli/support/commands.h"
#include "cli/support/evidence.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cli/support/verdict_cache.h"
#include "gen/minimise/fold.h"
#include "ir/algebra/scan.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

/// The rules of all files, in their order.
struct Candidates {
  std::vector<Rule> rules;
  std::vector<size_t> begins;  ///< of each file its first place in `rules`
  std::string generator;       ///< of the first file
};

Result<Candidates> read_all(std::span<const std::string> paths) {
  Candidates all;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(auto file, substitutions::read_candidates(path));
    if (all.begins.empty()) all.generator = std::move(file.generator);
    all.begins.push_back(all.rules.size());
    std::ranges::move(file.rules, std::back_inserter(all.rules));
  }
  return all;
}

const char* scope_of(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::ProvedAllSizes:
      return "all sizes, real arithmetic, checked by the kernel";
    case VerdictKind::ProvedSolver:
      return "all sizes, real arithmetic, by the provers alone";
    case VerdictKind::ProvedBounded:
      return "the shapes named, real arithmetic";
    case VerdictKind::Tested:
      return "random inputs";
    case VerdictKind::Refuted:
    case VerdictKind::Unknown:
      break;
  }
  return "";
}

/// Both directions in floating point, and on what that rests.
nlohmann::json numerics_of(const verify::Finding& f) {
  auto direction = [](const NumericVerdict& v, bool range_proved) -> nlohmann::json {
    return {{"verdict", to_string(v.kind)}, {"witness", v.witness}, {"range_proved", range_proved}};
  };
  const verify::NumericsReport& n = f.numerics;
  nlohmann::json j = {{"forward", direction(f.rule.numerics, n.forward_range_proved)},
                      {"samples", n.samples},
                      {"multiprecision_runs", n.multiprecision_runs},
                      {"milliseconds", n.milliseconds}};
  if (f.rule.both) j["backward"] = direction(f.rule.numerics_back, n.backward_range_proved);
  return j;
}

/// What is known of candidate `index`. The same candidate twice has one finding.
nlohmann::json record(size_t index, const Rule& candidate, const verify::VerifyReport& report) {
  nlohmann::json j = {{"name", candidate.name}};
  if (!report.places[index]) {
    j["verdict"] = "trivial";
    return j;
  }
  const verify::Finding& f = report.findings[*report.places[index]];
  nlohmann::json domain = nlohmann::json::array(), conditions = nlohmann::json::array();
  for (const Signature& s : f.rule.domain) domain.push_back(s);
  for (const Condition& c : f.rule.where)
    conditions.push_back(text::print(c.first) + std::string(text_of(c.relation)) +
                         text::print(c.second));
  for (const RealCondition& c : f.rule.real_where)
    conditions.push_back(c.first + std::string(text_of(c.relation)) + c.second);
  const Rule& written = report.rules[report.joined[*report.places[index]]];
  if (written.name != f.rule.name) j["stated_by"] = written.name;
  j.update({{"verdict", to_string(f.rule.verdict.kind)},
            {"scope", scope_of(f.rule.verdict.kind)},
            {"conditions", conditions},
            {"condition_found", f.condition},
            {"counterexample", f.refutation},
            {"detail", f.rule.verdict.detail},
            {"domain", domain},
            {"reversible", f.rule.both},
            {"rule", to_string(f.rule)},
            {"milliseconds", f.milliseconds},
            {"numerics", numerics_of(f)}});
  if (is_for_all_sizes(f.rule.verdict.kind)) j["kernel"] = kernel_record(f);
  if (f.counterexample) {
    j["evidence"] = json_of(*f.counterexample);
    j["counterexample_rule"] = to_string(f.refuted);
  }
  return j;
}

nlohmann::json counts_of(const std::map<Numerics, uint64_t>& numerics) {
  nlohmann::json j = nlohmann::json::object();
  for (const auto& [kind, n] : numerics) j[to_string(kind)] = n;
  return j;
}

nlohmann::json to_json(const verify::VerifyReport& report, const Candidates& candidates,
                       std::span<const std::string> files) {
  const auto& c = report.counters;
  nlohmann::json rules = nlohmann::json::array();
  std::map<size_t, size_t> first;  // of each finding the first candidate
  for (size_t k = 0, file = 0; k < candidates.rules.size(); ++k) {
    while (file + 1 < files.size() && candidates.begins[file + 1] <= k) ++file;
    nlohmann::json& j = rules.emplace_back(record(k, candidates.rules[k], report));
    j["file"] = files[file];
    j["index"] = k - candidates.begins[file];
    if (!report.places[k]) continue;
    auto [known, is_first] = first.emplace(*report.places[k], k);
    if (is_first) continue;
    j["same_as"] = candidates.rules[known->second].name;
    if (std::string of = rules[known->second]["file"]; of != files[file]) j["same_as_file"] = of;
  }
  return {{"candidates", c.candidates},
          {"duplicates", c.duplicates},
          {"trivial", c.trivial},
          {"joined", c.joined},
          {"proved", c.proved},
          {"proved_solver", c.by_provers},
          {"kernel", kernel_totals(c)},
          {"reversible", c.reversible},
          {"conditional", c.conditional},
          {"bounded", c.bounded},
          {"tested", c.tested},
          {"numerics", counts_of(c.numerics)},
          {"refuted", c.refuted},
          {"unknown", c.unknown},
          {"instances", c.instances},
          {"proofs", c.proofs},
          {"disagreements", c.disagreements},
          {"questions", c.solver.asked},
          {"solver_runs", c.solver.linear + c.solver.nonlinear},
          {"seconds", c.seconds},
          {"cpu_seconds", c.cpu_seconds},
          {"deriving_seconds", c.deriving},
          {"peak_bytes", peak_bytes()},
          {"interrupted", report.interrupted},
          {"rules", rules}};
}

std::string table_of(const verify::VerifyCounters& c) {
  Table table{{{"verify", "count"}}};
  const std::pair<const char*, uint64_t> rows[] = {
      {"candidates", c.candidates},
      {"duplicates", c.duplicates},
      {"trivial", c.trivial},
      {"proved, stated by another rule", c.joined},
      {"proved for all sizes", c.proved},
      {"of these by the provers alone", c.by_provers},
      {"of these in both directions", c.reversible},
      {"of these under a condition found", c.conditional},
      {"proved at some sizes", c.bounded},
      {"tested only", c.tested},
      {"refuted", c.refuted},
      {"unknown", c.unknown},
      {"rule instances", c.instances},
      {"instances proved", c.proofs},
      {"questions", c.solver.asked},
      {"solver runs", c.solver.linear + c.solver.nonlinear}};
  for (const auto& [name, n] : rows) table.rows.push_back({name, fmt::format("{}", n)});
  for (const auto& [kind, n] : c.numerics)
    table.rows.push_back({"directions " + to_string(kind), fmt::format("{}", n)});
  return to_string(table);
}

Status write_proved(OutputFile& out, const std::string& generator, const std::vector<Rule>& rules) {
  if (out.path().empty()) return {};
  substitutions::RuleFile proved;
  proved.generator = generator;
  proved.prover = prover_name();
  std::copy_if(rules.begin(), rules.end(), std::back_inserter(proved.rules),
               [](const Rule& r) { return is_proved(r.verdict.kind); });
  return substitutions::write_rules(out, proved);
}

bool holds_everywhere(const Rule& r) { return is_for_all_sizes(r.verdict.kind); }

/// What the kernel said of all findings.
void add_answers(verify::Answers& all, verify::VerifyReport& report) {
  for (verify::Finding& f : report.findings) all.merge(f.derivations);
}

/// Of each direction the worse of what was found and what the candidate's line says: that may have
/// a witness at a signature that was not among those looked at now.
void keep_witnesses(verify::VerifyReport& report, const std::vector<Rule>& candidates) {
  auto keep = [](NumericVerdict& found, const NumericVerdict& said) {
    if (said.kind != Numerics::Unknown && said.kind < found.kind) found = said;
  };
  for (size_t k = 0; k < candidates.size(); ++k) {
    if (!report.places[k]) continue;
    Rule& rule = report.rules[report.joined[*report.places[k]]];
    if (rule.name != candidates[k].name || rule.both != candidates[k].both) continue;
    keep(rule.numerics, candidates[k].numerics);
    keep(rule.numerics_back, candidates[k].numerics_back);
  }
}

/// The rules with families in place of what these say. What no proved family says stays.
std::vector<Rule> folded(const std::vector<Rule>& rules, const verify::VerifyOptions& options,
                         verify::Answers& answers, const Stop& stop) {
  std::vector<Rule> proved;
  std::copy_if(rules.begin(), rules.end(), std::back_inserter(proved), holds_everywhere);
  std::vector<Rule> families = gen::families_of(proved);
  verify::VerifyReport report = verify::verify_rules(families, options, stop);
  add_answers(answers, report);
  std::vector<Rule> judged = std::move(report.rules);
  std::erase_if(judged, [](const Rule& r) { return !holds_everywhere(r); });
  std::vector<Rule> left = gen::beyond(rules, judged);
  fmt::print(results(), "{} rules: {} families, {} proved; {} rules remain beside them\n",
             rules.size(), families.size(), judged.size(), left.size());
  left.insert(left.end(), judged.begin(), judged.end());
  std::sort(left.begin(), left.end(), [](const Rule& a, const Rule& b) { return a.name < b.name; });
  return left;
}

void print(const verify::VerifyReport& report) {
  for (const verify::Finding& f : report.findings) {
    if (f.rule.verdict.kind == VerdictKind::Refuted)
      fmt::print(results(), "{} {}: {}\n", painted("refuted:", Colour::Red, results()), f.rule.name,
                 f.refutation);
    if (!f.condition.empty())
      fmt::print(results(), "only where {}: {}: refuted without: {}\n", f.condition, f.rule.name,
                 f.refutation);
  }
  fmt::print(results(), "{}{:.1f} s, {:.1f} s of CPU, peak {}\n", table_of(report.counters),
             report.counters.seconds, report.counters.cpu_seconds,
             human_bytes(static_cast<double>(peak_bytes())));
}

bool is_of_taso(const std::string& path) { return path.ends_with(".pb"); }

/// What is written of rules is of one file: two may give one name to two rules.
Status valid(const VerifyFlags& flags) {
  if (flags.in.size() > 1 && !(flags.out + flags.derivations).empty())
    return error("-o and --derivations: of one rule file");
  if (!flags.kernel && !flags.derivations.empty())
    return error("--derivations: not with --no-kernel");
  std::vector<NamedFile> outputs = {{"the verdicts kept", flags.cache},
                                    {"the report", flags.common.json},
                                    {"the derivations", flags.derivations}};
  std::vector<NamedFile> inputs = named("the rules", flags.in), beside;
  RETURN_IF_ERROR(require_distinct(inputs, outputs));
  NamedFile proved{"the proved rules", flags.out};
  for (const std::string& rules : flags.in) {
    beside.push_back({"the derivations beside the rules", derivations_beside(rules)});
    if (is_of_taso(rules)) RETURN_IF_ERROR(require_distinct(inputs, {proved}));
  }
  RETURN_IF_ERROR(require_distinct(beside, {outputs[0], outputs[1], proved}));
  // A file of rules may be verified in its own place, and its derivations be found anew.
  outputs.push_back(proved);
  return require_distinct({}, outputs);
}

/// They are written to where those of the rules are looked for.
bool is_beside(const std::string& derivations, const std::string& rules) {
  auto own = derivations.empty() ? std::nullopt : identity_of(derivations);
  return own && own == identity_of(derivations_beside(rules));
}

}  // namespace

int run_verify(const VerifyFlags& flags) {
  if (auto s = valid(flags); !s) return bad_input(s.error());
  if (auto taso = std::ranges::find_if(flags.in, is_of_taso); taso != flags.in.end()) {
    if (flags.in.size() > 1) return bad_input(error(*taso + ": TASO's files are judged alone"));
    if (!flags.fleet.store.empty()) return bad_input(error("--store: not for TASO's files"));
    if (!flags.derivations.empty()) return bad_input(error("--derivations: not for TASO's files"));
    return run_verify_taso(flags);
  }
  auto file = read_all(flags.in);
  if (!file) return bad_input(file.error());
  verify::VerifyOptions options;
  options.seed = flags.common.seed;
  options.threads = thread_count(flags.common);
  options.verbosity = flags.common.verbosity;
  options.kernel = flags.kernel;
  if (flags.find_conditions) options.conditions = verify::Conditions::Found;
  auto out = OutputFile::open(flags.out);
  if (!out) return bad_input(out.error());
  auto machine_report = OutputFile::open(flags.common.json);
  if (!machine_report) return bad_input(machine_report.error());
  auto derivations = OutputFile::open(flags.derivations);
  if (!derivations) return bad_input(derivations.error());
  bool alone = flags.fleet.store.empty();  // workers have no derivations at hand
  Missing missing = flags.derivations.empty() ? Missing::AsSaid : Missing::Again;
  auto book = flags.replay && flags.kernel && alone ? book_beside(flags.in, missing) : nullptr;
  options.derivations = book.get();
  verify::VerifyOptions as_begun = options;  // what the same command wrote beside is no news
  if (is_beside(flags.derivations, flags.in[0])) as_begun.derivations = nullptr;
  auto cache = VerdictCache::open(flags.cache, as_begun);
  if (!cache) return bad_input(cache.error());
  Stop stop(flags.common.seconds, memory_limit(flags.common));
  auto fleet = FleetRun::begin(flags.fleet, flags.common);
  if (!fleet) return bad_input(fleet.error());
  verify::VerdictStore known = (*cache)->store();
  if (*fleet) {
    auto judged = judge_by_fleet(**fleet, file->rules, options, known, stop);
    if (!judged && !Stop::was_interrupted()) return bad_input(judged.error());
    if (judged) known = *std::move(judged);
  }
  auto report = verify::verify_rules(file->rules, options, stop, known);
  Stop::acknowledge_interrupt();
  if (report.interrupted)
    tell("stopped early; rules not reached are unknown" +
         (flags.cache.empty() ? "" : "; the same command goes on from " + flags.cache));
  Stop ended(stop, 0.0);  // what was not done until an interruption is left out
  if (report.interrupted) ended.request();
  Status written = (*cache)->status();
  if (flags.keep_witnesses) keep_witnesses(report, file->rules);
  verify::Answers answers;
  add_answers(answers, report);
  std::vector<Rule> rules =
      flags.fold ? folded(report.rules, options, answers, ended) : report.rules;
  if (written) written = write_proved(*out, file->generator, rules);
  if (written) written = write_derivations(*derivations, rules, answers, options, ended);
  if (written) written = machine_report->write(to_text(to_json(report, *file, flags.in), 2));
  if (written) written = commit_all({&*out, &*derivations, &*machine_report});
  if (!written) return bad_input(written.error());
  if (flags.common.verbosity == Verbosity::Normal) {
    print(report);
    fmt::print(results(), "{}", kernel_summary(report.counters));
    if (*fleet) fmt::print(results(), "{}", (*fleet)->summary());
  }
  for (const verify::Finding& f : report.findings)
    if (f.counters.disagreements > 0)
      tell("error: rule " + f.rule.name + ": " + f.rule.verdict.detail);
  if (report.counters.disagreements > 0) return kFailed;
  if (Stop::was_interrupted()) return kInterrupted;
  bool all_proved = report.counters.refuted + report.counters.unknown + report.counters.tested == 0;
  return flags.out.empty() && !all_proved ? kFailed : kDone;
}

}  // namespace regraft::cli
