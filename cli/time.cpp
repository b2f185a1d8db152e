// How long whole models take.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/report.h"

namespace regraft::cli {

int run_cost_time(const CostFlags& flags) {
  int threads = flags.common.threads > 0 ? flags.common.threads : 1;
  auto measurer = start_measurer(flags.runtime, threads);
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
  auto timings = measurer->time_graphs(models, graphs, seconds);
  if (!timings) return bad_input(timings.error());
  nlohmann::json list = nlohmann::json::array();
  for (size_t k = 0; k < timings->size(); ++k) {
    const cost::Timing& t = (*timings)[k];
    list.push_back({{"file", flags.files[k]},
                    {"microseconds", t.microseconds},
                    {"noise", t.noise},
                    {"runs", t.runs}});
    if (flags.common.verbosity == Verbosity::Normal)
      fmt::print("{}: {:.1f} us, noise {:.1f} %, {} runs\n", flags.files[k], t.microseconds,
                 100 * t.noise, t.runs);
  }
  nlohmann::json report = {{"runtime", to_string(measurer->key)}, {"models", list}};
  if (auto s = write_text(flags.common.json, report.dump(1) + "\n"); !s)
    return bad_input(s.error());
  return kDone;
}

}  // namespace regraft::cli
