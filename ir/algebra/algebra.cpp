#include "ir/algebra/algebra.h"

namespace regraft {

const FnFacts& facts(Fn f) {
  static constexpr FnFacts table[] = {
      {"relu", true, true, true, 1},        {"clip", false, false, true, 2},
      {"sigmoid", false, false, false, 12}, {"tanh", true, false, false, 12},
      {"exp", false, false, false, 10},     {"sqrt", true, true, false, 4},
      {"erf", true, false, false, 16},      {"recip", false, true, false, 4},
  };
  return table[static_cast<size_t>(f)];
}

}  // namespace regraft
