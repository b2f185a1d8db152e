#include <algorithm>
#include <cmath>

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = log(1 + exp(x[i]))
struct Softplus : Elementwise<Fn::Log> {
  static constexpr std::string_view name = "softplus";
  static constexpr std::string_view onnx[] = {"Softplus"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  OP_ELEMENT { return softplus(alg, alg.read(in[0], i)); }
  OP_FLOAT_ELEMENT { return stable_softplus(alg, alg.read(in[0], i)); }
  /// The same, also where exp has no double.
  static void dense(Tensors<Reals> in, const Attrs<int64_t>&, std::span<const int64_t>,
                    std::span<double> out) {
    for (size_t k = 0; k < out.size(); ++k) {
      const double x = in[0].data[k];
      out[k] = std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    }
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(softplus, Softplus)
