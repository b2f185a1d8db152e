#pragma once
// What a few runs with random numbers say: means that outliers do not move, and how sure they are
// (Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice", 2021).
#include <cstdint>
#include <span>
#include <vector>

namespace regraft::rl {

/// What the runs on one graph gave: by seed of training, then by seed of the search. What is not
/// trained has one row.
using Runs = std::vector<std::vector<double>>;
/// By graph. No graph is without runs.
using Scores = std::vector<Runs>;

struct Interval {
  double value = 0, low = 0, high = 0;
};

/// How trainings are drawn anew.
enum class Trainings : uint8_t {
  Own,    ///< each graph has its own: drawn for each graph
  Shared  ///< the same policies serve all graphs, which have as many rows: drawn once for all
};

struct BootstrapOptions {
  int replicates = 2000;
  double level = 0.95;  ///< of the interval, between quantiles of the replicates
  Trainings trainings = Trainings::Shared;
  uint64_t seed = 0;
};

double mean_of(std::span<const double> x);
/// Mean without the lowest and the highest quarter, each rounded down to whole numbers.
double interquartile_mean(std::vector<double> x);
/// REQUIRES: all are positive.
double geometric_mean(std::span<const double> x);
/// Linear between the two nearest ranks; `part` from 0 to 1.
double quantile(std::vector<double> x, double part);
/// Mann and Whitney: how often a number of `a` is above one of `b`; equal ones count half.
double probability_of_improvement(std::span<const double> a, std::span<const double> b);

/// The seeds of training are drawn with replacement, then for each the seeds of its searches;
/// graphs stay as they are.
Scores resampled(const Scores& scores, Trainings trainings, uint64_t seed);

/// Of all runs on all graphs together.
Interval interquartile_mean(const Scores& scores, const BootstrapOptions& options);
/// Mean over graphs of the probability that a run of `a` is above one of `b`.
Interval probability_of_improvement(const Scores& a, const Scores& b,
                                    const BootstrapOptions& options);
/// Mean over graphs of the difference of the means, a - b; graphs are drawn anew too.
Interval paired_difference(const Scores& a, const Scores& b, const BootstrapOptions& options);
/// One number for each graph; graphs are drawn anew. REQUIRES: all are positive; not empty.
Interval geometric_mean(std::span<const double> x, const BootstrapOptions& options);

}  // namespace regraft::rl
