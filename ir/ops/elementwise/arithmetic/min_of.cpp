#include "ir/ops/elementwise/arithmetic/several.h"

namespace regraft::ops {

// out[i] = the smallest of the operands' elements at i, with broadcasting
struct MinOf : Several {
  static constexpr std::string_view name = "min-of";
  static constexpr std::string_view onnx[] = {"Min"};
  static constexpr std::span<const TypeSupport> types = kOrderedNumbers;
  static constexpr auto typed = &one_number_type;
  OP_ELEMENT {
    return over_operands(alg, in, i,
                         [&](const auto& a, const auto& b) { return smaller(alg, a, b); });
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(min_of, MinOf)
