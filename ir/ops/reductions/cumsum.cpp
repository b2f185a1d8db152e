#include "base/parallel.h"
#include "ir/ops/define.h"

namespace regraft::ops {

// out[i] = sum over k <= i on the axis of x[i with k there]; over k >= i when reverse is 1, and
// without k = i when exclusive is 1
struct CumSum {
  static constexpr std::string_view name = "cumsum";
  static constexpr std::string_view onnx[] = {"CumSum"};
  static constexpr Work work = Work::Reduction;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"axis", Length::One, std::nullopt, true, IntKind::Axis},
                                     {"exclusive", Length::One, 0, true},
                                     {"reverse", Length::One, 0, true}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 11, 11}, {DType::F16, 14, 14}, {DType::F64, 11, 11}, {DType::BF16, 14, kNever}};
  template <class I>
  static bool flag(const Attrs<I>& at, size_t k) {
    return fixed(at.ints[k][0]) != 0;
  }
  OP_SHAPES {
    if (!axis_fits(fixed(at.ints[0][0]), static_cast<int>(in[0].size())))
      return error("cumsum: no such axis");
    return Shapes<A>{in[0]};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    int axis = axis_of(fixed(at.ints[0][0]), in[0].rank());
    const I& p = i[static_cast<size_t>(axis)];
    Indices<I> from(i);
    return alg.sum(in[0].dim(axis), [&](const I& k) {
      from[axis] = k;
      const I &low = flag(at, 2) ? p : k, &high = flag(at, 2) ? k : p;
      return alg.select(
          flag(at, 1) ? low < high : low <= high, [&] { return alg.read(in[0], from); },
          [&] { return zero(alg); });
    });
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    auto axis = static_cast<size_t>(axis_of(at.ints[0][0], in[0].rank()));
    int64_t size = shape[axis], step = in[0].strides[axis];
    if (size == 0) return;
    parallel_for(
        out.size() / static_cast<size_t>(size), default_threads(),
        [&](size_t line) {
          auto l = static_cast<int64_t>(line);
          int64_t first = l / step * step * size + l % step;
          double total = 0;
          for (int64_t n = 0; n < size; ++n) {
            int64_t k = first + (flag(at, 2) ? size - 1 - n : n) * step;
            double x = in[0].data[k];
            out[static_cast<size_t>(k)] = flag(at, 1) ? total : total + x;
            total += x;
          }
        },
        64);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto axis = n.constant_ints(1);
    if (!axis || axis->size() != 1) return std::nullopt;
    return OnnxImport{
        {{polys(*axis), {Poly(n.integer("exclusive", 0))}, {Poly(n.integer("reverse", 0))}}, {}},
        {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&, int) {
    OnnxExport r;
    r.type = "CumSum";
    r.inputs = operand_inputs(1);
    r.inputs.push_back({std::nullopt, Constant::of_ints({}, {fixed(at.ints[0][0])})});
    r.attrs["exclusive"] = int_attr(fixed(at.ints[1][0]));
    r.attrs["reverse"] = int_attr(fixed(at.ints[2][0]));
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 4}}, {{{1}, {0}, {0}}, {}}},
            {{{3, 2}}, {{{0}, {1}, {0}}, {}}},
            {{{2, 3, 2}}, {{{-2}, {0}, {1}}, {}}},
            {{{4}}, {{{0}, {1}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(cumsum, CumSum)
