#include "ir/ops/reductions/reduce.h"

namespace regraft::ops {

// out[i] = sqrt(sum over the axes of x * x)
struct ReduceL2 : Reduction {
  static constexpr std::string_view name = "reduce-l2";
  static constexpr std::string_view onnx[] = {"ReduceL2", "GlobalLpPool"};
  static constexpr Work work = Work::Reduction;
  OP_ELEMENT {
    Box<A> box(in[0], at, i);
    return alg.apply(Fn::Sqrt, sum_of(alg, in[0], box, [](const auto& x) { return x * x; }));
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.type != "GlobalLpPool") return import(n);
    return n.integer("p", 2) == 2 ? import_global_pool(n) : std::nullopt;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("ReduceL2", 18, at, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reduce_l2, ReduceL2)
