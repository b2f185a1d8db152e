#include <cmath>

#include "base/parallel.h"
#include "ir/ops/define.h"

namespace regraft::ops {

// out[i] = x[i] - log(sum over k of exp(x[i with k on the axis])); with flat = 1 over all axes from
// `axis` on, as ONNX had it before opset 13
struct LogSoftmax {
  static constexpr std::string_view name = "log-softmax";
  static constexpr std::string_view onnx[] = {"LogSoftmax"};
  static constexpr Work work = Work::Reduction;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"axis", Length::One, -1, true, IntKind::Axis},
                                     {"flat", Length::One, 0, true}};
  OP_SHAPES {
    if (!axis_fits(fixed(at.ints[0][0]), static_cast<int>(in[0].size())))
      return error("log-softmax: no such axis");
    return Shapes<A>{in[0]};
  }
  /// The elements that share a logarithm with that at i.
  template <class A>
  struct Line {
    using I = typename A::Index;
    int axis;
    Indices<I> extents, from;
    const typename A::Tensor& x;
    Line(const typename A::Tensor& tensor, const Attrs<I>& at, std::span<const I> i)
        : axis(axis_of(fixed(at.ints[0][0]), tensor.rank())), from(i), x(tensor) {
      int end = fixed(at.ints[1][0]) != 0 ? x.rank() : axis + 1;
      for (int d = axis; d < end; ++d) extents.push_back(x.dim(d));
    }
    typename A::Scalar read(A& alg, std::span<const I> k) {
      for (size_t d = 0; d < k.size(); ++d) from[axis + static_cast<int>(d)] = k[d];
      return alg.read(x, from);
    }
  };
  OP_ELEMENT {
    using I = typename A::Index;
    Line<A> line(in[0], at, i);
    auto total = sum_over(alg, std::span<const I>(line.extents), [&](std::span<const I> k) {
      return alg.apply(Fn::Exp, line.read(alg, k));
    });
    return minus(alg, alg.read(in[0], i), alg.apply(Fn::Log, total));
  }
  // x[i] - m - log(sum over k of exp(x[k] - m)), where m is the largest of the x[k]
  OP_FLOAT_ELEMENT {
    using I = typename A::Index;
    Line<A> line(in[0], at, i);
    auto largest =
        largest_over(alg, line.extents, [&](std::span<const I> k) { return line.read(alg, k); });
    auto total = sum_over(alg, std::span<const I>(line.extents), [&](std::span<const I> k) {
      return alg.apply(Fn::Exp, minus(alg, line.read(alg, k), largest));
    });
    return minus(alg, minus(alg, alg.read(in[0], i), largest), alg.apply(Fn::Log, total));
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    auto axis = static_cast<size_t>(axis_of(at.ints[0][0], in[0].rank()));
    int64_t size = shape[axis], step = in[0].strides[axis];
    if (at.ints[1][0] != 0) size *= step, step = 1;
    if (size == 0) return;
    parallel_for(
        out.size() / static_cast<size_t>(size), default_threads(),
        [&](size_t line) {
          auto l = static_cast<int64_t>(line);
          const double* x = in[0].data + l / step * step * size + l % step;
          double* y = out.data() + (x - in[0].data);
          double total = 0, largest = x[0];
          for (int64_t k = 0; k < size; ++k) largest = std::max(largest, x[k * step]);
          for (int64_t k = 0; k < size; ++k) total += std::exp(x[k * step] - largest);
          for (int64_t k = 0; k < size; ++k) y[k * step] = x[k * step] - largest - std::log(total);
        },
        64);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    if (!rank) return std::nullopt;
    int64_t axis = n.integer("axis", n.opset >= 13 ? -1 : 1);
    if (!axis_fits(axis, *rank)) return std::nullopt;
    bool flat = n.opset < 13 && axis_of(axis, *rank) != *rank - 1;
    return OnnxImport{{{{Poly(axis)}, {Poly(flat ? 1 : 0)}}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    int64_t axis = fixed(at.ints[0][0]), flat = fixed(at.ints[1][0]);
    bool last = axis == static_cast<int64_t>(in[0].shape->size()) - 1;
    if (opset < 13 && !last && flat == 0)
      return error("LogSoftmax on an inner axis needs opset 13");
    if (opset >= 13 && !last && flat != 0)
      return error("LogSoftmax over several axes is older than opset 13");
    OnnxExport r;
    r.type = "LogSoftmax";
    r.attrs["axis"] = int_attr(axis);
    r.inputs = operand_inputs(1);
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{{-1}, {0}}, {}}},
            {{{2, 3, 2}}, {{{1}, {0}}, {}}},
            {{{2, 2, 3}}, {{{1}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(log_softmax, LogSoftmax)
