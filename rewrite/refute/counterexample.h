#pragma once
// Inputs at which two models differ.
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/progress.h"
#include "ir/graph/eval.h"

namespace regraft::rewrite {

/// Where a difference starts: the smallest part of each graph found that makes equal values differ.
/// Node ids, operands first; without graph inputs and constants.
struct DifferenceStart {
  std::vector<int32_t> a, b;
  /// With the last value of `a` in place of the last of `b` the second graph agrees. Otherwise
  /// `b` is where its values first equal none of the first graph's, and `a`, which may be empty,
  /// the same there.
  bool confirmed = false;
};

/// Sizes and inputs at which the graphs' values differ in the output named by more than rounding
/// explains. Real inputs are numbers of their own type.
struct ModelCounterexample {
  std::map<std::string, int64_t> sizes;  ///< numbers that stand for sizes of inputs, by name
  std::vector<Array<double>> inputs;     ///< by graph input; an input of unknown shape is empty
  std::string inputs_are;                ///< how they were chosen, "zero", before some were reduced
  size_t output = 0;                     ///< of the graphs
  /// Why the second graph cannot be evaluated where the first can; empty: it can. Then there are
  /// no shapes and elements.
  std::string failure;
  std::vector<int64_t> first_shape, second_shape;  ///< of the output
  std::vector<int64_t> position;  ///< of the first element that differs; empty where shapes differ
  double first = 0, second = 0;   ///< that element
  double allowed = 0;             ///< the difference that rounding would explain there
  /// What an opaque node makes decides over the difference, and here its results were drawn at
  /// random, or what differs are operands of one: then first and second are of the operand that
  /// `place` names, and `output` is the first that may depend on it. Only a runtime can tell.
  bool needs_replay = false;
  std::string place;  ///< "output 0", "operand 1 of y"
  DifferenceStart start;
};

struct CounterexampleOptions {
  uint64_t seed = 1;
  int runs = 64;               ///< at most so many evaluations to find a difference; each may be
                               ///< repeated several times to see what rounding explains
  double seconds = 5;          ///< for these; the first may take four times as long; 0: no limit
  double sample_seconds = 30;  ///< to see what rounding explains of one difference; 0: no limit
  double reduce_seconds = 5;   ///< to make a counterexample simpler; 0: no limit
  double locate_seconds = 10;  ///< to find where it starts; 0: no limit
  bool zero_sizes = false;     ///< sizes may be 0
  double max_bytes = std::numeric_limits<double>::infinity();  ///< as for CheckOptions
  Verbosity verbosity = Verbosity::Quiet;
};

/// What was tried.
struct CounterexampleSearch {
  bool same = false;       ///< the graphs are one computation: nothing was run
  int runs = 0;            ///< evaluations that were compared
  std::string unfinished;  ///< why no more were made, as Stop has it, or that the first graph could
                           ///< not be evaluated; empty: all that were planned were made
  /// Outputs that differ in form and were never evaluated in both graphs, or that depend on
  /// operands of an opaque node which were not: behind an opaque node that only one graph has, or
  /// one of unknown shape. They may differ.
  std::vector<size_t> not_compared;
};

/// Searches for counterexamples of two graphs: both are evaluated in double precision on inputs
/// over all regimes, at several sizes (rewrite/compare), and a difference that is found is made
/// simpler: the smallest sizes, then inputs that are zero, one, small integers, and as many
/// elements zero or small integers as possible. What rounding of folded constants, of results in
/// their own types, or the ranges of types explains is no difference. The graphs outlive it. Not
/// thread-safe; evaluation uses all cores.
class CounterexampleFinder {
 public:
  /// An Error when the graphs have other inputs, or another number of outputs.
  static Result<CounterexampleFinder> make(const Graph& a, const Graph& b,
                                           const CounterexampleOptions& options);
  CounterexampleFinder(CounterexampleFinder&&) noexcept;
  ~CounterexampleFinder();

  /// Whether a counterexample shows elsewhere, in a runtime; its `start` is not known yet.
  using Shows = std::function<Result<bool>(const ModelCounterexample&)>;
  /// The next one, of other inputs than those before; nothing when the plan is done, out of time or
  /// stopped. With `shows`, one that shows is only made simpler as long as it does, and one that
  /// does not is given as it was found. An Error when a constant cannot be read, or of `shows`.
  Result<std::optional<ModelCounterexample>> next(const Stop& stop, const Shows& shows = {});
  CounterexampleSearch search() const;
  /// Inputs to run the models themselves with, where the graphs cannot tell: `k` counts the ways in
  /// which they are chosen, at the smallest sizes and at others in turn. Without inputs where the
  /// first graph works at no sizes. REQUIRES: k >= 0.
  ModelCounterexample trial(int k) const;

 private:
  struct State;
  explicit CounterexampleFinder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The first that the finder gives.
Result<std::optional<ModelCounterexample>> find_counterexample(const Graph& a, const Graph& b,
                                                               const CounterexampleOptions& options,
                                                               const Stop& stop);

}  // namespace regraft::rewrite
