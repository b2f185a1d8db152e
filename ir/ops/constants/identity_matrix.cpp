#include "ir/ops/define.h"

namespace regraft::ops {

// out[m, n] = 1 where m = n, else 0
struct IdentityMatrix {
  static constexpr std::string_view name = "identity-matrix";
  static constexpr std::span<const std::string_view> onnx{};
  static constexpr int arity = 0;
  static constexpr IntAttr ints[] = {{"size", Length::One, std::nullopt}};
  OP_SHAPES {
    alg.require(typename A::Index(1) <= at.ints[0][0]);
    return Shapes<A>{{at.ints[0][0], at.ints[0][0]}};
  }
  OP_ELEMENT {
    return alg.select(
        i[0] == i[1], [&] { return alg.constant(1); }, [&] { return zero(alg); });
  }
  static std::vector<Sample> samples() { return {{{}, {{{3}}, {}}}, {{}, {{{1}}, {}}}}; }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(identity_matrix, IdentityMatrix)
