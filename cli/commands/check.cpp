// Compares two models on random inputs; writes a model back.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "certify/basis.h"
#include "certify/check.h"
#include "certify/validation.h"
#include "cli/optimization/bisection.h"
#include "cli/support/commands.h"
#include "cli/support/compare_models.h"
#include "cli/support/evidence.h"
#include "cli/support/float_check.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cli/validation/validation_report.h"
#include "io/defaults.h"
#include "rewrite/compare/compare.h"

namespace regraft::cli {

namespace {

/// The report, opened before the work begins. Of what models lie in further files only their own
/// readers know.
Result<OutputFile> open_report(const CheckFlags& flags) {
  auto inputs = named("what is checked", {flags.a, flags.b});
  for (auto& file : named("the certificate", {flags.certificate, flags.validation}))
    inputs.push_back(file);
  RETURN_IF_ERROR(require_distinct(inputs, {{"the report", flags.common.json}}));
  return OutputFile::open(flags.common.json);
}

/// Writes the report; `code`, or that of a failure to write.
int end(OutputFile& output, const nlohmann::json& report, int code) {
  Status written = output.write(to_text(report, 2));
  if (written) written = output.commit();
  return written ? code : bad_input(written.error());
}

/// What was replayed does not fit.
int refused(OutputFile& output, const std::string& file, const Error& why) {
  tell(file + ": " + why.message);
  return end(output, {{"passed", false}, {"reason", why.message}}, kFailed);
}

int check_rule(const CheckFlags& flags, OutputFile& output) {
  auto differs = replay_report(flags.a, flags.rule);
  if (!differs) return bad_input(differs.error());
  return end(output, {{"rule", flags.rule}, {"differs", *differs}}, *differs ? kFailed : kDone);
}

/// Nodes that the certificate carries over without understanding them.
size_t opaque_nodes(const io::Imported& m) {
  size_t n = 0;
  for (int32_t id = 0; id < m.graph.id_bound(); ++id)
    n += m.graph.contains(id) && m.graph.node(id).kind == NodeKind::Opaque;
  return n;
}

/// How many bodies were made anew, and the steps that were done in them.
std::pair<size_t, size_t> in_bodies(const certify::Derivation& done) {
  std::pair<size_t, size_t> all;
  for (const certify::BodyDerivation& b : done.bodies) {
    auto inner = in_bodies(b.done);
    all.first += 1 + inner.first;
    all.second += b.done.steps.size() + inner.second;
  }
  return all;
}

/// Says all that was checked.
void print_checked(const CheckFlags& flags, const certify::Certificate& c,
                   const std::vector<Rule>& rules, const io::Imported& input) {
  certify::Basis basis;
  for (const Rule& rule : rules) basis.add(rule.verdict.kind);
  fmt::print(results(), "{} steps with {} rules lead from {} to {}\n", c.done.steps.size(),
             c.rules.size(), flags.a, flags.b);
  if (!c.done.bodies.empty()) {
    auto [bodies, steps] = in_bodies(c.done);
    fmt::print(results(), "bodies  {} made anew, {} steps in them\n", bodies, steps);
  }
  fmt::print(results(), "input   sha256 {}, all constants included\n", hex(c.input));
  fmt::print(results(), "output  sha256 {}, all constants included\n", hex(c.output));
  fmt::print(results(), "rules   {}: {}\n",
             flags.prove ? "proved anew, for the shapes that each lists"
                         : "sealed, not proved anew (--prove)",
             to_string(basis));
  fmt::print(results(), "steps   each found again as a match of its rule, and applied\n");
  fmt::print(results(), "opaque  {} nodes, carried over as they are\n", opaque_nodes(input));
}

/// Which step of the certificate breaks the user's own test.
int bisect_certificate(const CheckFlags& flags, const certify::Certificate& certificate,
                       const io::Imported& a, const Stop& stop) {
  const bool changed = !certificate.done.steps.empty() || !certificate.done.folded.empty();
  auto code =
      bisect({a, certificate, changed, flags.bisect, flags.b, flags.common.verbosity}, stop);
  if (code) return *code;
  if (!Stop::was_interrupted()) return bad_input(code.error());
  tell(code.error().message);
  return kInterrupted;
}

int check_by_certificate(const CheckFlags& flags, OutputFile& report, const Stop& stop) {
  auto certificate = certify::read_certificate(flags.certificate);
  if (!certificate) return bad_input(certificate.error());
  auto a = io::load(flags.a), b = io::load(flags.b);
  if (!a) return bad_input(a.error());
  if (!b) return bad_input(b.error());
  std::vector<NamedFile> inputs = with_data("a model", flags.a, *a);
  for (auto& file : with_data("a model", flags.b, *b)) inputs.push_back(file);
  inputs.push_back({"the certificate", flags.certificate});
  if (auto s = require_distinct(inputs,
                                named("a model that is kept", kept_models(flags.bisect, flags.b)));
      !s)
    return bad_input(s.error());
  auto input = digest_of(*a), output = digest_of(*b);
  if (!input) return bad_input(error(flags.a + ": " + input.error().message));
  if (!output) return bad_input(error(flags.b + ": " + output.error().message));
  Result<std::vector<Rule>> rules(certificate->rules);
  if (flags.prove)
    rules = certify::prove_rules(certificate->rules, flags.common.seed, thread_count(flags.common));
  Status status = rules ? certify::check_certificate(*certificate, *rules, {*a, *input, *output})
                        : Status(rules.error());
  if (!status) return refused(report, flags.certificate, status.error());
  print_checked(flags, *certificate, *rules, *a);
  int code = end(report,
                 {{"passed", true},
                  {"steps", certificate->done.steps.size()},
                  {"rules", certificate->rules.size()},
                  {"proved", flags.prove}},
                 kDone);
  if (code != kDone) return code;
  if (!flags.bisect.command.empty()) return bisect_certificate(flags, *certificate, *a, stop);
  return kDone;
}

int check_validation(const CheckFlags& flags, OutputFile& report, const Stop& stop) {
  auto certificate = certify::read_proof(flags.validation);
  if (!certificate) return bad_input(certificate.error());
  io::FixedSizes sizes;
  sizes.dims = certificate->sizes;
  auto a = io::load(flags.a, sizes), b = io::load(flags.b);
  if (!sizes.dims.empty())
    if (auto fixed = io::load(flags.b, sizes)) b = std::move(fixed);
  if (!a) return bad_input(a.error());
  if (!b) return bad_input(b.error());
  auto proved = certify::check_proof(*certificate, *a, *b, flags.common.seed,
                                     thread_count(flags.common), stop);
  if (!proved) return refused(report, flags.validation, proved.error());
  auto outputs = nlohmann::json::array();
  for (const auto& o : proved->outputs) {
    fmt::print(results(), "{:<24} {}\n", certify::to_string(o.verdict), printable(o.a));
    outputs.push_back({{"name", o.a}, {"verdict", certify::to_string(o.verdict)}});
  }
  fmt::print(results(), "{} windows proved anew: {}\n", proved->sweep.windows.size(),
             to_string(proved->windows()));
  fmt::print(results(), "{} rules proved anew: {}\n", certificate->rules.size(),
             to_string(proved->rules));
  int code = exit_code(proved->verdict());
  return end(report,
             {{"passed", code == kDone},
              {"verdict", certify::to_string(proved->verdict())},
              {"outputs", outputs},
              {"windows", proved->sweep.windows.size()},
              {"rules", certificate->rules.size()}},
             code);
}

}  // namespace

int run_check(const CheckFlags& flags) {
  Stop stop(flags.common.seconds, memory_limit(flags.common));
  auto output = open_report(flags);
  if (!output) return bad_input(output.error());
  if (!flags.rule.empty()) return check_rule(flags, *output);
  if (!flags.certificate.empty()) return check_by_certificate(flags, *output, stop);
  if (!flags.validation.empty()) return check_validation(flags, *output, stop);
  auto a = io::load(flags.a);
  if (!a) return bad_input(a.error());
  auto b = io::load(flags.b);
  if (!b) return bad_input(b.error());
  std::vector<NamedFile> inputs = with_data("a model", flags.a, *a);
  for (auto& file : with_data("a model", flags.b, *b)) inputs.push_back(file);
  if (auto s = require_distinct(inputs, {{"the report", flags.common.json}}); !s)
    return bad_input(s.error());
  auto check = compare_models(flags.check_on, *a, *b, flags.runs, flags.common, stop);
  if (!check) return bad_input(error(flags.b + ": " + check.error().message));
  rewrite::CheckReport* report = &check->report;
  if (!report->unfinished.empty() && Stop::was_interrupted()) {
    tell("interrupted before the models were compared");
    return kInterrupted;
  }
  if (std::string input = io::differing_default(*a, *b); report->agrees && !input.empty()) {
    report->agrees = false;
    report->worst = "the default of input " + input;
  }
  fmt::print(results(), "{}\n", printable(describe(*report)));
  if (check->bodies > 0)
    fmt::print(results(), "{} bodies that differ in form were compared\n", check->bodies);
  bool passed = report->agrees && rewrite::incomplete(*report).empty();
  nlohmann::json json = json_of(*report);
  json["passed"] = passed;
  json["bodies_compared"] = check->bodies;
  return end(*output, json, passed ? kDone : kFailed);
}

int run_roundtrip(const CheckFlags& flags) {
  auto imported = io::load(flags.a);
  if (!imported) return bad_input(imported.error());
  if (auto status = io::save(*imported, imported->graph, flags.b); !status)
    return bad_input(status.error());
  return kDone;
}

}  // namespace regraft::cli
