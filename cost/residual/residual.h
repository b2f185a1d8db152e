#pragma once
// What whole graphs take beside what their kernels' prices say, learned from measurements of a few.
#include <memory>
#include <span>
#include <vector>

#include "cost/residual/traits.h"

namespace regraft::cost {

/// Graphs that compute the same, of which some are measured and one is to be chosen. Times are
/// parts of the first graph's. What a price overlooks is taken to be a sum over a graph's traits,
/// of numbers that are equal for all graphs, normal, and independent: so what is measured of one
/// graph says something of all that have traits in common with it, and how sure that is. Not
/// thread-safe.
class Residual {
 public:
  /// `graphs`: traits of each. REQUIRES: there is a first, and its price is above 0.
  explicit Residual(std::span<const std::vector<Trait>> graphs);
  ~Residual();

  size_t graphs() const { return known_.size(); }
  /// One measurement. `noise`: standard deviation of the ratio.
  void observe(size_t graph, double ratio, double noise);
  /// The graph cannot be measured: it is neither the next one nor the best.
  void exclude(size_t graph);
  /// Of all graphs, given what was measured.
  std::vector<double> means() const;
  std::vector<double> deviations() const;
  /// The measured graph, or the first one, that is expected to be the fastest.
  size_t best() const;

  /// The graph to measure next: the one after whose measurement the fastest graph is expected to be
  /// fastest (knowledge gradient; Frazier, Powell, Dayanik, "The Knowledge-Gradient Policy for
  /// Correlated Normal Beliefs", 2009). Begins with the least price. It may be one that was
  /// measured before. Nothing where, after a few measurements, no graph is thought to be faster
  /// than best() by `least`, at two standard deviations. `noise`: of a measurement.
  std::optional<size_t> next(double noise, double least) const;

 private:
  enum class Known : uint8_t { Prior, Measured, Excluded };
  bool settled(double least) const;
  /// Those that are fastest if they take two standard deviations less than expected.
  std::vector<size_t> likely() const;

  struct State;
  std::unique_ptr<State> state_;
  std::vector<Known> known_;
};

}  // namespace regraft::cost
