// Proves that two models compute the same, or finds where they do not.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/parallel.h"
#include "cli/options/validate.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cli/support/rule_set.h"
#include "cli/validation/validation_page.h"
#include "cli/validation/validation_report.h"
#include "io/interface.h"

namespace regraft::cli {
namespace {

using certify::Equivalence;

constexpr double kSampleSeconds = 10, kReduceSeconds = 4, kLocateSeconds = 8;

/// "batch=2" as a size; the word "symbolic" is none.
Result<io::FixedSizes> sizes_of(const ValidateFlags& flags) {
  SizeFlags sizes;
  for (const std::string& s : flags.sizes)
    if (s != "symbolic") sizes.dims.push_back(s);
  sizes.dim_option = "--sizes";
  return fixed_sizes(sizes);
}

/// Both models, with the sizes fixed that the second one fixes.
Status load_both(const ValidateFlags& flags, io::FixedSizes& sizes, ValidationReport& report) {
  ASSIGN_OR_RETURN(report.a, io::load(flags.a, sizes));
  ASSIGN_OR_RETURN(report.b, io::load(flags.b));
  auto pairing = certify::pair_interfaces(report.a, report.b);
  for (const verify::FixedSize& f :
       verify::sizes_fixed(report.a.graph, report.b.graph, pairing.matching))
    if (sizes.dims.emplace(f.name, f.size).second)
      report.fixed.push_back(fmt::format("{}={}", f.name, f.size));
  if (!sizes.dims.empty()) {
    // The second model may have the same open sizes.
    ASSIGN_OR_RETURN(report.a, io::load(flags.a, sizes));
    if (auto b = io::load(flags.b, sizes)) report.b = *std::move(b);
  }
  return {};
}

ReplayModel replay_model(const std::string& file, const io::Imported& model,
                         const std::vector<int>& inputs, const std::vector<int>& outputs) {
  io::Interface names = io::interface_of(model);
  ReplayModel r{file, {}, {}};
  for (int k : inputs) r.inputs.push_back(k < 0 ? "" : names.inputs[static_cast<size_t>(k)].name);
  for (int k : outputs) r.outputs.push_back(names.outputs[static_cast<size_t>(k)].name);
  return r;
}

/// By node of the joint graph: it draws random numbers in one of the models.
std::vector<char> random_nodes_of(const ValidationReport& report) {
  const verify::Pair& pair = report.validation.given;
  std::vector<char> random = io::random_nodes(report.a), of_b = io::random_nodes(report.b);
  random.resize(static_cast<size_t>(pair.graph.id_bound()), 0);
  for (size_t k = 0; k < of_b.size(); ++k)
    if (of_b[k] != 0 && pair.from_b[k] >= 0) random[static_cast<size_t>(pair.from_b[k])] = 1;
  return random;
}

/// The pairs of outputs that runs can tell apart: those that draw no random numbers.
std::vector<size_t> told_apart_by_runs(const ValidationReport& report) {
  const verify::Pair& pair = report.validation.given;
  std::vector<char> random = random_nodes_of(report);
  auto order = topological_order(pair.graph);
  if (!order) return {};
  for (int32_t id : *order)
    for (Value v : pair.graph.node(id).inputs)
      random[static_cast<size_t>(id)] |= random[static_cast<size_t>(v.node)];
  std::vector<size_t> kept;
  for (size_t k = 0; k < pair.a.size(); ++k)
    if (random[static_cast<size_t>(pair.a[k].node)] == 0 &&
        random[static_cast<size_t>(pair.b[k].node)] == 0)
      kept.push_back(k);
  return kept;
}

template <class T>
std::vector<T> at(const std::vector<T>& all, const std::vector<size_t>& places) {
  std::vector<T> some;
  for (size_t k : places) some.push_back(all[k]);
  return some;
}

/// Looks for a counterexample of the outputs that were not proved.
Status look_for_counterexample(const ValidateFlags& flags, ValidationReport& report,
                               const Stop& stop) {
  certify::Validation& v = report.validation;
  const verify::Matching& m = v.pairing.matching;
  size_t of_a = report.a.graph.inputs().size();
  std::vector<int> inputs_a, inputs_b(of_a, -1), outputs_a, outputs_b;
  for (size_t k = 0; k < of_a; ++k) inputs_a.push_back(static_cast<int>(k));
  for (size_t k = 0; k < m.inputs.size(); ++k) {
    if (m.inputs[k] >= 0) {
      inputs_b[static_cast<size_t>(m.inputs[k])] = static_cast<int>(k);
      continue;
    }
    inputs_a.push_back(-1);  // the joint graph has the second model's own inputs at its end
    inputs_b.push_back(static_cast<int>(k));
  }
  for (size_t k = 0; k < m.outputs.size(); ++k)
    if (m.outputs[k] >= 0) {
      outputs_a.push_back(static_cast<int>(k));
      outputs_b.push_back(m.outputs[k]);
    }
  report.compared = told_apart_by_runs(report);
  const std::vector<size_t>& kept = report.compared;
  if (kept.empty()) return {};
  verify::Pair pair = v.given;
  pair.a = at(pair.a, kept);
  pair.b = at(pair.b, kept);
  RefuteOptions options;
  options.search.seed = flags.common.seed;
  options.search.sample_seconds = kSampleSeconds;
  options.search.reduce_seconds = kReduceSeconds;
  options.search.locate_seconds = kLocateSeconds;
  auto found =
      refute(replay_model(flags.a, report.a, inputs_a, at(outputs_a, kept)), first_of(pair),
             replay_model(flags.b, report.b, inputs_b, at(outputs_b, kept)), second_of(pair),
             options, stop);
  if (!found && stop.must_end()) return {};  // it ended the runtime
  if (!found) return found.error();
  report.refutation = *std::move(found);
  if (!report.refutation->refuted()) return {};
  const Refutation& r = *report.refutation;
  size_t place = r.replay && r.replay->differs ? r.replay->output : r.counterexample->output;
  if (place >= kept.size()) return {};
  size_t output = kept[place], of_pair = 0;
  for (size_t k = 0; k < v.outputs.size(); ++k) {
    if (m.outputs[k] < 0 || of_pair++ != output) continue;
    if (v.outputs[k].verdict >= Equivalence::UpToConstants) continue;  // a proof stands
    v.outputs[k].verdict = Equivalence::Refuted;
    v.outputs[k].reason = "differs at the counterexample";
  }
  return {};
}

/// Proves or refutes. What looks wrong on random inputs is refuted before proofs are tried.
Status judge(const ValidateFlags& flags, certify::ValidationOptions options,
             ValidationReport& report, const Stop& stop) {
  constexpr double kOfTheTime = 0.6;  // a proof may take; the rest is for a counterexample
  constexpr double kLongest = 40;  // seconds that a counterexample is looked for, of large models
  options.try_suspects = false;
  Stop first = Stop::within(stop, kOfTheTime * flags.common.seconds);  // 0: no limit
  ASSIGN_OR_RETURN(report.validation, certify::validate(report.a, report.b, options, first));
  certify::Validation& v = report.validation;
  if (v.verdict() != Equivalence::Unknown || stop.requested()) return {};
  Stop second = Stop::within(stop, kLongest);
  RETURN_IF_ERROR(look_for_counterexample(flags, report, second));
  if (v.verdict() != Equivalence::Unknown || !v.postponed || stop.must_end()) return {};
  options.try_suspects = true;
  ASSIGN_OR_RETURN(v, certify::validate(report.a, report.b, options, stop));
  return {};
}

/// The files that the command writes.
struct Outputs {
  OutputFile json, certificate, page;
};
Result<Outputs> open_outputs(const ValidateFlags& flags, const ValidationReport& report) {
  std::vector<NamedFile> inputs = with_data("a model", flags.a, report.a);
  for (auto& file : with_data("a model", flags.b, report.b)) inputs.push_back(file);
  for (auto& file : named("a rule file", rule_files(flags.rules))) inputs.push_back(file);
  RETURN_IF_ERROR(require_distinct(inputs, {{"the report", flags.common.json},
                                            {"the certificate", flags.certificate},
                                            {"the page", flags.html}}));
  Outputs files;
  ASSIGN_OR_RETURN(files.json, OutputFile::open(flags.common.json));
  ASSIGN_OR_RETURN(files.certificate, OutputFile::open(flags.certificate));
  ASSIGN_OR_RETURN(files.page, OutputFile::open(flags.html));
  return files;
}

}  // namespace

int run_validate(const ValidateFlags& flags) {
  auto start = std::chrono::steady_clock::now();
  Stop stop(flags.common.seconds, memory_limit(flags.common));
  auto sizes = sizes_of(flags);
  if (!sizes) return bad_input(sizes.error());
  ValidationReport report;
  report.file_a = std::filesystem::path(flags.a).filename().string();
  report.file_b = std::filesystem::path(flags.b).filename().string();
  if (auto s = load_both(flags, *sizes, report); !s) return bad_input(s.error());
  auto files = open_outputs(flags, report);
  if (!files) return bad_input(files.error());
  auto rules = load_rules({.files = flags.rules, .numerics = Numerics::Unknown});
  if (!rules) return bad_input(rules.error());
  certify::ValidationOptions options;
  options.rules = &*rules;
  options.sweep.threads = flags.common.threads;
  options.sweep.constants = flags.constants == "auto";
  if (auto s = judge(flags, options, report, stop); !s)
    return bad_input(error(flags.b + ": " + s.error().message));
  if (flags.numerics)
    report.numerics =
        numerics_of_windows(report.validation.sweep, flags.common.seed, flags.common.threads, stop);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.common.verbosity != Verbosity::Quiet) fmt::print(results(), "{}", text_of(report));
  Status written = files->json.write(to_text(json_of(report), 2));
  if (written && !flags.html.empty()) written = files->page.write(validation_page(report));
  if (written && !flags.certificate.empty()) {
    auto proof = certify::make_proof(report.a, report.b, report.validation, options, sizes->dims);
    written = proof ? files->certificate.write(certify::to_text(*proof)) : Status(proof.error());
  }
  if (written) written = commit_all({&files->certificate, &files->json, &files->page});
  if (!written) return bad_input(written.error());
  return exit_code(report.validation.verdict());
}

}  // namespace regraft::cli
