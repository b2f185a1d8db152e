#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = 1 where x[i] is infinite and of a sign that is looked for, else 0
struct IsInf : Elementwise<Fn::IsInf> {
  static constexpr std::string_view name = "is-inf";
  static constexpr std::string_view onnx[] = {"IsInf"};
  static constexpr auto typed = &told_apart;
  static constexpr TypeSupport types[] = {
      {DType::F32, 10, 10}, {DType::F16, 20, 20}, {DType::F64, 10, 10}, {DType::BF16, 20, 20}};
  static constexpr IntAttr ints[] = {{"detect_negative", Length::One, 1, true},
                                     {"detect_positive", Length::One, 1, true}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    auto below = alg.apply(Fn::IsInf, minus(alg, zero(alg), x));
    return alg.constant(fixed(at.ints[0][0])) * below +
           alg.constant(fixed(at.ints[1][0])) * alg.apply(Fn::IsInf, x);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{{1}, {1}}, {}}}, {{{4}}, {{{1}, {0}}, {}}}, {{{}}, {{{0}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(is_inf, IsInf)
