#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = x[i] as a number of another type: rounded to a float of fewer bits, cut to an integer,
// or whether it is not 0
struct Cast {
  static constexpr std::string_view name = "cast";
  static constexpr std::string_view onnx[] = {"Cast", "CastLike"};
  static constexpr Fusion fusion = Fusion::Pointwise;
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, 1}, {DType::BF16, 13, 13},
      {DType::I64, 1, 1}, {DType::I32, 1, 1}, {DType::Bool, 1, 1}};
  static constexpr IntAttr ints[] = {{"to", Length::One, std::nullopt, true}};
  static constexpr int arity = 1;
  static constexpr bool states_type = true;
  static DType target(int64_t to) { return static_cast<DType>(to); }
  /// Numbers that the type does not have are undefined, which small integer types invite.
  static bool is_possible(DType from, DType to) {
    bool known = is_real(from) || is_integer(from);
    bool wide = to == DType::I32 || to == DType::I64;
    return known &&
           (is_real(to) || to == DType::Bool || wide || (is_integer(to) && from == DType::Bool));
  }
  static Result<DType> typed(const OpDef&, const Attrs<Poly>& at, std::span<const DType> operands) {
    if (!at.ints[0][0].is_constant()) return error("cast: attribute to must be a number");
    DType from = operands[0], to = target(at.ints[0][0].constant());
    bool of_truths = is_possible(DType::Bool, to) && from == DType::F32;  // in rules: any type
    if (is_possible(from, to) || of_truths) return to;
    return error("cast from " + to_string(from) + " to " + to_string(to));
  }
  OP_SHAPES { return Shapes<A>{in[0]}; }
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    switch (target(fixed(at.ints[0][0]))) {
      case DType::Bool:
        return positive(alg, x) + positive(alg, minus(alg, zero(alg), x));
      case DType::F32:
        return alg.apply(Fn::Single, x);
      case DType::F16:
        return alg.apply(Fn::Half, x);
      case DType::BF16:
        return alg.apply(Fn::Brain, x);
      case DType::I32:
      case DType::I64:
        return alg.apply(Fn::Trunc, x);
      default:
        return x;
    }
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.type == "CastLike" && n.inputs.size() != 2) return std::nullopt;
    auto to = n.type == "Cast" ? target(n.integer("to", 0)) : n.inputs[1].type.dtype;
    if (!is_possible(n.inputs[0].type.dtype, to)) return std::nullopt;
    return OnnxImport{{{{Poly(static_cast<int64_t>(to))}}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    DType to = target(fixed(at.ints[0][0]));
    if (!is_possible(in[0].dtype, to))
      return error("cast from " + to_string(in[0].dtype) + " to " + to_string(to));
    if (to == DType::BF16 && opset < 13) return error("bfloat16 is newer than the model's opset");
    OnnxExport r;
    r.type = "Cast";
    r.attrs["to"] = int_attr(static_cast<int64_t>(to));
    r.inputs = operand_inputs(1);
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{{1}}, {}}}, {{{4}}, {{{10}}, {}}}, {{{}}, {{{9}}, {}}},
            {{{2}}, {{{11}}, {}}},   {{{2}}, {{{16}}, {}}}, {{{2, 2}}, {{{7}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(cast, Cast)
