#include "ir/ops/reductions/reduce.h"

namespace regraft::ops {

// out[i] = log(sum over the axes of exp(x))
struct ReduceLogSumExp : Reduction {
  static constexpr std::string_view name = "reduce-log-sum-exp";
  static constexpr std::string_view onnx[] = {"ReduceLogSumExp"};
  static constexpr Work work = Work::Reduction;
  OP_ELEMENT {
    Box<A> box(in[0], at, i);
    auto e = [&](const auto& x) { return alg.apply(Fn::Exp, x); };
    return alg.apply(Fn::Log, sum_of(alg, in[0], box, e));
  }
  // m + log(sum of exp(x - m)), where m is the largest x
  OP_FLOAT_ELEMENT {
    using I = typename A::Index;
    Box<A> box(in[0], at, i);
    auto largest = largest_over(
        alg, box.extents, [&](std::span<const I> k) { return alg.read(in[0], box.at_offset(k)); });
    auto e = [&](const auto& x) { return alg.apply(Fn::Exp, minus(alg, x, largest)); };
    return largest + alg.apply(Fn::Log, sum_of(alg, in[0], box, e));
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("ReduceLogSumExp", 18, at, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reduce_log_sum_exp, ReduceLogSumExp)
