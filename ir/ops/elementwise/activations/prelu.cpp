#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i], or slope[i] * x[i] where it is negative; the slope is broadcast to x
struct PRelu {
  static constexpr std::string_view name = "prelu";
  static constexpr std::string_view onnx[] = {"PRelu"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 7, 7}, {DType::F16, 7, 7}, {DType::F64, 7, kNever}, {DType::BF16, 16, kNever}};
  static constexpr int arity = 2;
  static constexpr Fusion fusion = Fusion::Pointwise;
  OP_SHAPES {
    if (in[1].size() > in[0].size()) return error("prelu: slope of a higher rank");
    size_t skip = in[0].size() - in[1].size();
    for (size_t d = 0; d < in[1].size(); ++d)
      if (!is_one(in[1][d])) alg.require(in[1][d] == in[0][skip + d]);
    return Shapes<A>{in[0]};
  }
  OP_ELEMENT { return leaking(alg, alg.read(in[0], i), read_broadcast(alg, in[1], i)); }
  static std::vector<Sample> samples() {
    return {{{{2, 3}, {2, 3}}, {}}, {{{2, 3, 4}, {3, 1}}, {}}, {{{3}, {}}, {}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(prelu, PRelu)
