#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = -x[i]
struct Neg : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "neg";
  static constexpr std::string_view onnx[] = {"Neg"};
  static constexpr std::span<const TypeSupport> types = kNumbers;
  static constexpr auto typed = &one_number_type;
  OP_ELEMENT { return alg.constant(-1) * alg.read(in[0], i); }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(neg, Neg)
