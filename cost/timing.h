#pragma once
// How long something took.
namespace regraft::cost {

struct Timing {
  double microseconds = 0;  ///< median
  double noise = 0;         ///< half the width of a 95 % interval of the median, over the median
  int runs = 0;
};

}  // namespace regraft::cost
