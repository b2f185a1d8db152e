#include "ir/ops/define.h"

namespace regraft::ops {

// out[o, c, k..] = 1 where c = o mod (channels / group) and every k is at `centre`, else 0:
// the kernel under which a convolution with that many groups and pads = centre returns its input
struct IdentityKernel {
  static constexpr std::string_view name = "identity-kernel";
  static constexpr std::span<const std::string_view> onnx{};
  static constexpr int arity = 0;
  static constexpr IntAttr ints[] = {{"channels", Length::One, std::nullopt},
                                     {"kernel", Length::Any, std::nullopt},
                                     {"centre", Length::Any, std::nullopt, false, IntKind::Offset},
                                     {"group", Length::One, 1}};
  OP_SHAPES {
    using I = typename A::Index;
    const auto &channels = at.ints[0][0], &group = at.ints[3][0];
    if (at.ints[1].size() != at.ints[2].size())
      return error("identity-kernel: kernel and centre differ in length");
    if (at.ints[1].size() + 2 > static_cast<size_t>(kMaxRank))
      return error("identity-kernel: rank too high");
    ShapeOf<I> out{channels, alg.floordiv(channels, group)};
    alg.require(I(1) <= out[1]);
    alg.require(channels == group * out[1]);
    for (size_t d = 0; d < at.ints[1].size(); ++d) {
      alg.require(I(0) <= at.ints[2][d]);
      alg.require(at.ints[2][d] < at.ints[1][d]);
      out.push_back(at.ints[1][d]);
    }
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    I own = i[0];
    if (!is_one(at.ints[3][0])) {
      I width = alg.floordiv(at.ints[0][0], at.ints[3][0]);
      own = i[0] - width * alg.floordiv(i[0], width);
    }
    auto hit = own == i[1];
    for (size_t d = 2; d < i.size(); ++d) hit = hit && i[d] == at.ints[2][d - 2];
    return alg.select(
        hit, [&] { return alg.constant(1); }, [&] { return zero(alg); });
  }
  static std::vector<Sample> samples() {
    return {{{}, {{{3}, {3, 3}, {1, 1}, {1}}, {}}}, {{}, {{{4}, {1, 3}, {0, 2}, {2}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(identity_kernel, IdentityKernel)
