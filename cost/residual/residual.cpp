#include "cost/residual/residual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "base/check.h"
#include "cost/residual/process.h"

namespace regraft::cost {
namespace {

constexpr size_t kGroups = static_cast<size_t>(TraitGroup::kCount);
/// What the numbers of a group are expected to be, before a model's own graphs were measured: as
/// parts of the trait. Typical of five exports.
constexpr std::array<double, kGroups> kExpected = {0.3, 0.25, 0.5, 1,   0.15,
                                                   0.4, 0.08, 0.3, 0.3, 0.1};
constexpr double kOwn = 0.004;  // of a graph's time: what no trait says
constexpr size_t kFew = 64;     // graphs that may be the fastest
constexpr size_t kFewest = 8;   // measurements before anything is thought to be settled
constexpr int kOutcomes = 32;   // of a measurement

/// The traits of one group: a row for each graph, as parts of the first graph's price, without
/// columns in which no graph differs from the first.
Eigen::MatrixXd differences(std::span<const std::vector<Trait>> graphs, TraitGroup group,
                            double price) {
  std::map<uint64_t, Eigen::Index> columns;
  for (const auto& traits : graphs)
    for (const Trait& t : traits)
      if (t.group == group) columns.emplace(t.name, 0);
  Eigen::Index next = 0;
  for (auto& [name, column] : columns) column = next++;
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(graphs.size()), next);
  for (size_t k = 0; k < graphs.size(); ++k)
    for (const Trait& t : graphs[k])
      if (t.group == group)
        rows(static_cast<Eigen::Index>(k), columns[t.name]) += t.microseconds / price;
  const Eigen::RowVectorXd first = rows.row(0);
  rows.rowwise() -= first;
  return rows;
}

GaussianProcess process_of(std::span<const std::vector<Trait>> graphs) {
  CHECK(!graphs.empty());
  double price = 0;
  for (const Trait& t : graphs[0])
    if (t.group == TraitGroup::Price) price += t.microseconds;
  CHECK(price > 0);
  const auto count = static_cast<Eigen::Index>(graphs.size());
  std::vector<GaussianProcess::Part> parts;
  for (size_t k = 0; k < kGroups; ++k) {
    const Eigen::MatrixXd rows = differences(graphs, static_cast<TraitGroup>(k), price);
    if (rows.isZero(0)) continue;
    parts.push_back({rows * rows.transpose(), kExpected[k]});
  }
  Eigen::MatrixXd own = Eigen::MatrixXd::Identity(count, count);
  own(0, 0) = 0;
  parts.push_back({std::move(own), kOwn});
  Eigen::VectorXd mean = Eigen::VectorXd::Ones(count);
  mean += differences(graphs, TraitGroup::Price, price).rowwise().sum();
  return {std::move(mean), std::move(parts)};
}

/// The inverse of the normal distribution's function, by halving.
double normal_quantile(double p) {
  double low = -8, high = 8;
  for (int k = 0; k < 60; ++k) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// Numbers that stand for a standard normal one, each as likely as any.
std::array<double, kOutcomes> outcomes() {
  std::array<double, kOutcomes> all;
  for (int k = 0; k < kOutcomes; ++k)
    all[static_cast<size_t>(k)] = normal_quantile((k + 0.5) / kOutcomes);
  return all;
}

Eigen::VectorXd deviations_of(const GaussianProcess& process) {
  return process.covariance().diagonal().cwiseMax(0).cwiseSqrt();
}

/// What the fastest of `graphs` is expected to take once `measured` was measured.
double expected_least(const GaussianProcess& process, const std::vector<size_t>& graphs,
                      Eigen::Index measured, double noise,
                      const std::array<double, kOutcomes>& shifts) {
  const double variance = std::max(process.covariance()(measured, measured), 0.0);
  const Eigen::VectorXd mean = process.mean()(graphs);
  const Eigen::VectorXd change =
      process.covariance()(graphs, measured) / std::sqrt(variance + noise * noise);
  double sum = 0;
  for (double shift : shifts) sum += (mean + shift * change).minCoeff();
  return sum / kOutcomes;
}

}  // namespace

struct Residual::State {
  GaussianProcess process;
  size_t observations = 0;
  std::array<double, kOutcomes> shifts = outcomes();
};

Residual::Residual(std::span<const std::vector<Trait>> graphs)
    : state_(std::make_unique<State>(State{process_of(graphs)})),
      known_(graphs.size(), Known::Prior) {
  known_[0] = Known::Measured;
}
Residual::~Residual() = default;

void Residual::observe(size_t graph, double ratio, double noise) {
  CHECK(graph < graphs());
  state_->process.observe(static_cast<Eigen::Index>(graph), ratio, noise);
  ++state_->observations;
  known_[graph] = Known::Measured;
}

void Residual::exclude(size_t graph) {
  CHECK(graph > 0 && graph < graphs());
  known_[graph] = Known::Excluded;
}

std::vector<double> Residual::means() const {
  const Eigen::VectorXd& mean = state_->process.mean();
  return {mean.begin(), mean.end()};
}

std::vector<double> Residual::deviations() const {
  const Eigen::VectorXd all = deviations_of(state_->process);
  return {all.begin(), all.end()};
}

size_t Residual::best() const {
  const Eigen::VectorXd& mean = state_->process.mean();
  size_t best = 0;
  for (size_t k = 1; k < graphs(); ++k)
    if (known_[k] == Known::Measured &&
        mean(static_cast<Eigen::Index>(k)) < mean(static_cast<Eigen::Index>(best)))
      best = k;
  return best;
}

bool Residual::settled(double least) const {
  const Eigen::MatrixXd& covariance = state_->process.covariance();
  const Eigen::VectorXd& mean = state_->process.mean();
  const auto best = static_cast<Eigen::Index>(this->best());
  for (Eigen::Index k = 0; k < mean.size(); ++k) {
    if (known_[static_cast<size_t>(k)] == Known::Excluded) continue;
    const double apart = covariance(k, k) + covariance(best, best) - 2 * covariance(k, best);
    if (mean(best) - mean(k) + 2 * std::sqrt(std::max(apart, 0.0)) > least) return false;
  }
  return true;
}

std::vector<size_t> Residual::likely() const {
  const Eigen::VectorXd least = state_->process.mean() - 2 * deviations_of(state_->process);
  std::vector<size_t> all;
  for (size_t k = 0; k < graphs(); ++k)
    if (known_[k] != Known::Excluded) all.push_back(k);
  std::stable_sort(all.begin(), all.end(), [&](size_t a, size_t b) {
    return least(static_cast<Eigen::Index>(a)) < least(static_cast<Eigen::Index>(b));
  });
  all.resize(std::min(all.size(), kFew));
  return all;
}

std::optional<size_t> Residual::next(double noise, double least) const {
  const bool enough = state_->observations >= std::min(kFewest, graphs() - 1);
  if (enough && settled(least)) return std::nullopt;
  const GaussianProcess& process = state_->process;
  const std::vector<size_t> few = likely();
  size_t taken = few.front();
  double lowest = INFINITY;
  for (size_t graph : few) {
    const auto at = static_cast<Eigen::Index>(graph);
    const double expected = state_->observations == 0
                                ? process.mean()(at)
                                : expected_least(process, few, at, noise, state_->shifts);
    if (expected >= lowest) continue;
    lowest = expected;
    taken = graph;
  }
  return taken;
}

}  // namespace regraft::cost
