#include "ir/ops/reductions/reduce.h"

namespace regraft::ops {

// out[i] = sum over the axes of |x|
struct ReduceL1 : Reduction {
  static constexpr std::string_view name = "reduce-l1";
  static constexpr std::string_view onnx[] = {"ReduceL1", "GlobalLpPool"};
  static constexpr Work work = Work::Reduction;
  OP_ELEMENT {
    Box<A> box(in[0], at, i);
    return sum_of(alg, in[0], box, [&](const auto& x) { return absolute(alg, x); });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.type != "GlobalLpPool") return import(n);
    return n.integer("p", 2) == 1 ? import_global_pool(n) : std::nullopt;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("ReduceL1", 18, at, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reduce_l1, ReduceL1)
