#include "ir/ops/define.h"

namespace regraft::ops {

// out[n, c, 0..] = max over p.. of x[n, c, p..]
struct GlobalMaxPool {
  static constexpr std::string_view name = "global-maxpool";
  static constexpr std::string_view onnx[] = {"GlobalMaxPool"};
  static constexpr Work work = Work::Pooling;
  static constexpr Blocking blocking = Blocking::Filled;
  static constexpr int arity = 1;
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  OP_SHAPES {
    if (in[0].size() < 3) return error("global-maxpool: no spatial axis");
    auto out = in[0];
    for (size_t d = 2; d < out.size(); ++d) out[d] = typename A::Index(1);
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    Indices<I> extents, from(i);
    for (int d = 2; d < in[0].rank(); ++d) extents.push_back(in[0].dim(d));
    return largest_over(alg, extents, [&](std::span<const I> k) {
      for (size_t d = 0; d < k.size(); ++d) from[static_cast<int>(d) + 2] = k[d];
      return alg.read(in[0], from);
    });
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    if (in[0].shape->size() > 5 || has_zero(std::span(*in[0].shape).subspan(1)))
      return error("GlobalMaxPool of nothing, or over more than three axes, does not run");
    return export_by_name(define<GlobalMaxPool>(), at, in, opset);
  }
  static std::vector<Sample> samples() { return {{{{2, 3, 4, 5}}, {}}, {{{1, 2, 3}}, {}}}; }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(global_maxpool, GlobalMaxPool)
