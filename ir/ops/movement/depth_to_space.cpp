#include "ir/ops/define.h"

namespace regraft::ops {

// Channels become blocks of b x b places: out[n, c, h, w] = x[n, k, h / b, w / b] (whole numbers),
// where with r = h mod b and s = w mod b the channel k is (r * b + s) * C + c, of C in the output;
// with crd = 1 it is (c * b + r) * b + s
struct DepthToSpace {
  static constexpr std::string_view name = "depth-to-space";
  static constexpr std::string_view onnx[] = {"DepthToSpace"};
  static constexpr Work work = Work::Movement;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"blocksize", Length::One, std::nullopt},
                                     {"crd", Length::One, 0, true}};
  OP_SHAPES {
    using I = typename A::Index;
    const auto& x = in[0];
    const I& b = at.ints[0][0];
    if (x.size() != 4) return error("depth-to-space: the operand is no batch of images");
    alg.require(I(1) <= b);
    I channels = alg.floordiv(x[1], b * b);
    alg.require(x[1] == b * b * channels);
    return Shapes<A>{{x[0], channels, x[2] * b, x[3] * b}};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const I& b = at.ints[0][0];
    I h = alg.floordiv(i[2], b), w = alg.floordiv(i[3], b), r = i[2] - h * b, s = i[3] - w * b;
    I channel = fixed(at.ints[1][0]) != 0 ? (i[1] * b + r) * b + s
                                          : (r * b + s) * alg.floordiv(in[0].dim(1), b * b) + i[1];
    return alg.read(in[0], std::array<I, 4>{i[0], channel, h, w});
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto mode = n.text("mode", "DCR");
    int64_t block = n.integer("blocksize", 0);
    if (block < 1 || block > 1 << 20 || (mode != "DCR" && mode != "CRD")) return std::nullopt;
    return OnnxImport{{{{Poly(block)}, {Poly(mode == "CRD" ? 1 : 0)}}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    OnnxExport r;
    r.type = "DepthToSpace";
    r.inputs = operand_inputs(1);
    ASSIGN_OR_RETURN(auto block, numbers("blocksize", at.ints[0]));
    r.attrs["blocksize"] = ints_attr(block);
    bool crd = fixed(at.ints[1][0]) != 0;
    if (crd && opset < 11) return error("DepthToSpace in order CRD needs opset 11");
    if (crd) r.attrs["mode"] = text_attr("CRD");
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{1, 8, 2, 3}}, {{{2}, {0}}, {}}}, {{{2, 8, 1, 2}}, {{{2}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(depth_to_space, DepthToSpace)
