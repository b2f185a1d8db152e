#include "cli/bench/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rewrite/search/reporter.h"

namespace regraft::cli {
namespace {

constexpr double kLeastCount = 1;       // candidates, and
constexpr double kGrid = 1e6;           // scores are multiples of 1 / this: rounding is no gain
constexpr double kLeastSeconds = 1e-4;  // seconds, so that ratios are of positive numbers

double cost_at(const RunPair& pair, const Limit& limit) {
  return limit.candidates > 0 ? cost_at_candidate(pair.by_candidates, limit.candidates)
                              : cost_at_seconds(pair.by_seconds, limit.seconds);
}

double score(const GraphRuns& g, double cost) {
  return std::round(kGrid * (g.before - cost) / (g.before - g.reference)) / kGrid;
}

/// Median of numbers that may be infinite.
double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[(x.size() - 1) / 2];
}

Reached reach(const GraphRuns& graph, size_t g, size_t m) {
  Reached r{g, m};
  std::vector<double> candidates, seconds;
  for (const auto& row : graph.methods[m])
    for (const RunPair& pair : row) {
      const CurvePoint* p = first_at(pair.by_candidates, graph.baseline->after);
      ++r.runs;
      r.reached += p != nullptr;
      candidates.push_back(p ? static_cast<double>(p->candidate) : HUGE_VAL);
      seconds.push_back(p ? p->seconds : HUGE_VAL);
    }
  r.candidates = median(candidates);
  r.seconds = median(seconds);
  r.half = std::isfinite(r.candidates);
  return r;
}

std::optional<rl::Interval> mean_ratio(const std::vector<double>& x) {
  if (x.empty()) return std::nullopt;
  return rl::geometric_mean(x, {});
}

/// Something was found that is to be reached.
bool to_reach(const GraphRuns& g) { return g.baseline && !g.baseline->curve.empty(); }

double count_of(double candidates) { return std::max(candidates, kLeastCount); }
double time_of(double seconds) { return std::max(seconds, kLeastSeconds); }

/// Logarithms of what the runs needed to be as good as the long run, or of all they ran.
template <class Needed>
rl::Scores logs(const std::vector<GraphRuns>& graphs, size_t method, Needed needed) {
  rl::Scores all;
  for (const GraphRuns& g : graphs) {
    if (!to_reach(g)) continue;
    rl::Runs& rows = all.emplace_back();
    for (const auto& row : g.methods[method]) {
      auto& out = rows.emplace_back();
      for (const RunPair& pair : row) {
        const BenchRun& run = pair.by_candidates;
        out.push_back(std::log(needed(run, first_at(run, g.baseline->after))));
      }
    }
  }
  return all;
}
double candidates_needed(const BenchRun& run, const CurvePoint* p) {
  return count_of(static_cast<double>(p ? p->candidate : run.candidates));
}
double seconds_needed(const BenchRun& run, const CurvePoint* p) {
  return time_of(p ? p->seconds : run.seconds);
}
rl::Interval exp(const rl::Interval& i) {
  return {std::exp(i.value), std::exp(i.low), std::exp(i.high)};
}

/// What a learned method is held against.
bool is_beside(const Method& learned, const Method& other) {
  bool control = other.kind == MethodKind::Control && mode_of(other.name) == mode_of(learned.name);
  return learned.kind == MethodKind::Learned && (control || other.name == "windows");
}

}  // namespace

bool GraphRuns::can_save() const { return rewrite::cheaper(reference, before); }

std::vector<Limit> limits_of(const std::vector<uint64_t>& candidates,
                             const std::vector<double>& seconds) {
  std::vector<Limit> limits;
  for (uint64_t n : candidates) limits.push_back({fmt::format("{} candidates", n), n, 0});
  for (double s : seconds) limits.push_back({fmt::format("{:g} s", s), 0, s});
  return limits;
}

rl::Scores scores_at(const std::vector<GraphRuns>& graphs, size_t method, const Limit& limit) {
  rl::Scores scores;
  for (const GraphRuns& g : graphs) {
    if (!g.can_save()) continue;
    rl::Runs& rows = scores.emplace_back();
    for (const auto& row : g.methods[method]) {
      auto& out = rows.emplace_back();
      for (const RunPair& pair : row) out.push_back(score(g, cost_at(pair, limit)));
    }
  }
  return scores;
}

std::vector<Comparison> comparisons(const std::vector<GraphRuns>& graphs,
                                    const std::vector<Method>& methods,
                                    const std::vector<Limit>& limits) {
  std::vector<Comparison> all;
  for (size_t m = 0; m < methods.size(); ++m) {
    for (size_t o = 0; o < methods.size(); ++o) {
      if (!is_beside(methods[m], methods[o])) continue;
      for (const Limit& limit : limits) {
        auto a = scores_at(graphs, m, limit), b = scores_at(graphs, o, limit);
        if (a.empty()) continue;
        all.push_back({m, o, limit, rl::probability_of_improvement(a, b, {}),
                       rl::paired_difference(a, b, {})});
      }
    }
  }
  return all;
}

std::vector<Reached> reaching(const std::vector<GraphRuns>& graphs, size_t methods) {
  std::vector<Reached> all;
  for (size_t g = 0; g < graphs.size(); ++g)
    for (size_t m = 0; m < methods && to_reach(graphs[g]); ++m)
      all.push_back(reach(graphs[g], g, m));
  return all;
}

std::vector<Sooner> sooner(const std::vector<GraphRuns>& graphs,
                           const std::vector<Method>& methods) {
  std::vector<Sooner> all;
  if (std::ranges::none_of(graphs, to_reach)) return all;
  for (size_t m = 0; m < methods.size(); ++m)
    for (size_t o = 0; o < methods.size(); ++o) {
      if (!is_beside(methods[m], methods[o])) continue;
      auto less = [&](auto needed) {
        return exp(rl::paired_difference(logs(graphs, o, needed), logs(graphs, m, needed), {}));
      };
      all.push_back({m, o, less(candidates_needed), less(seconds_needed)});
    }
  return all;
}

std::vector<Ratios> ratios(const std::vector<GraphRuns>& graphs,
                           const std::vector<Reached>& reached, size_t methods) {
  std::vector<Ratios> all;
  for (size_t m = 0; m < methods; ++m) {
    Ratios r{m, 0, 0, {}, {}, {}, {}};
    std::vector<double> candidates, seconds, candidates_found, seconds_found;
    for (const Reached& x : reached) {
      if (x.method != m) continue;
      ++r.graphs;
      if (!x.half) continue;
      ++r.reached;
      const BenchRun& base = *graphs[x.graph].baseline;
      const CurvePoint& found = base.curve.back();
      candidates.push_back(count_of(static_cast<double>(base.candidates)) / count_of(x.candidates));
      candidates_found.push_back(count_of(static_cast<double>(found.candidate)) /
                                 count_of(x.candidates));
      seconds.push_back(time_of(base.seconds) / time_of(x.seconds));
      seconds_found.push_back(time_of(found.seconds) / time_of(x.seconds));
    }
    r.candidates = mean_ratio(candidates);
    r.seconds = mean_ratio(seconds);
    r.candidates_found = mean_ratio(candidates_found);
    r.seconds_found = mean_ratio(seconds_found);
    all.push_back(r);
  }
  return all;
}

}  // namespace regraft::cli
