#include "rl/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/check.h"
#include "base/rng.h"

namespace regraft::rl {
namespace {

std::vector<double> flat(const Runs& runs) {
  std::vector<double> all;
  for (const auto& row : runs) all.insert(all.end(), row.begin(), row.end());
  return all;
}

std::vector<size_t> draw(size_t n, Rng& rng) {
  std::vector<size_t> drawn(n);
  for (size_t& d : drawn) d = rng.below(n);
  return drawn;
}

/// Of the replicates' numbers; each replicate has a seed.
Interval bootstrap(double value, const BootstrapOptions& options,
                   const std::function<double(uint64_t)>& replicate) {
  std::vector<double> found;
  for (int k = 0; k < options.replicates; ++k)
    found.push_back(replicate(combine(options.seed, static_cast<uint64_t>(k))));
  double tail = (1 - options.level) / 2;
  return {value, quantile(found, tail), quantile(found, 1 - tail)};
}

double iqm(const Scores& scores) {
  std::vector<double> all;
  for (const Runs& runs : scores)
    for (const auto& row : runs) all.insert(all.end(), row.begin(), row.end());
  return interquartile_mean(std::move(all));
}

double improvement(const Scores& a, const Scores& b) {
  std::vector<double> by_graph;
  for (size_t g = 0; g < a.size(); ++g)
    by_graph.push_back(probability_of_improvement(flat(a[g]), flat(b[g])));
  return mean_of(by_graph);
}

std::vector<double> differences(const Scores& a, const Scores& b) {
  std::vector<double> by_graph;
  for (size_t g = 0; g < a.size(); ++g)
    by_graph.push_back(mean_of(flat(a[g])) - mean_of(flat(b[g])));
  return by_graph;
}

std::vector<double> some(std::span<const double> x, Rng& rng) {
  std::vector<double> drawn;
  for (size_t k : draw(x.size(), rng)) drawn.push_back(x[k]);
  return drawn;
}

}  // namespace

double mean_of(std::span<const double> x) {
  CHECK(!x.empty());
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double interquartile_mean(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  size_t quarter = x.size() / 4;
  return mean_of(std::span(x).subspan(quarter, x.size() - 2 * quarter));
}

double geometric_mean(std::span<const double> x) {
  std::vector<double> logs;
  for (double v : x) {
    CHECK(v > 0);
    logs.push_back(std::log(v));
  }
  return std::exp(mean_of(logs));
}

double quantile(std::vector<double> x, double part) {
  CHECK(!x.empty());
  std::sort(x.begin(), x.end());
  double place = part * static_cast<double>(x.size() - 1);
  auto low = static_cast<size_t>(place);
  size_t high = std::min(low + 1, x.size() - 1);
  return x[low] + (place - static_cast<double>(low)) * (x[high] - x[low]);
}

double probability_of_improvement(std::span<const double> a, std::span<const double> b) {
  CHECK(!a.empty() && !b.empty());
  double won = 0;
  for (double x : a)
    for (double y : b) won += x > y ? 1 : x == y ? 0.5 : 0;
  return won / static_cast<double>(a.size() * b.size());
}

Scores resampled(const Scores& scores, Trainings trainings, uint64_t seed) {
  Rng rng(seed);
  std::vector<size_t> rows;
  Scores out;
  for (const Runs& runs : scores) {
    if (rows.empty() || trainings == Trainings::Own) rows = draw(runs.size(), rng);
    CHECK(rows.size() == runs.size());
    Runs& drawn = out.emplace_back();
    for (size_t row : rows) drawn.push_back(some(runs[row], rng));
  }
  return out;
}

Interval interquartile_mean(const Scores& scores, const BootstrapOptions& options) {
  return bootstrap(iqm(scores), options,
                   [&](uint64_t seed) { return iqm(resampled(scores, options.trainings, seed)); });
}

Interval probability_of_improvement(const Scores& a, const Scores& b,
                                    const BootstrapOptions& options) {
  CHECK(a.size() == b.size());
  return bootstrap(improvement(a, b), options, [&](uint64_t seed) {
    return improvement(resampled(a, options.trainings, seed),
                       resampled(b, options.trainings, seed ^ 1));
  });
}

Interval paired_difference(const Scores& a, const Scores& b, const BootstrapOptions& options) {
  CHECK(a.size() == b.size());
  return bootstrap(mean_of(differences(a, b)), options, [&](uint64_t seed) {
    auto by_graph = differences(resampled(a, options.trainings, seed),
                                resampled(b, options.trainings, seed ^ 1));
    Rng rng(seed ^ 2);
    return mean_of(some(by_graph, rng));
  });
}

Interval geometric_mean(std::span<const double> x, const BootstrapOptions& options) {
  return bootstrap(geometric_mean(x), options, [&](uint64_t seed) {
    Rng rng(seed);
    return geometric_mean(some(x, rng));
  });
}

}  // namespace regraft::rl
