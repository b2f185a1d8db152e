#include "ir/ops/reductions/reduce.h"

namespace regraft::ops {

// out[i] = sum over the axes of x
struct ReduceSum : Reduction {
  static constexpr std::string_view name = "reduce-sum";
  static constexpr std::string_view onnx[] = {"ReduceSum"};
  static constexpr Work work = Work::Reduction;
  static constexpr Fusion fusion = Fusion::Folding;
  OP_ELEMENT {
    using I = typename A::Index;
    Box<A> box(in[0], at, i);
    auto total = sum_over(alg, std::span<const I>(box.extents),
                          [&](std::span<const I> k) { return alg.read(in[0], box.at_offset(k)); });
    return total;
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("ReduceSum", 13, at, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reduce_sum, ReduceSum)
