// How long whole models take.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/printable.h"
#include "cli/measure/measure.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"

namespace regraft::cli {

int run_cost_time(const CostFlags& flags) {
  int threads = flags.common.threads > 0 ? flags.common.threads : 1;
  if (auto s =
          require_distinct(with_data("a model", flags.files), {{"the report", flags.common.json}});
      !s)
    return bad_input(s.error());
  auto output = OutputFile::open(flags.common.json);
  if (!output) return bad_input(output.error());
  Stop stop;
  auto interrupted = [] {
    tell("interrupted before the models were timed");
    return kInterrupted;
  };
  auto measurer = start_measurer(flags.runtime, threads, stop);
  if (!measurer && stop.must_end()) return interrupted();
  if (!measurer) return bad_input(measurer.error());
  std::vector<io::Imported> models;
  for (const auto& file : flags.files) {
    auto model = io::load(file);
    if (!model) return bad_input(model.error());
    models.push_back(*std::move(model));
  }
  std::vector<const Graph*> graphs;
  for (const auto& m : models) graphs.push_back(&m.graph);
  double seconds = flags.common.seconds > 0 ? flags.common.seconds : kTimingSeconds;
  auto timings = time_models(*measurer, models, graphs, {seconds, stop, flags.common.verbosity});
  if (!timings && stop.must_end()) return interrupted();
  if (!timings) return bad_input(timings.error());
  nlohmann::json list = nlohmann::json::array();
  for (size_t k = 0; k < timings->size(); ++k) {
    const cost::Timing& t = (*timings)[k];
    list.push_back({{"file", flags.files[k]},
                    {"microseconds", t.microseconds},
                    {"noise", t.noise},
                    {"runs", t.runs}});
    if (flags.common.verbosity == Verbosity::Normal)
      fmt::print(results(), "{}: {:.1f} us, noise {:.1f} %, {} runs\n", printable(flags.files[k]),
                 t.microseconds, 100 * t.noise, t.runs);
  }
  nlohmann::json report = {{"runtime", to_string(measurer->key)}, {"models", list}};
  Status written = output->write(to_text(report, 1));
  if (written) written = output->commit();
  if (!written) return bad_input(written.error());
  return kDone;
}

}  // namespace regraft::cli
