#pragma once
// The real value of an element of a rule's side at a point, for comparison with what floating point
// makes of it.
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "verify/numerics/float_run.h"

namespace regraft::verify {

/// Values to which nothing is added by more precision; not thread-safe. Doubles with a bound for
/// their error decide most; the others are evaluated in intervals of growing precision (MPFR).
class ExactValues {
 public:
  /// A real number within `error` of `value`; an error that is not a number: nothing is known.
  struct Ball {
    double value = 0, error = 0;
  };
  /// `format`: values are known up to what they are rounded to in it; nullopt: to nine digits. The
  /// other two outlive this.
  ExactValues(const FloatProgram& p, const Points& points, std::optional<Format> format);
  ~ExactValues();
  /// The value of an element of p, by whichever side is easier: they are equal where both are
  /// defined.
  /// nullopt: not defined there, beyond the range of doubles, or not found within the limits.
  std::optional<double> value(const FloatProgram::Element& element, size_t point);
  uint64_t multiprecision_runs() const { return runs_; }  ///< how many values took MPFR

 private:
  struct Multiprecision;
  void evaluate();
  const Ball& at(int32_t step, size_t point) const {
    return balls_[static_cast<size_t>(rows_[static_cast<size_t>(step)]) * points_.count + point];
  }

  const FloatProgram& p_;
  const Points& points_;
  std::optional<Format> format_;
  std::vector<int32_t> rows_;  // rows_of_elements()
  std::vector<Ball> balls_;    // [row * points + point]
  std::map<std::pair<int32_t, int32_t>, std::unique_ptr<Multiprecision>> precise_;  // by element
  uint64_t runs_ = 0;
};

}  // namespace regraft::verify
