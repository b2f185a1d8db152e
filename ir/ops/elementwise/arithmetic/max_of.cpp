#include "ir/ops/elementwise/arithmetic/several.h"

namespace regraft::ops {

// out[i] = the largest of the operands' elements at i, with broadcasting
struct MaxOf : Several {
  static constexpr std::string_view name = "max-of";
  static constexpr std::string_view onnx[] = {"Max"};
  static constexpr std::span<const TypeSupport> types = kOrderedNumbers;
  static constexpr auto typed = &one_number_type;
  OP_ELEMENT {
    return over_operands(alg, in, i,
                         [&](const auto& a, const auto& b) { return alg.larger(a, b); });
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(max_of, MaxOf)
