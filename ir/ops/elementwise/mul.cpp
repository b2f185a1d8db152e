#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = a[i] * b[i], with broadcasting
struct Mul : Broadcasting {
  static constexpr std::string_view name = "mul";
  static constexpr std::string_view onnx[] = {"Mul"};
  static constexpr std::span<const TypeSupport> types = kNumbers;
  static constexpr auto typed = &one_number_type;
  static constexpr Arithmetic arithmetic = Arithmetic::Product;
  static constexpr bool commutative = true;
  static constexpr bool associative = true;
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return a * b;
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(mul, Mul)
