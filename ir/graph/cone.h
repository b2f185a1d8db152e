#pragma once
// Inside constant folding only: what a call on constants is made of, and what it computes.
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/parallel.h"
#include "ir/graph/eval.h"
#include "ir/graph/graph.h"

namespace regraft {

using Constants = std::vector<std::shared_ptr<const Constant>>;
/// The outputs of a call as they were computed, before they are rounded to their types.
using Unrounded = std::shared_ptr<const std::vector<Array<double>>>;

/// Doubles have all integers up to here.
inline constexpr int64_t kLargestInteger = int64_t{1} << 53;

/// A call on constants with all that it is made of. Immutable once it is closed; thread-safe then.
class Cone {
 public:
  /// A node whose outputs are known: a constant, or a call that was folded.
  void add_leaf(int32_t id, Constants values) { add(id, {nullptr, std::move(values), {}, {}}); }
  void add_leaf(int32_t id, Unrounded values, bool floats) {
    add(id, {nullptr, {}, std::move(values), {}, floats});
  }
  /// A call whose operands were added. `decides`: it makes integers or truth values of floats.
  void add_call(int32_t id, NodePtr node, bool decides);
  bool contains(int32_t id) const { return places_.count(id) > 0; }
  /// Nothing more is added.
  void close() { places_.clear(); }

  /// The outputs of what was added last, in doubles. An Error when a constant cannot be read, or
  /// `stop` ended it.
  Result<std::vector<Array<double>>> evaluate(const Stop& stop) const {
    return evaluate(stop, Rounding::None, nullptr);
  }
  /// Are the outputs the same however a runtime rounds floats of which integers or truth values are
  /// made, and are all integers such as doubles have? Errors: as of evaluate().
  Result<bool> is_decided(const Stop& stop) const;

 private:
  /// What becomes of the numbers that float32 does not have.
  enum class Rounding : uint8_t { None, Down, Up };
  using Values = std::vector<std::vector<Array<double>>>;
  struct Step {
    NodePtr node;  // null: a leaf
    Constants leaf;
    Unrounded unrounded;          // a leaf as well
    std::vector<Value> operands;  // node: place among the steps
    bool floats = false;          // numbers that a runtime rounds
  };
  void add(int32_t id, Step step);
  static void round_to_float(std::vector<double>& numbers, Rounding way);
  static Result<std::vector<Array<double>>> read(const Step& step);
  static Result<std::vector<Array<double>>> call(const Step& step, const Values& values,
                                                 const Stop& stop);
  /// `too_large` is set, if it is given, where an integer is no double.
  Result<std::vector<Array<double>>> evaluate(const Stop& stop, Rounding way,
                                              bool* too_large) const;

  std::vector<Step> steps_;
  std::unordered_map<int32_t, int32_t> places_;
  bool decides_ = false, counts_ = false;  // some call decides; makes integers
};

/// What must be there for the model to be written, whatever was to stop.
Result<std::vector<Array<double>>> evaluated_whole(const Cone& cone);

}  // namespace regraft
