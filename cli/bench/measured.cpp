// Which graph to time next? Ways of choosing, replayed on graphs that were all timed: measurements
// are drawn from one half of the rounds, and the other half says what the graphs really take.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/host.h"
#include "base/rng.h"
#include "cli/bench/pool_file.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cost/profile/timing.h"
#include "cost/residual/residual.h"

namespace regraft::cli {
namespace {

using nlohmann::json;

constexpr size_t kVisits = 5;      // rounds that one measurement is the median of
constexpr double kNormal = 1.253;  // deviation of a median, times that of a mean
constexpr double kLeastNoise = 1e-3;
const std::vector<size_t> kSamples = {0, 8, 16, 32, 64};  // that ranks are judged after

enum class Way : uint8_t { Predicted, Random, Learned, kCount };
constexpr const char* kWays[] = {"predicted", "random", "learned"};

/// Graphs that were all timed, as one way of choosing sees them. What the machine did in a round is
/// taken off by the median of all graphs.
class Replay {
 public:
  explicit Replay(const TimedPool& pool) : graphs_(pool.traits.size()), times_(levelled(pool)) {
    for (size_t round = 0; round < times_.size(); ++round)
      (round % 2 ? judged_ : drawn_).push_back(round);
    truth_ = ratios(judged_);
    drawn_original_ = middle(drawn_, 0);
    std::vector<double> spreads;
    for (size_t graph = 1; graph < graphs_; ++graph) spreads.push_back(spread_of(graph));
    noise_ = std::max(kLeastNoise,
                      kNormal * cost::median(spreads) / std::sqrt(static_cast<double>(kVisits)));
    predicted_ = cost::Residual(pool.traits).means();
  }

  size_t graphs() const { return graphs_; }
  double noise() const { return noise_; }
  const std::vector<double>& truth() const { return truth_; }
  const std::vector<double>& predicted() const { return predicted_; }
  /// Of the rounds that measurements are drawn from, all together.
  std::vector<double> other_half() const { return ratios(drawn_); }

  /// A measurement, with the noise that it has.
  double measure(size_t graph, Rng& rng) const {
    std::vector<double> all;
    for (size_t k = 0; k < kVisits; ++k)
      all.push_back(times_[drawn_[rng.below(drawn_.size())]][graph]);
    return cost::median(all) / drawn_original_;
  }

 private:
  static std::vector<std::vector<double>> levelled(const TimedPool& pool) {
    std::vector<std::vector<double>> times = pool.rounds;
    std::vector<double> usual;
    for (size_t graph = 0; graph < pool.traits.size(); ++graph) {
      std::vector<double> all;
      for (const auto& round : pool.rounds) all.push_back(round[graph]);
      usual.push_back(cost::median(all));
    }
    for (auto& round : times) {
      std::vector<double> apart;
      for (size_t graph = 0; graph < usual.size(); ++graph)
        apart.push_back(round[graph] / usual[graph]);
      const double level = cost::median(apart);
      for (double& time : round) time /= level;
    }
    return times;
  }
  std::vector<double> of(const std::vector<size_t>& rounds, size_t graph) const {
    std::vector<double> all;
    for (size_t round : rounds) all.push_back(times_[round][graph]);
    return all;
  }
  double middle(const std::vector<size_t>& rounds, size_t graph) const {
    return cost::median(of(rounds, graph));
  }
  std::vector<double> ratios(const std::vector<size_t>& rounds) const {
    const double original = middle(rounds, 0);
    std::vector<double> medians;
    for (size_t graph = 0; graph < graphs_; ++graph)
      medians.push_back(middle(rounds, graph) / original);
    return medians;
  }
  /// Of one visit: how far it is from the median, in the median.
  double spread_of(size_t graph) const {
    constexpr double kDeviation = 1.4826;  // over the median of absolute differences
    std::vector<double> all = of(drawn_, graph);
    const double usual = cost::median(all);
    for (double& time : all) time = std::abs(time - usual);
    return kDeviation * cost::median(all) / drawn_original_;
  }

  size_t graphs_;
  std::vector<std::vector<double>> times_;
  std::vector<size_t> drawn_, judged_;
  std::vector<double> truth_, predicted_;
  double drawn_original_ = 1, noise_ = 0;
};

/// One run of one way: after each of the budgets, what the graph that it would take really takes.
class Chosen {
 public:
  Chosen(const TimedPool& pool, const Replay& replay, Way way, uint64_t seed)
      : replay_(replay), way_(way), rng_(seed), learned_(pool.traits), order_(replay.graphs() - 1) {
    std::iota(order_.begin(), order_.end(), size_t{1});
    const std::vector<double>& price = replay.predicted();
    if (way == Way::Predicted)
      std::stable_sort(order_.begin(), order_.end(),
                       [&](size_t a, size_t b) { return price[a] < price[b]; });
    for (size_t k = order_.size(); way == Way::Random && k > 1; --k)
      std::swap(order_[k - 1], order_[rng_.below(k)]);
  }

