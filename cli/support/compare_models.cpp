#include "cli/support/compare_models.h"

#include <algorithm>

#include "io/bodies/pairs.h"

namespace regraft::cli {
namespace {

/// Adds what was seen of a body. Runs, sizes and regimes are those of the main graph.
void add(rewrite::CheckReport& all, const rewrite::CheckReport& body, const std::string& where) {
  auto place = [&](std::string& to, const std::string& from) {
    if (to.empty() && !from.empty()) to = where + ": " + from;
  };
  if (!body.agrees || body.max_ratio > all.max_ratio)
    all.worst = body.worst.empty() ? where : where + ": " + body.worst;
  all.agrees = all.agrees && body.agrees;
  all.max_ratio = std::max(all.max_ratio, body.max_ratio);
  all.max_absolute = std::max(all.max_absolute, body.max_absolute);
  all.max_relative = std::max(all.max_relative, body.max_relative);
  place(all.unfinished, body.unfinished);
  place(all.not_compared_because, body.not_compared_because);
  all.values_run += body.values_run;
  all.values_shared += body.values_shared;
  all.values_not_run += body.values_not_run;
  all.opaque += body.opaque;
  all.outputs_compared += body.outputs_compared;
  all.outputs_not_compared += body.outputs_not_compared;
  all.elements_compared += body.elements_compared;
  all.elements_unclaimed += body.elements_unclaimed;
}

}  // namespace

Result<ModelsCheck> compare_models(const std::string& where, const io::Imported& a,
                                   const io::Imported& b, int runs, const Common& common,
                                   const Stop& stop) {
  ModelsCheck check;
  Graph first = a.graph, second = b.graph;
  std::vector<std::pair<std::string, rewrite::CheckReport>> reports;
  for (const io::NodePair& pair : io::differing_bodies(a, b)) {
    bool agree = true;
    for (const io::BodyPair& body : pair.bodies) {
      auto inner = compare_models(where, body.first, body.second, runs, common, stop);
      agree = agree && inner && inner->report.agrees;
      if (!inner) continue;  // their inputs or outputs differ: the nodes are not the same
      check.bodies += 1 + inner->bodies;
      if (!inner->report.agrees && !body.certain) continue;  // nothing is known of the nodes
      reports.emplace_back(body.where, std::move(inner->report));
    }
    if (agree) io::equate(a, b, pair, first, second);
  }
  ASSIGN_OR_RETURN(check.report, compare_on(where, first, second, runs, common, stop));
  for (const auto& [place, report] : reports) add(check.report, report, place);
  return check;
}

}  // namespace regraft::cli
