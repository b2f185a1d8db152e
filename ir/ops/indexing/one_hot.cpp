#include "ir/ops/indexing/at_run_time.h"

namespace regraft::ops {

// out[a.., p, b..] = values[1] where t[a.., b..] is p or p - depth, else values[0]; p is on the
// axis `axis` of the output, which has `depth` elements. Operands: t, values.
struct OneHot {
  static constexpr std::string_view name = "one-hot";
  static constexpr std::string_view onnx[] = {"OneHot"};
  static constexpr Work work = Work::Movement;
  static constexpr TypeSupport types[] = {{DType::F32, 9, 9},      {DType::F16, 9, kNever},
                                          {DType::F64, 9, kNever}, {DType::BF16, 28, kNever},
                                          {DType::I64, 9, 9},      {DType::I32, 9, kNever},
                                          {DType::Bool, 9, kNever}};
  static constexpr int arity = 2;
  static constexpr int type_operand = 1;
  static constexpr IntAttr ints[] = {{"depth", Length::One, std::nullopt},
                                     {"axis", Length::One, std::nullopt, true, IntKind::Offset}};
  static Result<DType> typed(const OpDef& op, const Attrs<Poly>&, std::span<const DType> operands) {
    if (!is_real(operands[0]) && !is_integer(operands[0]))
      return error(std::string(op.name) + ": operand 0 is of type " + to_string(operands[0]));
    if (operands[1] == DType::Undefined)
      return error(std::string(op.name) + ": operand 1 is of type " + to_string(operands[1]));
    return operands[1];
  }
  OP_SHAPES {
    auto out = in[0];
    int64_t axis = fixed(at.ints[1][0]);
    if (axis < 0 || axis > static_cast<int64_t>(out.size())) return error("one-hot: no such axis");
    if (in[1].size() != 1) return error("one-hot: the values are no vector");
    if (out.size() >= kMaxRank) return error("one-hot: rank too high");
    using I = typename A::Index;
    alg.require(in[1][0] == I(2));
    alg.require(I(1) <= at.ints[0][0]);
    out.insert(out.begin() + axis, at.ints[0][0]);
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    auto axis = static_cast<size_t>(fixed(at.ints[1][0]));
    Indices<I> from(i.first(axis));
    for (const I& p : i.subspan(axis + 1)) from.push_back(p);
    auto index = alg.apply(Fn::Trunc, alg.read(in[0], from));
    auto here = equal(alg, index, alg.to_scalar(i[axis])) +
                equal(alg, index, alg.to_scalar(i[axis] - at.ints[0][0]));
    auto value = [&](int64_t k) {
      Indices<I> place;
      place.push_back(I(k));
      return alg.read(in[1], place);
    };
    return alg.choose(
        here, [&] { return value(1); }, [&] { return value(0); });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    if (!rank || n.inputs.size() != 3) return std::nullopt;
    auto depth = depth_of(n);
    int64_t axis = n.integer("axis", -1);
    if (axis < 0) axis += *rank + 1;
    if (!depth || axis < 0 || axis > *rank) return std::nullopt;
    return OnnxImport{{{{*depth}, {Poly(axis)}}, {}}, {0, 2}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in, int) {
    if (in[0].dtype != DType::I64)
      return error("OneHot of indices of type " + to_string(in[0].dtype) + " is not written");
    OnnxExport r;
    r.type = "OneHot";
    r.attrs["axis"] = int_attr(fixed(at.ints[1][0]));
    ASSIGN_OR_RETURN(auto depth, size_input("depth", at.ints[0]));
    r.inputs = {{0, nullptr}, std::move(depth), {1, nullptr}};
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{3}, {2}}, {{{4}, {1}}, {}}}, {{{2, 2}, {2}}, {{{3}, {0}}, {}}}};
  }

 private:
  /// A number of any type, or a size.
  static std::optional<Poly> depth_of(const OnnxNode& n) {
    if (auto sizes = n.sizes(1))
      return sizes->size() == 1 ? std::optional((*sizes)[0]) : std::nullopt;
    auto number = n.constant_real(1);
    bool whole = number && *number >= 1 && *number <= INT32_MAX && *number == std::floor(*number);
    return whole ? std::optional(Poly(static_cast<int64_t>(*number))) : std::nullopt;
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(one_hot, OneHot)
