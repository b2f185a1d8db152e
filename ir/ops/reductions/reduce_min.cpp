#include "ir/ops/reductions/reduce.h"

namespace regraft::ops {

// out[i] = minimum over the axes of x, which is -max(-x)
struct ReduceMin : Reduction {
  static constexpr std::string_view name = "reduce-min";
  static constexpr std::string_view onnx[] = {"ReduceMin"};
  static constexpr Work work = Work::Reduction;
  OP_ELEMENT {
    using I = typename A::Index;
    Box<A> box(in[0], at, i);
    auto largest = largest_over(alg, box.extents, [&](std::span<const I> k) {
      return minus(alg, zero(alg), alg.read(in[0], box.at_offset(k)));
    });
    return minus(alg, zero(alg), largest);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("ReduceMin", 18, at, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reduce_min, ReduceMin)
