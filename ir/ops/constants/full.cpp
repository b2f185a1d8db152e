#include "ir/ops/define.h"

namespace regraft::ops {

// out[i] = value: zeros, ones, any constant
struct Full {
  static constexpr std::string_view name = "full";
  static constexpr std::span<const std::string_view> onnx{};
  static constexpr int arity = 0;
  static constexpr IntAttr ints[] = {{"shape", Length::Any, std::nullopt}};
  static constexpr RealAttr reals[] = {{"value", 0}};
  OP_SHAPES {
    using I = typename A::Index;
    for (const auto& d : at.ints[0]) alg.require(I(1) <= d);
    return Shapes<A>{at.ints[0]};
  }
  OP_ELEMENT { return alg.real(at.reals[0]); }
  static std::vector<Sample> samples() {
    return {{{}, {{{2, 3}}, {{1, nullptr}}}}, {{}, {{{}}, {{0, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(full, Full)
