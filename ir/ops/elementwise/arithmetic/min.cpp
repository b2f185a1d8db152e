#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = the smaller of a[i] and b[i], with broadcasting
struct Min : Broadcasting {
  static constexpr std::string_view name = "min";
  static constexpr std::string_view onnx[] = {"Min"};
  static constexpr std::span<const TypeSupport> types = kOrderedNumbers;
  static constexpr auto typed = &one_number_type;
  static constexpr bool commutative = true;
  static constexpr bool associative = true;
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return smaller(alg, a, b);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(min, Min)
