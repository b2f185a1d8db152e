#include "cli/options/options.h"

#include "cli/options/shared.h"
#include "gen/grammar/op_sets.h"

namespace regraft::cli {

namespace {

std::string names_of_op_sets() {
  std::string names;
  for (std::string_view name : gen::op_set_names())
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace

void add_generate(CLI::App& root, GenerateFlags& f, int& code) {
  auto* app = root.add_subcommand(
      "generate", "enumerate operator subgraphs and pair those that compute the same");
  app->add_option("--ops", f.ops, "operator set: " + names_of_op_sets())->capture_default_str();
  app->add_option("--max-size", f.max_size, "operators on a side")
      ->check(CLI::Range(1, 5))
      ->capture_default_str();
  app->add_option("-o,--out", f.out, "file of candidate rules")->required();
  add_memory(*app, f.common, "GB that the process may hold before enumeration stops cleanly");
  app->add_option("--audit", f.audit,
                  "Draw so many random pairs of equal terms and derive them from the candidates")
      ->check(kWhole);
  app->add_option("--checkpoint", f.checkpoint,
                  "file to save progress in; a run that finds it there goes on from it")
      ->check(kKeptFile);
  add_fleet(*app, f.fleet);
  add_common(*app, f.common);
  add_time(*app, f.common);
  app->callback([&] { code = run_generate(f); });
}

void add_verify(CLI::App& root, VerifyFlags& f, int& code) {
  auto* app = root.add_subcommand(
      "verify", "prove or refute the rules of files, whatever these claim of them");
  app->add_option("rules", f.in, "rule files, judged together, or one of TASO's (graph_subst.pb)")
      ->required();
  app->add_option("-o,--out", f.out, "file of the proved rules, of one rule file");
  app->add_option("--cache", f.cache,
                  "file to keep verdicts in; a run that finds it there judges only what is new")
      ->check(kKeptFile);
  app->add_option("--derivations", f.derivations,
                  "file to write a derivation to for each proof that the kernel accepts; "
                  "compressed if its name ends with .gz");
  app->add_flag_callback(
      "--keep-witnesses", [&f] { f.keep_witnesses = true; },
      "write no better numerics than the file says: its witnesses stand");
  app->add_flag_callback(
      "--no-replay", [&f] { f.replay = false; },
      "prove anew also what the derivations beside a file (F.derivations.gz) show");
  app->add_flag_callback(
      "--no-kernel", [&f] { f.kernel = false; },
      "ask the provers alone: what they prove is proved:solver");
  add_fleet(*app, f.fleet);
  app->add_flag_callback(
      "--fold", [&f] { f.fold = true; },
      "write families in place of proved rules that differ in axes only");
  app->add_flag_callback(
      "--no-conditions", [&f] { f.find_conditions = false; },
      "refute what does not hold as it stands, without looking for a condition");
  add_common(*app, f.common);
  add_time(*app, f.common);
  add_memory(*app, f.common, kMemory);
  app->callback([&] { code = run_verify(f); });
}

void add_work(CLI::App& root, WorkFlags& f, int& code) {
  auto* app = root.add_subcommand(
      "work", "do tasks of `generate`, `verify` and `train` that run with the same --store");
  app->add_option("store", f.store, "folder of tasks and results")->required();
  app->add_option("--lease", f.lease_seconds,
                  "seconds after which the work of a silent worker is another's")
      ->check(kLeaseSeconds);
  app->add_option("--wait", f.patience, "seconds to wait for work to begin")->check(kSeconds);
  app->add_flag_callback(
      "-q,--quiet", [&f] { f.common.verbosity = Verbosity::Quiet; }, "print nothing");
  add_time(*app, f.common);
  add_memory(*app, f.common, kMemory);
  app->callback([&] { code = run_work(f); });
}

void add_rules(CLI::App& root, RulesFlags& f, int& code) {
  auto* app = root.add_subcommand("rules", "look into a rule file")->require_subcommand(1);
  auto* show = app->add_subcommand("show", "print its rules");
  show->add_option("file", f.file, "rule file; default: the shipped ones");
  show->add_option("--json", f.common.json, "write them to this file as well (-: stdout)");
  show->add_flag_callback(
      "-q,--quiet", [&f] { f.common.verbosity = Verbosity::Quiet; }, "print nothing");
  show->callback([&] { code = run_rules_show(f); });
  auto* stats = app->add_subcommand("stats", "count its rules");
  stats->add_option("file", f.file, "rule file")->required();
  stats->add_option("--json", f.common.json, "write the counts to this file (-: stdout)");
  stats->callback([&] { code = run_rules_stats(f); });
}

void add_rules_export(CLI::App& root, ExportFlags& f, int& code) {
  auto* app = root.get_subcommand("rules")->add_subcommand(
      "export", "write proved rules in the format of another program, those that it can express");
  app->add_option("--taso", f.in, "rule file to write as TASO's protobuf")->required();
  app->add_option("-o,--out", f.out, "graph_subst.pb")->required();
  app->callback([&] { code = run_rules_export(f); });
}

void add_rules_proof(CLI::App& root, ProofFlags& f, int& code) {
  auto* app = root.get_subcommand("rules")->add_subcommand(
      "proof", "print a proof of a rule, checked by the kernel, as a person would write it");
  app->add_option("name", f.name, "name of the rule")->required();
  app->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  app->add_option("--derivations", f.derivations,
                  "file of derivations; default: the one beside the rule file");
  app->add_option("--proof", f.proof,
                  "which of the rule's proofs, as \"> a:nn b:n1\"; default: the first");
  app->add_option("--html", f.html, "write a page (HTML) to this file instead");
  app->callback([&] { code = run_rules_proof(f); });
}

void add_rules_atlas(CLI::App& root, AtlasFlags& f, int& code) {
  auto* app = root.get_subcommand("rules")->add_subcommand(
      "atlas", "write a site of the rules: a page for each, with drawings, proof and prices");
  app->add_option("-o,--out", f.out, "folder for the site; made where it is not there")->required();
  app->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  app->add_option("--court", f.court, "file of bench/court: which tools apply which rule");
  app->add_flag_callback(
      "-q,--quiet", [&f] { f.common.verbosity = Verbosity::Quiet; }, "print nothing");
  app->add_option("--threads", f.common.threads, "threads; 0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app->callback([&] { code = run_rules_atlas(f); });
}

namespace {

void add_derive_limits(CLI::App& app, gen::DeriveOptions& limits) {
  app.add_option("--max-nodes", limits.max_nodes, "calls in an e-graph")
      ->check(CLI::Range(100, 10'000'000))
      ->capture_default_str();
  app.add_option("--slack", limits.slack, "calls by which a term may exceed the larger side")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_option("--max-steps", limits.max_steps, "calls looked at in an e-graph")
      ->check(CLI::Range(1000, 2'000'000'000))
      ->capture_default_str();
}

}  // namespace

void add_rules_work(CLI::App& root, DeriveFlags& d, ImportFlags& i, int& code) {
  auto* rules = root.get_subcommand("rules");
  auto* derive = rules->add_subcommand(
      "derive", "does each rule follow from other rules? looks at a few random sizes");
  derive->add_option("goals", d.goals, "file of the rules in question")->required();
  derive->add_option("--from", d.from, "files of the rules to derive from")->required();
  add_derive_limits(*derive, d.limits);
  add_common(*derive, d.common);
  add_time(*derive, d.common);
  derive->callback([&] { code = run_rules_derive(d); });
  auto* import =
      rules->add_subcommand("import", "read TASO's file of substitutions (protobuf) as candidates");
  import->add_option("file", i.in, "graph_subst.pb")->required();
  import->add_option("-o,--out", i.out, "file of candidate rules")->required();
  add_common(*import, i.common);
  import->callback([&] { code = run_rules_import(i);
});
}  // namespace regraft::cli

void add_rules_minimise(CLI::App& root, MinimiseFlags& f, int& code) {
  auto* app = root.get_subcommand("rules")->add_subcommand(
      "minimise", "leave out rules that follow from the others, of all files together");
  app->add_option("files", f.files, "rule files")->required();
  app->add_option("-o,--out", f.out, "folder for the files with what remains")->required();
  app->add_option("--keep", f.keep, "file of names of rules that remain whatever they follow from");
  app->add_flag("--without-ones", f.without_ones,
                "leave out rules too that hold only where some size is 1");
  add_derive_limits(*app, f.limits);
  add_common(*app, f.common);
  add_time(*app, f.common);
  app->callback([&] { code = run_rules_minimise(f); });
}

}  // namespace regraft::cli