  std::vector<double> after(const std::vector<int>& budgets) {
    std::vector<double> reached;
    int done = 0;
    for (int budget : budgets) {
      for (; done < budget; ++done) step();
      reached.push_back(replay_.truth()[best()]);
    }
    return reached;
  }

 private:
  void step() {
    std::optional<size_t> next;
    if (way_ == Way::Learned)
      next = learned_.next(replay_.noise(), 0);
    else if (done_ < order_.size())
      next = order_[done_];
    ++done_;
    if (!next) return;
    const double ratio = replay_.measure(*next, rng_);
    if (way_ == Way::Learned) learned_.observe(*next, ratio, replay_.noise());
    if (ratio < least_) {
      least_ = ratio;
      fastest_ = *next;
    }
  }
  size_t best() const { return way_ == Way::Learned ? learned_.best() : fastest_; }

  const Replay& replay_;
  Way way_;
  Rng rng_;
  cost::Residual learned_;
  std::vector<size_t> order_;
  size_t done_ = 0, fastest_ = 0;
  double least_ = 1;
};

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> all;
  for (double v : values) {
    double below = 0, equal = -1;
    for (double w : values) {
      below += w < v;
      equal += w == v;
    }
    all.push_back(below + equal / 2);
  }
  return all;
}

/// Spearman's rank correlation; 0 where either has one value only.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double middle = static_cast<double>(x.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    xy += (x[k] - middle) * (y[k] - middle);
    xx += (x[k] - middle) * (x[k] - middle);
    yy += (y[k] - middle) * (y[k] - middle);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

/// Of the graphs that were not measured, after `samples` of others that are drawn at random.
double correlation_after(const TimedPool& pool, const Replay& replay, size_t samples,
                         uint64_t seed) {
  Rng rng(seed);
  std::vector<size_t> order(replay.graphs() - 1);
  std::iota(order.begin(), order.end(), size_t{1});
  for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
  cost::Residual learned(pool.traits);
  for (size_t k = 0; k < samples; ++k)
    learned.observe(order[k], replay.measure(order[k], rng), replay.noise());
  const std::vector<double> means = learned.means();
  std::vector<double> expected, truth;
  for (size_t k = samples; k < order.size(); ++k) {
    expected.push_back(means[order[k]]);
    truth.push_back(replay.truth()[order[k]]);
  }
  return rank_correlation(expected, truth);
}

json judged(const TimedPool& pool, const MeasuredFlags& flags) {
  const Replay replay(pool);
  const std::vector<double>& truth = replay.truth();
  json j = {{"name", pool.name},
            {"graphs", replay.graphs()},
            {"rounds", pool.rounds.size()},
            {"noise", replay.noise()},
            {"fastest", *std::min_element(truth.begin(), truth.end())},
            {"slowest", *std::max_element(truth.begin(), truth.end())},
            {"ceiling", rank_correlation(replay.other_half(), truth)},
            {"budgets", flags.budgets}};
  const auto seeds = static_cast<uint64_t>(flags.seeds);
  for (size_t samples : kSamples) {
    if (samples + 8 > replay.graphs()) continue;
    double sum = 0;
    for (uint64_t seed = 0; seed < seeds; ++seed)
      sum += correlation_after(pool, replay, samples, flags.common.seed + seed);
    j["correlation"][std::to_string(samples)] = sum / static_cast<double>(seeds);
  }
  for (size_t way = 0; way < static_cast<size_t>(Way::kCount); ++way)
    for (uint64_t seed = 0; seed < seeds; ++seed)
      j["reached"][kWays[way]].push_back(
          Chosen(pool, replay, static_cast<Way>(way), flags.common.seed + seed)
              .after(flags.budgets));
  return j;
}

}  // namespace

int run_bench_measured(const MeasuredFlags& flags) {
  if (!std::is_sorted(flags.budgets.begin(), flags.budgets.end()))
    return bad_input(error("--budgets: not in rising order"));
  auto distinct =
      require_distinct(named("the times", flags.pools), {{"the report", flags.common.json}});
  if (!distinct) return bad_input(distinct.error());
  std::vector<TimedPool> pools;
  for (const auto& file : flags.pools) {
    auto pool = read_pool(file);
    if (!pool) return bad_input(pool.error());
    pools.push_back(*std::move(pool));
  }
  json all = json::array();
  for (const TimedPool& pool : pools) {
    all.push_back(judged(pool, flags));
    if (flags.common.verbosity == Verbosity::Quiet) continue;
    fmt::print(results(), "{}: {} graphs\n", pool.name, pool.traits.size());
  }
  if (flags.common.json.empty()) return kDone;
  if (auto s = write_file(flags.common.json, to_text(all, 1)); !s) return bad_input(s.error());
  return kDone;
}

}  // namespace regraft::cli
