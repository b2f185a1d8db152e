#include "ir/ops/define.h"

namespace regraft::ops {

// Blocks of b x b places become channels: out[n, k, h, w] = x[n, c, h * b + r, w * b + s], where
// k = (r * b + s) * C + c, of C channels in x
struct SpaceToDepth {
  static constexpr std::string_view name = "space-to-depth";
  static constexpr std::string_view onnx[] = {"SpaceToDepth"};
  static constexpr Work work = Work::Movement;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"blocksize", Length::One, std::nullopt}};
  OP_SHAPES {
    using I = typename A::Index;
    const auto& x = in[0];
    const I& b = at.ints[0][0];
    if (x.size() != 4) return error("space-to-depth: the operand is no batch of images");
    alg.require(I(1) <= b);
    I h = alg.floordiv(x[2], b), w = alg.floordiv(x[3], b);
    alg.require(x[2] == h * b);
    alg.require(x[3] == w * b);
    return Shapes<A>{{x[0], x[1] * b * b, h, w}};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const I &b = at.ints[0][0], &channels = in[0].dim(1);
    I place = alg.floordiv(i[1], channels), c = i[1] - place * channels;
    I r = alg.floordiv(place, b), s = place - r * b;
    return alg.read(in[0], std::array<I, 4>{i[0], c, i[2] * b + r, i[3] * b + s});
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    int64_t block = n.integer("blocksize", 0);
    if (block < 1 || block > 1 << 20 || n.text("mode", "DCR") != "DCR") return std::nullopt;
    return OnnxImport{{{{Poly(block)}}, {}}, {0}};
  }
  static std::vector<Sample> samples() {
    return {{{{1, 3, 4, 6}}, {{{2}}, {}}}, {{{2, 1, 3, 3}}, {{{3}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(space_to_depth, SpaceToDepth)
