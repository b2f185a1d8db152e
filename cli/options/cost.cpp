#include "cli/options/options.h"

#include <fmt/format.h>

#include "cli/options/shared.h"

namespace regraft::cli {
namespace {

constexpr const char* kRuntimeThreads = "threads of the runtime; 0: one";

std::string seconds_of_timing(double usual) {
  return fmt::format("seconds of timing; 0: {}", usual);
}

/// What choose_cost reads and is a profile.
const CLI::Validator kProfile(
    [](std::string& s) {
      return s == "roofline" ? std::string("roofline is no profile") : kCost(s);
    },
    "auto|RUNTIME|FILE.profile");

}  // namespace

void add_cost_files(CLI::App& root, CostFlags& f, int& code) {
  auto* app = root.add_subcommand("cost", "look into profiles: what was measured on machines")
                  ->require_subcommand(1);
  auto* list = app->add_subcommand(
      "list", "the profiles that are at hand, and which one `optimize` would use by default");
  list->add_option("--json", f.common.json, "write the list to this file (-: stdout)");
  list->callback([&] { code = run_cost_list(f); });
  auto* forget = app->add_subcommand("forget", "remove profiles that were measured here");
  auto* names = forget->add_option("names", f.files, "as `cost list` has them");
  forget->add_flag("--all", f.all, "all files of the user's cache")->excludes(names);
  forget->callback([&f, &code] {
    if (f.files.empty() && !f.all) throw CLI::RequiredError("names or --all");
    code = run_cost_forget(f);
  });
  auto* show = app->add_subcommand("show", "print what profile files hold");
  show->add_option("files", f.files, "profile files")->required();
  show->add_flag("--kernels", f.kernels, "each kernel with its time");
  show->callback([&] { code = run_cost_show(f); });
  auto* merge = app->add_subcommand("merge", "join profile files; of two timings the surer stays");
  merge->add_option("files", f.files, "profile files")->required();
  merge->add_option("-o,--out", f.out, "profile file")->required();
  merge->callback([&] { code = run_cost_merge(f); });
  auto* add = app->add_subcommand("add", "add results of `python -m regraft.profile` to a profile");
  add->add_option("files", f.files, "JSON files of results")->required();
  add->add_option("-o,--out", f.out, "profile file, made or added to")->required();
  add->callback([&] { code = run_cost_add(f); });
}

void add_calibrate(CLI::App& root, CostFlags& f, int& code) {
  auto* app = root.add_subcommand("calibrate",
                                  "measure this machine, so that costs are those of its runtime");
  f.runtime = cost::runtimes().front().name;
  app->add_option("models", f.files, "ONNX models whose kernels to measure beside the usual ones");
  app->add_option("--runtime", f.runtime, "what to measure with; single: plain loops, no library")
      ->check(one_of(with(names_of_runtimes(has_kernels), cost::kPlainLoops)))
      ->capture_default_str();
  app->add_option("-o,--out", f.out, "profile file, made or added to; default: the user's");
  add_unseeded(*app, f.common, kRuntimeThreads);
  add_time(*app, f.common, seconds_of_timing(kCalibrationSeconds));
  app->callback([&] { code = run_calibrate(f); });
}

void add_cost_models(CLI::App& root, CostFlags& f, int& code) {
  auto* app = root.get_subcommand("cost");
  f.runtime = cost::runtimes().front().name;
  auto* kernels = app->add_subcommand(
      "kernels", "write what a runtime launches for models, each kernel as a model of its own");
  kernels->add_option("models", f.files, "ONNX models")->required();
  kernels->add_option("--runtime", f.runtime, "runtime")
      ->check(one_of(names_of_runtimes(has_kernels)))
      ->capture_default_str();
  kernels->add_option("--block", f.block, "channels in a block of its blocked layout; 0: none")
      ->check(CLI::Range(0, 1 << 20));
  kernels->add_option("--dir", f.dir, "folder for the models and kernels.json")->required();
  kernels->add_option("--profile", f.profile, "leave out what this profile file knows");
  kernels->add_flag_callback(
      "-q,--quiet", [&f] { f.common.verbosity = Verbosity::Quiet; }, "print nothing");
  kernels->callback([&] { code = run_cost_kernels(f); });
  auto* predict = app->add_subcommand("predict", "what a profile says that models take");
  predict->add_option("models", f.files, "ONNX models")->required();
  predict->add_option("--cost", f.cost, "profile file, runtime, or auto")
      ->check(kProfile)
      ->capture_default_str();
  predict->add_flag("--kernels", f.kernels, "each kernel with its time");
  predict->callback([&] { code = run_cost_predict(f); });
  auto* time = app->add_subcommand("time", "how long models take in a runtime, all in turn");
  time->add_option("models", f.files, "ONNX models")->required();
  time->add_option("--runtime", f.runtime, "runtime")
      ->check(one_of(names_of_runtimes(can_run)))
      ->capture_default_str();
  add_unseeded(*time, f.common, kRuntimeThreads);
  add_time(*time, f.common, seconds_of_timing(kTimingSeconds));
  time->callback([&] { code = run_cost_time(f); });
  auto* variants = app->add_subcommand("variants", "write models that compute the same as a model");
  variants->add_option("model", f.files, "ONNX model")->required()->expected(1);
  variants->add_option("--count", f.count, "how many")->check(CLI::Range(1, 100000));
  variants->add_option("--dir", f.dir, "folder for the models and variants.json")->required();
  variants->add_option("--cost", f.cost, "cost model")->check(kCost)->capture_default_str();
  variants->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  add_common(*variants, f.common);
  variants->callback([&] { code = run_cost_variants(f); });
}

}  // namespace regraft::cli
