#pragma once
// Whether two tensors differ by more than what their elements can lose to rounding.
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/eval.h"
#include "rewrite/compare/format.h"

namespace regraft::rewrite {

/// How many times what an element can lose counts as rounding.
constexpr double kTolerance = 8;

/// Compares two tensors element by element. An element agrees when it differs by at most kTolerance
/// times `level` of its own magnitude; one that differs by more is suspect until samples explain
/// it: other values that the same element has under disturbances as large as rounding. It agrees
/// when it differs by at most kTolerance times the largest distance that a sample was from it.
/// Nothing is claimed of elements that are not finite in the first tensor, or next to its type's
/// largest value; a finite one that is not finite in the second tensor is suspect.
class Comparison {
 public:
  /// `level`: see JointProgram. Not used where `type` is not real: these must be equal.
  Comparison(const Array<double>& first, const Array<double>& second, DType type, double level);

  /// The tensor under a disturbance that is `times` as large as rounding.
  void sample_first(const Array<double>& x, double times = 1);
  void sample_second(const Array<double>& y, double times = 1);

  bool agrees() const { return !other_shape_ && ratio() <= 1; }
  bool other_shape() const { return other_shape_; }
  struct Place {
    size_t index;  ///< row-major
    double first, second;
    double allowed;  ///< the difference that counts as rounding
  };
  /// The first element that differs by more than `limit` times what it may; none where shapes do.
  std::optional<Place> first_above(double limit) const;
  int64_t count_above(double limit) const;  ///< elements
  /// The largest difference, for each element as a part of what it may be. Above 1: they differ.
  double ratio() const;
  double max_absolute() const { return max_absolute_; }
  /// The same as a part of the tensor's largest finite magnitude.
  double max_relative() const;
  int64_t compared() const { return compared_; }  ///< elements
  int64_t unclaimed() const { return unclaimed_; }
  bool empty() const { return compared_ + unclaimed_ == 0; }

 private:
  struct Suspect {
    size_t index;
    double first, second, least, spread;
    double allowed() const;
    double ratio() const;
  };
  void compare(size_t index, double x, double y, const Format& format, double level);

  bool other_shape_ = false;
  double max_absolute_ = 0, scale_ = 0;
  double calm_ratio_ = 0;  ///< of the elements that are not suspect
  int64_t compared_ = 0, unclaimed_ = 0;
  std::vector<Suspect> suspects_;
};

}  // namespace regraft::rewrite
