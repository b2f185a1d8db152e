#include "ir/ops/reductions/reduce.h"

namespace regraft::ops {

// out[i] = maximum over the axes of x
struct ReduceMax : Reduction {
  static constexpr std::string_view name = "reduce-max";
  static constexpr std::string_view onnx[] = {"ReduceMax"};
  static constexpr Work work = Work::Reduction;
  OP_ELEMENT {
    using I = typename A::Index;
    Box<A> box(in[0], at, i);
    return alg.max_over(
        std::span<const I>(box.extents), [](std::span<const I>) { return I(0) <= I(0); },
        [&](std::span<const I> k) { return alg.read(in[0], box.at_offset(k)); });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("ReduceMax", 18, at, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reduce_max, ReduceMax)
