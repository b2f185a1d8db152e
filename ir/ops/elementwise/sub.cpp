#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = a[i] - b[i], with broadcasting
struct Sub : Broadcasting {
  static constexpr std::string_view name = "sub";
  static constexpr std::string_view onnx[] = {"Sub"};
  static constexpr std::span<const TypeSupport> types = kNumbers;
  static constexpr auto typed = &one_number_type;
  static constexpr Arithmetic arithmetic = Arithmetic::Difference;
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return minus(alg, a, b);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(sub, Sub)
