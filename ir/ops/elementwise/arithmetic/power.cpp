#include <cmath>

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i] to the power of an integer
struct Power : Elementwise<Fn::Recip> {
  static constexpr int64_t kLargest = 16;
  static constexpr std::string_view name = "power";
  static constexpr std::string_view onnx[] = {"Pow"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 7, 7}, {DType::F16, 7, 7}, {DType::F64, 7, 7}, {DType::BF16, 15, kNever}};
  static constexpr IntAttr ints[] = {{"exponent", Length::One, std::nullopt, true}};
  OP_SHAPES {
    if (std::abs(fixed(at.ints[0][0])) > kLargest) return error("power: exponent too large");
    return Shapes<A>{in[0]};
  }
  OP_ELEMENT {
    int64_t exponent = fixed(at.ints[0][0]);
    auto x = alg.read(in[0], i), power = alg.constant(1);
    for (int64_t k = 0; k < std::abs(exponent); ++k) power = power * x;
    return exponent < 0 ? alg.apply(Fn::Recip, power) : power;
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto exponent = constant_exponent(n);
    if (!exponent || *exponent != std::trunc(*exponent) || std::abs(*exponent) > kLargest)
      return std::nullopt;
    return OnnxImport{{{{Poly(static_cast<int64_t>(*exponent))}}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in, int) {
    OnnxExport r;
    r.type = "Pow";
    r.inputs = operand_inputs(1);
    auto exponent = static_cast<double>(fixed(at.ints[0][0]));
    ASSIGN_OR_RETURN(auto input, real_input("exponent", exponent, in[0].dtype));
    r.inputs.push_back(std::move(input));
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{{3}}, {}}}, {{{5}}, {{{-2}}, {}}}, {{{2}}, {{{0}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(power, Power)
