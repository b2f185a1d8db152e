#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = |x[i]|
struct Abs : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "abs";
  static constexpr std::string_view onnx[] = {"Abs"};
  static constexpr std::span<const TypeSupport> types = kNumbers;
  static constexpr auto typed = &one_number_type;
  OP_ELEMENT { return magnitude(alg, alg.read(in[0], i)); }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(abs, Abs)
