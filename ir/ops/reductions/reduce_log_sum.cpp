#include "ir/ops/reductions/reduce.h"

namespace regraft::ops {

// out[i] = log(sum over the axes of x)
struct ReduceLogSum : Reduction {
  static constexpr std::string_view name = "reduce-log-sum";
  static constexpr std::string_view onnx[] = {"ReduceLogSum"};
  static constexpr Work work = Work::Reduction;
  OP_ELEMENT {
    Box<A> box(in[0], at, i);
    return alg.apply(Fn::Log, sum_of(alg, in[0], box, [](const auto& x) { return x; }));
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("ReduceLogSum", 18, at, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reduce_log_sum, ReduceLogSum)
