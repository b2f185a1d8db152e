#include "cli/measure/active.h"

#include <algorithm>
#include <map>

#include "cost/residual/residual.h"

namespace regraft::cli {
namespace {

constexpr double kUsualNoise = 0.01;     // of a ratio that was not measured yet
constexpr double kLeastNoiseOf = 0.002;  // of any, however alike its runs were
constexpr double kLeastWin = 0.005;      // what is worth another measurement
constexpr double kInterval = 2;          // standard deviations in half a 95 % interval

std::vector<cost::Trait> traits_for(const Graph& g, const cost::Profiled& prices) {
  const Graph sized = cost::at_sizes(g);
  return cost::traits_of(sized, prices.plan(sized), prices);
}

}  // namespace

Result<ActiveTimings> time_actively(const Graph& model, std::vector<rewrite::Candidate>& candidates,
                                    const cost::Profiled& prices, int measurements,
                                    const TimeBeside& time, const Stop& stop) {
  std::vector<std::vector<cost::Trait>> traits{traits_for(model, prices)};
  for (const rewrite::Candidate& c : candidates) traits.push_back(traits_for(c.graph, prices));
  cost::Residual known(traits);
  ActiveTimings done;
  std::vector<double> originals;
  std::map<size_t, int> runs;  // of candidates that were timed
  double noise = kUsualNoise;
  while (done.measurements < measurements && !stop.must_end()) {
    const auto next = known.next(noise, kLeastWin);
    if (!next || *next == 0) break;
    auto timed = time(candidates[*next - 1]);
    if (!timed && !originals.empty() && stop.must_end()) break;
    if (!timed) return timed.error();
    ++done.measurements;
    const cost::Timing &original = (*timed)[0], &candidate = (*timed)[1];
    originals.push_back(original.microseconds);
    if (candidate.runs == 0) {
      known.exclude(*next);
      continue;
    }
    noise = std::max(candidate.noise / kInterval, kLeastNoiseOf);
    known.observe(*next, candidate.microseconds / original.microseconds, noise);
    runs[*next] += candidate.runs;
  }
  if (originals.empty()) return error("no candidate was timed");
  const double original = cost::median(originals);
  const std::vector<double> means = known.means(), deviations = known.deviations();
  done.timings.push_back({original, 0, static_cast<int>(originals.size())});
  std::vector<rewrite::Candidate> left;
  for (const auto& [graph, count] : runs) {
    done.timings.push_back(
        {original * means[graph], kInterval * deviations[graph] / means[graph], count});
    left.push_back(std::move(candidates[graph - 1]));
  }
  candidates = std::move(left);
  return done;
}

}  // namespace regraft::cli
