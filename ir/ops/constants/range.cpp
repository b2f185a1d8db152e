#include "ir/ops/define.h"
#include "ir/ops/number_types.h"

namespace regraft::ops {

// out[i] = start + i * delta, for `length` elements of the type of the operand, whose value does
// not matter: in models it is the start
struct Range {
  static constexpr std::string_view name = "range";
  static constexpr std::string_view onnx[] = {"Range"};
  static constexpr Work work = Work::Movement;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"length", Length::One, std::nullopt},
                                     {"start", Length::One, 0, false, IntKind::Offset},
                                     {"delta", Length::One, 1, true, IntKind::Offset}};
  static constexpr TypeSupport types[] = {{DType::I64, 11, 11}, {DType::I32, 11, 11}};
  static constexpr auto typed = &one_number_type;
  OP_SHAPES {
    if (!in[0].empty()) return error("range: the operand has axes");
    alg.require(typename A::Index(1) <= at.ints[0][0]);
    return Shapes<A>{{at.ints[0][0]}};
  }
  OP_ELEMENT { return alg.to_scalar(at.ints[1][0] + i[0] * at.ints[2][0]); }
  // Of numbers and sizes; the step is a number.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.inputs.size() != 3 || rank_of(n, 0) != 0) return std::nullopt;
    auto start = n.sizes(0), limit = n.sizes(1);
    auto delta = n.constant_ints(2);
    if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 ||
        delta->size() != 1 || delta->front() == 0)
      return std::nullopt;
    auto length = length_of(limit->front() - start->front(), delta->front());
    if (!length || (length->is_constant() && length->constant() < 1)) return std::nullopt;
    return OnnxImport{{{{*length}, *start, polys(*delta)}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in, int) {
    DType type = in[0].dtype;
    const Poly &start = at.ints[1][0], &delta = at.ints[2][0];
    Poly limit = start + at.ints[0][0] * delta;
    OnnxExport r;
    r.type = "Range";
    for (const Poly& p : {start, limit, delta}) {
      if (p.is_constant()) {
        auto number = static_cast<double>(p.constant());
        r.inputs.push_back({std::nullopt, make_constant(type, {}, {number})});
        continue;
      }
      if (type != DType::I64) return error("a Range of " + to_string(type) + " ends at a number");
      ASSIGN_OR_RETURN(auto sizes, size_input("range", {p}));
      r.inputs.push_back(std::move(sizes));
    }
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{}}, {{{4}, {0}, {1}}, {}}}, {{{}}, {{{3}, {2}, {-2}}, {}}}};
  }

 private:
  static std::optional<Poly> length_of(const Poly& span, int64_t delta) {
    if (delta == 1 && never_negative(span)) return span;
    if (!span.is_constant() || delta == INT64_MIN) return std::nullopt;
    return Poly((span.constant() + delta - (delta > 0 ? 1 : -1)) / delta);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(range, Range)
