#include "cli/options/validate.h"

#include "cli/options/shared.h"

namespace regraft::cli {

void add_validate(CLI::App& root, ValidateFlags& f, int& code) {
  auto* app = root.add_subcommand(
      "validate", "prove that a model computes the same as another, or show where it does not");
  app->add_option("a", f.a, "ONNX model")->required();
  app->add_option("b", f.b, "ONNX model, made from a by whatever optimiser")->required();
  app->add_option("--sizes", f.sizes,
                  "symbolic: for all open sizes (default); NAME=N: with this open dimension fixed")
      ->delimiter(',');
  app->add_option("--tolerance-constants", f.constants,
                  "auto: constants of b may differ by what rounding explains; exact: they may not")
      ->check(one_of({"auto", "exact"}))
      ->capture_default_str();
  app->add_option("--rules", f.rules, "rule files to tidy up both models with; default: shipped");
  app->add_option("--certificate", f.certificate,
                  "file to write the proof to, for `check --validation`");
  app->add_option(
      "--html", f.html,
      "file to write a page to: the verdicts, and the proof or the counterexample, drawn");
  app->add_flag("--numerics", f.numerics,
                "say also what each kind of window that was proved does in float32 and float16, as "
                "`verify` says it of rules: at small sizes, also in place of large ones that are "
                "fixed; unknown where the window does not hold at any that are tried");
  add_common(*app, f.common);
  add_time(*app, f.common);
  add_memory(*app, f.common, kMemory);
  app->callback([&] { code = run_validate(f); });
}

}  // namespace regraft::cli
