#include "rl/world/drift.h"

#include <cmath>
#include <numeric>

namespace regraft::rl {

using nn::Matrix;

double mean(const std::vector<double>& x) {
  return x.empty() ? 0 : std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double deviation(const std::vector<double>& x) {
  if (x.size() < 2) return 0;
  double m = mean(x), sum = 0;
  for (double v : x) sum += (v - m) * (v - m);
  return std::sqrt(sum / static_cast<double>(x.size() - 1));
}

namespace {

/// Sums over the places that are compared at one depth.
struct Tally {
  size_t steps = 0, hits = 0, false_alarms = 0, misses = 0, ends = 0;
  double reward = 0, square = 0, sum = 0, sum2 = 0, numbers = 0;

  void add(const Imagined& it, float reward_told, const Track& track, size_t t, int32_t slots) {
    ++steps;
    const auto &told = it.offers[0].counts, &real = track.offers[t + 1].counts;
    for (size_t s = 0; s < static_cast<size_t>(slots); ++s) {
      hits += told[s] > 0 && real[s] > 0;
      false_alarms += told[s] > 0 && real[s] == 0;
      misses += told[s] == 0 && real[s] > 0;
    }
    reward += std::abs(reward_told - (track.saved[t + 1] - track.saved[t]));
    auto z = track.z.row(static_cast<int64_t>(t) + 1);
    square += (it.z.row(0) - z).squaredNorm();
    sum += z.sum(), sum2 += z.squaredNorm(), numbers += static_cast<double>(z.size());
    bool ended = track.terminated && t + 1 == track.steps();
    ends += (it.ends[0] > 0.5F) == ended;
  }

  DriftAt at(int depth) const {
    DriftAt d{.depth = depth, .steps = steps};
    if (steps == 0) return d;
    auto n = static_cast<double>(steps);
    double wrong = static_cast<double>(false_alarms + misses), right = static_cast<double>(hits);
    d.mask_f1 = right + wrong > 0 ? 2 * right / (2 * right + wrong) : 1;
    d.reward_error = reward / n;
    d.latent_error = std::sqrt(square / numbers);
    d.latent_spread = std::sqrt(std::max(0.0, sum2 / numbers - std::pow(sum / numbers, 2)));
    d.end_accuracy = static_cast<double>(ends) / n;
    return d;
  }
};

/// Goes along the actions from a step on, without seeing more of what is real.
template <class Visit>
void imagine(const WorldModel& world, const Track& track, const Memory& recalled, size_t from,
             size_t steps, double tau, Rng rng, Visit visit) {
  auto at = static_cast<int64_t>(from);
  Memory memory{recalled.h.row(at), recalled.c.row(at)};
  Matrix<float> z = track.z.row(at);
  Offers offers = track.offers[from];
  Balance balance{track.saved[from], track.saved[from]};
  for (size_t t = from; t < from + steps; ++t) {
    Imagined next = world.dynamics.step(z, std::span(&track.choices[t], 1), memory,
                                        world.vocabulary.size(), tau, std::span(&rng, 1));
    float before = balance.saved;
    if (track.choices[t].slot < world.vocabulary.stop())
      balance.pay(offers, track.choices[t], next.saved[0]);
    visit(t, next, balance.saved - before);
    z = next.z;
    offers = next.offers[0];
  }
}

}  // namespace

DriftReport compare(const WorldModel& world, const std::vector<Trajectory>& episodes, double tau,
                    int depths, uint64_t seed) {
  constexpr size_t kEvery = 4;  // steps between the places where comparisons begin
  DriftReport report;
  std::vector<Tally> tallies(static_cast<size_t>(depths));
  int32_t slots = world.vocabulary.size();
  double apart = 0;
  for (size_t e = 0; e < episodes.size(); ++e) {
    Track track = track_of(world, episodes[e], 1);
    Memory recalled = world.dynamics.recall(track);
    for (size_t from = 0; from < track.steps(); from += kEvery)
      imagine(world, track, recalled, from, std::min(tallies.size(), track.steps() - from), tau,
              Rng(combine(combine(seed, e), from)), [&](size_t t, const Imagined& it, float told) {
                tallies[t - from].add(it, told, track, t, slots);
              });
    double gain = 0;
    imagine(world, track, recalled, 0, track.steps(), tau, Rng(combine(seed, e)),
            [&](size_t, const Imagined&, float told) { gain += told; });
    report.replayed.imagined.push_back(gain);
    report.replayed.real.push_back(episodes[e].gain());
    apart += std::abs(gain - episodes[e].gain());
  }
  report.replay_gap = apart / static_cast<double>(std::max<size_t>(1, episodes.size()));
  for (size_t k = 0; k < tallies.size(); ++k)
    report.depths.push_back(tallies[k].at(static_cast<int>(k) + 1));
  return report;
}

}  // namespace regraft::rl
