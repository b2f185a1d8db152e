#include "cli/optimization/report.h"

#include <nlohmann/json.hpp>

#include "base/resources.h"
#include "cli/optimization/explanation_text.h"
#include "cli/support/float_check.h"
#include "cli/support/report.h"

namespace regraft::cli {
namespace {

nlohmann::json to_json(const cost::Timing& t) {
  return {{"microseconds", t.microseconds}, {"noise", t.noise}, {"runs", t.runs}};
}

nlohmann::json side(const io::Summary& s, const cost::GraphCost& sum, const Valued& v) {
  nlohmann::json j = {{"operators", s.operators}, {"parameters", s.parameters},
                      {"bytes", s.bytes},         {"cost", v.predicted.microseconds},
                      {"calls", sum.calls_by_op}, {"sum", sum.total.microseconds},
                      {"flops", sum.total.flops}, {"activation_bytes", v.predicted.peak_bytes}};
  if (v.measured) j["measured"] = to_json(*v.measured);
  return j;
}

nlohmann::json to_json(const BodyOutcome& b) {
  nlohmann::json j = {{"where", b.where},
                      {"changed", b.changed},
                      {"kept_because", b.kept},
                      {"before", {{"operators", b.nodes_before}, {"cost", b.cost_before}}},
                      {"after", {{"operators", b.nodes_after}, {"cost", b.cost_after}}},
                      {"applied", b.applied}};
  if (b.check) j["check"] = json_of(*b.check);
  return j;
}

nlohmann::json to_json(const TracedStep& step) {
  return {{"rule", step.rule.name},
          {"verdict", to_string(step.rule.verdict.kind)},
          {"numerics", to_string(step.rule.numerics.kind)},
          {"region", step.region},
          {"cost_before", step.before},
          {"cost_after", step.after}};
}

}  // namespace

nlohmann::json to_json(const OptimizeFlags& flags, const Outcome& o) {
  const auto& s = o.choice.search;
  nlohmann::json improvements = nlohmann::json::array();
  for (const auto& i : s.improvements)
    improvements.push_back(
        {{"candidate", i.candidate}, {"cost", i.cost}, {"seconds", i.seconds}, {"rule", i.rule}});
  nlohmann::json j = {{"version", REGRAFT_VERSION},
                      {"input", flags.in},
                      {"output", flags.out},
                      {"rules", o.rules},
                      {"numerics", flags.numerics},
                      {"unsafe_rules", o.unsafe_rules},
                      {"cost_model", o.choice.model},
                      {"profile", to_json(o.choice.profile)},
                      {"profiles_not_used", o.choice.passed_over},
                      {"fixed_shapes", flags.sizes.shapes},
                      {"fixed_dims", flags.sizes.dims},
                      {"dynamic", o.dynamic},
                      {"before", side(o.before, o.choice.sums[0], o.choice.before)},
                      {"after", side(o.after, o.choice.sums[1], o.choice.after)},
                      {"kept", o.choice.kept},
                      {"discarded", o.discarded},
                      {"target", flags.target},
                      {"portable", flags.portable},
                      {"objective", flags.objective},
                      {"kernels", o.choice.after.predicted.kernels},
                      {"estimated", o.choice.after.predicted.estimated},
                      {"applied", s.applied},
                      {"search",
                       {{"searcher", flags.search},
                        {"alpha", flags.alpha},
                        {"budget", flags.budget},
                        {"growth", flags.growth},
                        {"seed", flags.common.seed},
                        {"threads", thread_count(flags.common)},
                        {"expanded", s.expanded},
                        {"candidates", s.candidates},
                        {"duplicates", s.duplicates},
                        {"rejected", s.rejected},
                        {"left_out", s.left_out},
                        {"peak_queue", s.peak_queue},
                        {"stop_reason", rewrite::to_string(s.stop)},
                        {"seconds", s.seconds},
                        {"polishing", s.polishing},
                        {"improvements", improvements}}},
                      {"seconds", o.seconds},
                      {"peak_bytes", peak_bytes()}};
  if (o.proposed) j["proposed"] = to_json(*o.proposed);
  if (o.trace) {
    j["steps"] = nlohmann::json::array();
    for (const TracedStep& step : o.trace->steps) j["steps"].push_back(to_json(step));
  }
  if (o.explanation) j["explanation"] = to_json(*o.explanation);
  j["bodies"] = nlohmann::json::array();
  for (const BodyOutcome& b : o.bodies.outcomes) j["bodies"].push_back(to_json(b));
  if (!o.choice.note.empty()) j["note"] = o.choice.note;
  if (!o.choice.measured_with.empty()) {
    j["measured_with"] = o.choice.measured_with;
    if (o.choice.spread) j["spread"] = *o.choice.spread;
    for (const Valued& v : o.choice.others)
      j["others"].push_back(
          {{"cost", v.predicted.microseconds}, {"measured", to_json(*v.measured)}});
  }
  if (const auto& e = o.choice.elsewhere)
    j["faster_runtime"] = {
        {"runtime", e->runtime}, {"version", e->version}, {"ratio", e->ratio}, {"noise", e->noise}};
  if (o.check) j["check"] = json_of(*o.check);
  return j;
}

}  // namespace regraft::cli
