#include "ir/ops/define.h"

namespace regraft::ops {

// out[i] = x[i] where x is broadcast to `shape`, which is that of the output
struct Expand {
  static constexpr std::string_view name = "expand";
  static constexpr std::string_view onnx[] = {"Expand"};
  static constexpr Work work = Work::Movement;
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"shape", Length::Any, std::nullopt}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 8, 8}, {DType::F16, 8, 8}, {DType::F64, 8, 8}, {DType::BF16, 13, kNever},
      {DType::I64, 8, 8}, {DType::I32, 8, 8}, {DType::Bool, 8, 8}};
  OP_SHAPES {
    const auto &x = in[0], &shape = at.ints[0];
    using I = typename A::Index;
    if (shape.size() < x.size()) return error("expand: the shape has a lower rank than the data");
    if (shape.size() > kMaxRank) return error("expand: rank too high");
    for (const auto& d : shape) alg.require(I(0) <= d);
    for (size_t d = 1; d <= x.size(); ++d)
      if (const auto& size = x[x.size() - d]; !is_one(size))
        alg.require(size == shape[shape.size() - d]);
    return Shapes<A>{shape};
  }
  OP_ELEMENT { return read_broadcast(alg, in[0], i); }
  // ONNX's shape may have 1 where the data has more.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto given = n.sizes(1);
    if (!given || !n.inputs[0].type.shape) return std::nullopt;
    const Shape& x = *n.inputs[0].type.shape;
    std::vector<Poly> shape = *given;
    while (shape.size() < x.size()) shape.insert(shape.begin(), Poly(1));
    for (size_t d = 1; d <= x.size(); ++d) {
      Poly& to = shape[shape.size() - d];
      const Poly& from = x[x.size() - d];
      if (is_one(to)) to = from;
      if (!is_one(from) && !same(from, to)) return std::nullopt;
    }
    return OnnxImport{{{shape}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in, int) {
    const Shape& x = *in[0].shape;
    std::vector<Poly> shape = at.ints[0];
    for (size_t d = 1; d <= x.size(); ++d)  // what stays as it is need not be a number
      if (Poly& to = shape[shape.size() - d]; !to.is_constant() && same(to, x[x.size() - d]))
        to = Poly(1);
    OnnxExport r;
    r.type = "Expand";
    r.inputs = operand_inputs(1);
    ASSIGN_OR_RETURN(auto sizes, size_input("shape", std::move(shape)));
    r.inputs.push_back(std::move(sizes));
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{3, 1}}, {{{2, 3, 4}}, {}}}, {{{2, 3}}, {{{2, 3}}, {}}}, {{{}}, {{{2}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(expand, Expand)
