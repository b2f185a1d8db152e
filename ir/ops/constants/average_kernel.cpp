#include "ir/ops/define.h"

namespace regraft::ops {

// out[c, 0, k..] = 1 / (number of kernel elements): the depthwise kernel of average pooling
struct AverageKernel {
  static constexpr std::string_view name = "average-kernel";
  static constexpr std::span<const std::string_view> onnx{};
  static constexpr int arity = 0;
  static constexpr IntAttr ints[] = {{"channels", Length::One, std::nullopt},
                                     {"kernel", Length::Any, std::nullopt}};
  OP_SHAPES {
    using I = typename A::Index;
    ShapeOf<I> out{at.ints[0][0], I(1)};
    out.insert(out.end(), at.ints[1].begin(), at.ints[1].end());
    if (out.size() > static_cast<size_t>(kMaxRank)) return error("average-kernel: rank too high");
    for (const auto& d : out) alg.require(I(1) <= d);
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    typename A::Index count(1);
    for (const auto& k : at.ints[1]) count = count * k;
    return alg.recip(count);
  }
  static std::vector<Sample> samples() {
    return {{{}, {{{2}, {3, 3}}, {}}}, {{}, {{{3}, {2}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(average_kernel, AverageKernel)
