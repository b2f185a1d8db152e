#include "ir/algebra.h"

namespace regraft {

const FnFacts& facts(Fn f) {
  static constexpr FnFacts table[] = {
      {"relu", true, true, 1},   {"clip", false, true, 2},   {"sigmoid", false, false, 12},
      {"tanh", true, false, 12}, {"exp", false, false, 10},  {"sqrt", true, false, 4},
      {"erf", true, false, 16},  {"recip", false, false, 4},
  };
  return table[static_cast<size_t>(f)];
}

}  // namespace regraft
