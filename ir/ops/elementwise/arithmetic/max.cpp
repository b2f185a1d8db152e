#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = the larger of a[i] and b[i], with broadcasting
struct Max : Broadcasting {
  static constexpr std::string_view name = "max";
  static constexpr std::string_view onnx[] = {"Max"};
  static constexpr std::span<const TypeSupport> types = kOrderedNumbers;
  static constexpr auto typed = &one_number_type;
  static constexpr bool commutative = true;
  static constexpr bool associative = true;
  OP_ELEMENT { return alg.larger(read_broadcast(alg, in[0], i), read_broadcast(alg, in[1], i)); }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(max, Max)
