#include "ir/ops/reductions/reduce.h"

namespace regraft::ops {

// out[i] = sum over the axes of x * x
struct ReduceSumSquare : Reduction {
  static constexpr std::string_view name = "reduce-sum-square";
  static constexpr std::string_view onnx[] = {"ReduceSumSquare"};
  static constexpr Work work = Work::Reduction;
  OP_ELEMENT {
    Box<A> box(in[0], at, i);
    return sum_of(alg, in[0], box, [](const auto& x) { return x * x; });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("ReduceSumSquare", 18, at, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reduce_sum_square, ReduceSumSquare)
