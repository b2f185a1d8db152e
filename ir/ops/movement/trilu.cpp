#include "ir/ops/define.h"

namespace regraft::ops {

// out[.., r, c] = x[.., r, c] where c - r >= k (upper = 1) or c - r <= k (upper = 0), else 0
struct Trilu {
  static constexpr std::string_view name = "trilu";
  static constexpr std::string_view onnx[] = {"Trilu"};
  static constexpr Work work = Work::Movement;
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"upper", Length::One, 1, true},
                                     {"k", Length::One, 0, false, IntKind::Offset}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 14, 14}, {DType::F16, 14, 14}, {DType::F64, 14, 14}, {DType::BF16, 14, kNever},
      {DType::I64, 14, 14}, {DType::I32, 14, 14}, {DType::Bool, 14, 14}};
  OP_SHAPES {
    if (in[0].size() < 2) return error("trilu: the operand is not a matrix");
    return Shapes<A>{in[0]};
  }
  OP_ELEMENT {
    const auto &row = i[i.size() - 2], &column = i[i.size() - 1], &k = at.ints[1][0];
    return alg.select(
        fixed(at.ints[0][0]) != 0 ? row + k <= column : column <= row + k,
        [&] { return alg.read(in[0], i); }, [&] { return zero(alg); });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    int64_t diagonal = 0;
    if (n.inputs.size() > 1 && n.inputs[1].present) {
      auto k = n.constant_ints(1);
      if (!k || k->size() != 1) return std::nullopt;
      diagonal = std::clamp<int64_t>((*k)[0], INT32_MIN, INT32_MAX);  // further is the same
    }
    return OnnxImport{{{{Poly(n.integer("upper", 1))}, {Poly(diagonal)}}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&, int) {
    OnnxExport r;
    r.type = "Trilu";
    r.inputs = operand_inputs(1);
    r.attrs["upper"] = int_attr(fixed(at.ints[0][0]));
    ASSIGN_OR_RETURN(auto k, numbers("k", at.ints[1]));
    if (k[0] != 0) r.inputs.push_back({std::nullopt, Constant::of_ints({}, k)});
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{3, 4}}, {{{1}, {1}}, {}}},
            {{{2, 3, 3}}, {{{0}, {0}}, {}}},
            {{{3, 3}}, {{{0}, {-1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(trilu, Trilu)
