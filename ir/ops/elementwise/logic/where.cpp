#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = a[i] where c[i] is 1, b[i] where it is 0, with broadcasting
struct Where {
  static constexpr std::string_view name = "where";
  static constexpr std::string_view onnx[] = {"Where"};
  static constexpr Fusion fusion = Fusion::Pointwise;
  static constexpr TypeSupport types[] = {
      {DType::F32, 9, 9}, {DType::F16, 9, 9}, {DType::F64, 9, 9},      {DType::BF16, 16, kNever},
      {DType::I64, 9, 9}, {DType::I32, 9, 9}, {DType::Bool, 9, kNever}};
  static constexpr int type_operand = 1;
  static constexpr unsigned truths = 1;
  static constexpr int arity = 3;
  static Result<DType> typed(const OpDef& op, const Attrs<Poly>& at,
                             std::span<const DType> operands) {
    RETURN_IF_ERROR(joined_truths(op, at, operands.first(1)));
    return shared_type(op, operands, 1);
  }
  OP_SHAPES { return Shapes<A>{broadcast(alg, broadcast(alg, in[0], in[1]), in[2])}; }
  OP_ELEMENT {
    return alg.choose(
        read_broadcast(alg, in[0], i), [&] { return read_broadcast(alg, in[1], i); },
        [&] { return read_broadcast(alg, in[2], i); });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    return are_truths(n, 0, 0) ? import_by_name(define<Where>(), n) : std::nullopt;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    if (in[0].dtype != DType::Bool)
      return error("where: the condition is of type " + to_string(in[0].dtype));
    RETURN_IF_ERROR(check_types(define<Where>(), in, 1));
    return export_by_name(define<Where>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}, {2, 3}, {2, 3}}, {}}, {{{3}, {2, 1}, {}}, {}}, {{{}, {2}, {2}}, {}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(where, Where)
