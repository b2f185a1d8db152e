#include "cli/options/options.h"

#include "cli/options/shared.h"

namespace regraft::cli {

void add_check(CLI::App& root, CheckFlags& f, CheckFlags& round, int& code) {
  auto* app = root.add_subcommand(
      "check", "compare two models on random inputs, or replay a certificate or a counterexample");
  app->add_option("a", f.a,
                  "ONNX model; with --rule a report of verify --json, with --derivations a rule "
                  "file");
  auto* b = app->add_option("b", f.b, "ONNX model; with --derivations a rule file");
  auto* more = app->add_option("more", f.more, "with --derivations: further rule files");
  auto* rule =
      app->add_option("--rule", f.rule, "evaluate the counterexample of this rule")->excludes(b);
  auto* certificate =
      app->add_option("--certificate", f.certificate,
                      "replay this certificate of optimize: it must lead from a to b")
          ->needs(b)
          ->excludes(rule);
  app->add_option("--validation", f.validation,
                  "prove once more what this certificate of validate says of a and b")
      ->needs(b)
      ->excludes(rule)
      ->excludes(certificate);
  auto* derivations =
      app->add_option("--derivations", f.derivations,
                      "replay this file of verify by the kernel alone; with rule files: does each "
                      "of their proofs have a derivation there?")
          ->allow_extra_args(false)
          ->excludes(rule)
          ->excludes(certificate);
  more->needs(derivations);
  app->add_option("--claims", f.claims,
                  "file to write the formulas and derivations to, for the kernel in Python")
      ->needs(derivations);
  add_bisect(*app, f.bisect);
  app->get_option("--bisect")->needs(certificate);
  app->add_flag("--prove", f.prove, "prove the certificate's rules anew")->needs(certificate);
  app->add_option("--runs", f.runs, "random inputs to try")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app->add_option("--on", f.check_on,
                  "reference: in double precision; a runtime: in float32, by its kernels")
      ->check(one_of(places_to_check()))
      ->capture_default_str();
  add_common(*app, f.common);
  add_time(*app, f.common);
  add_memory(*app, f.common, kMemory);
  app->callback([&f, &code] {
    if (!f.derivations.empty()) {
      code = run_check_derivations(f);
      return;
    }
    if (f.a.empty()) throw CLI::RequiredError("a");
    if (f.b.empty() && f.rule.empty()) throw CLI::RequiredError("b or --rule");
    code = run_check(f);
  });
  auto* trip = root.add_subcommand("roundtrip", "read a model and write it back")->group("");
  trip->add_option("in", round.a)->required();
  trip->add_option("out", round.b)->required();
  trip->callback([&] { code = run_roundtrip(round); });
}

void add_stats(CLI::App& root, StatsFlags& f, int& code) {
  auto* app = root.add_subcommand(
      "stats", "say what a model consists of, and how much of it regraft understands");
  app->add_option("model", f.model, "ONNX model")->required();
  app->add_option("--json", f.common.json, "write a report for machines to this file (-: stdout)");
  app->add_flag_callback(
      "-q,--quiet", [&f] { f.common.verbosity = Verbosity::Quiet; }, "print nothing");
  app->callback([&] { code = run_stats(f); });
}

void add_eval(CLI::App& root, EvalFlags& f, int& code) {
  auto* app = root.add_subcommand("eval", "compute a model's outputs from the operators' formulas")
                  ->group("");
  app->add_option("model", f.model);
  app->add_option("--inputs", f.inputs);
  app->add_option("--outputs", f.outputs);
  app->add_option("--list", f.list, "lines of model, inputs, outputs, separated by tabs");
  app->callback([&] { code = run_eval(f); });
}

}  // namespace regraft::cli
