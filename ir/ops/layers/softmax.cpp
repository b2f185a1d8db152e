#include <cmath>

#include "base/parallel.h"
#include "ir/ops/define.h"

namespace regraft::ops {

// out[i] = exp(x[i]) / sum over k of exp(x[i with k on the axis])
struct Softmax {
  static constexpr std::string_view name = "softmax";
  static constexpr std::string_view onnx[] = {"Softmax"};
  static constexpr Work work = Work::Reduction;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"axis", Length::One, -1, true, IntKind::Axis}};
  OP_SHAPES {
    if (!axis_fits(fixed(at.ints[0][0]), static_cast<int>(in[0].size())))
      return error("softmax: no such axis");
    return Shapes<A>{in[0]};
  }
  OP_ELEMENT {
    int axis = axis_of(fixed(at.ints[0][0]), in[0].rank());
    Indices<typename A::Index> from(i);
    auto e = [&](const auto& k) {
      from[axis] = k;
      return alg.apply(Fn::Exp, alg.read(in[0], from));
    };
    return e(i[static_cast<size_t>(axis)]) * alg.apply(Fn::Recip, alg.sum(in[0].dim(axis), e));
  }
  // exp(x[i] - m) / sum over k of exp(x[k] - m), where m is the largest of the x[k]
  OP_FLOAT_ELEMENT {
    using I = typename A::Index;
    int axis = axis_of(fixed(at.ints[0][0]), in[0].rank());
    Indices<I> from(i);
    auto x = [&](const I& k) {
      from[axis] = k;
      return alg.read(in[0], from);
    };
    std::array<I, 1> extent = {in[0].dim(axis)};
    auto largest = alg.max_over(
        std::span<const I>(extent), [](std::span<const I>) { return I(0) <= I(0); },
        [&](std::span<const I> k) { return x(k[0]); });
    auto e = [&](const I& k) { return alg.apply(Fn::Exp, minus(alg, x(k), largest)); };
    return e(i[static_cast<size_t>(axis)]) * alg.apply(Fn::Recip, alg.sum(extent[0], e));
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
          double total = 0, largest = in[0].data[first];
          for (int64_t k = 0; k < size; ++k)
            largest = std::max(largest, in[0].data[first + k * step]);
          for (int64_t k = 0; k < size; ++k)
            total += out[static_cast<size_t>(first + k * step)] =
                std::exp(in[0].data[first + k * step] - largest);
          for (int64_t k = 0; k < size; ++k) out[static_cast<size_t>(first + k * step)] /= total;
        },
        64);
  }
  // Before opset 13 the axes from `axis` on are one; that is ours only when it is the last.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    if (!rank) return std::nullopt;
    int64_t axis = n.integer("axis", n.opset >= 13 ? -1 : 1);
    if (!axis_fits(axis, *rank)) return std::nullopt;
    if (n.opset < 13 && axis_of(axis, *rank) != *rank - 1) return std::nullopt;
    return OnnxImport{{{{Poly(axis)}}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    int64_t axis = fixed(at.ints[0][0]);
    int rank = static_cast<int>(in[0].shape->size());
    if (opset < 13 && axis != rank - 1) return error("Softmax on an inner axis needs opset 13");
    OnnxExport r;
    r.type = "Softmax";
    r.attrs["axis"] = int_attr(axis);
    r.inputs = operand_inputs(1);
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{{-1}}, {}}}, {{{2, 3, 2}}, {{{1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(softmax, Softmax)
