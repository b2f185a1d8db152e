#include "ir/ops/define.h"

namespace regraft::ops {

// out[m, n] = 1 where n = m + k, else 0: of the shape of x, whose elements do not matter, and the
// element type `to`, or that of x where it is 0
struct EyeLike {
  static constexpr std::string_view name = "eye-like";
  static constexpr std::string_view onnx[] = {"EyeLike"};
  static constexpr Work work = Work::Movement;
  static constexpr int arity = 1;
  static constexpr bool states_type = true;
  static constexpr IntAttr ints[] = {{"k", Length::One, 0, true, IntKind::Offset},
                                     {"to", Length::One, 0, true}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 9, 9}, {DType::F16, 9, 9}, {DType::F64, 9, 9},      {DType::BF16, 22, kNever},
      {DType::I64, 9, 9}, {DType::I32, 9, 9}, {DType::Bool, 9, kNever}};
  static Result<DType> typed(const OpDef& op, const Attrs<Poly>& at,
                             std::span<const DType> operands) {
    if (!at.ints[1][0].is_constant()) return error("eye-like: attribute to must be a number");
    auto to = static_cast<DType>(at.ints[1][0].constant());
    DType type = to == DType::Undefined ? operands[0] : to;
    if (is_real(type) || is_integer(type)) return type;
    return error(std::string(op.name) + " of type " + to_string(type));
  }
  OP_SHAPES {
    if (in[0].size() != 2) return error("eye-like: the operand is no matrix");
    return Shapes<A>{in[0]};
  }
  OP_ELEMENT {
    return alg.select(
        i[1] == i[0] + at.ints[0][0], [&] { return alg.constant(1); }, [&] { return zero(alg); });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (rank_of(n, 0) != 2) return std::nullopt;
    return OnnxImport{{{{Poly(n.integer("k", 0))}, {Poly(n.integer("dtype", 0))}}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&, int) {
    OnnxExport r;
    r.type = "EyeLike";
    r.inputs = operand_inputs(1);
    r.attrs["k"] = int_attr(fixed(at.ints[0][0]));
    if (int64_t to = fixed(at.ints[1][0]); to != 0) {
      auto type = static_cast<DType>(to);
      if (size_of(type) < 4) return error("EyeLike of type " + to_string(type) + " does not run");
      r.attrs["dtype"] = int_attr(to);
    }
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{3, 3}}, {{{0}, {0}}, {}}}, {{{2, 4}}, {{{-1}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(eye_like, EyeLike)
