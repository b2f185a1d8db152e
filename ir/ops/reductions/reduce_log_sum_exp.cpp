#include <cmath>
#include <limits>

#include "ir/ops/normalisation/moments.h"
#include "ir/ops/reductions/reduce.h"

namespace regraft::ops {

// out[i] = log(sum over the axes of exp(x))
struct ReduceLogSumExp : Reduction {
  static constexpr std::string_view name = "reduce-log-sum-exp";
  static constexpr std::string_view onnx[] = {"ReduceLogSumExp"};
  static constexpr Work work = Work::Reduction;
  OP_ELEMENT {
    Box<A> box(in[0], at, i);
    auto e = [&](const auto& x) { return alg.apply(Fn::Exp, x); };
    return alg.apply(Fn::Log, sum_of(alg, in[0], box, e));
  }
  // m + log(sum of exp(x - m)), where m is the largest x
  OP_FLOAT_ELEMENT {
    using I = typename A::Index;
    Box<A> box(in[0], at, i);
    auto largest = largest_over(
        alg, box.extents, [&](std::span<const I> k) { return alg.read(in[0], box.at_offset(k)); });
    auto e = [&](const auto& x) { return alg.apply(Fn::Exp, minus(alg, x, largest)); };
    return largest + alg.apply(Fn::Log, sum_of(alg, in[0], box, e));
  }
  /// The same, also where exp has no double.
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t>,
                    std::span<double> out) {
    const auto& x = in[0];
    std::vector<char> reduced(static_cast<size_t>(x.rank()), 0);
    for (int64_t a : at.ints[0]) reduced[static_cast<size_t>(axis_of(a, x.rank()))] = 1;
    const std::span<const int64_t> shape(x.dims.data(), reduced.size());
    const Groups groups(shape, reduced);
    auto group = [&](size_t k) { return static_cast<size_t>(groups.of[k]); };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> largest(out.size(), -kInfinity);
    for (size_t k = 0; k < groups.of.size(); ++k)
      if (!(x.data[k] <= largest[group(k)])) largest[group(k)] = x.data[k];
    std::ranges::fill(out, 0);
    for (size_t k = 0; k < groups.of.size(); ++k) {
      const double m = largest[group(k)];
      out[group(k)] += std::isinf(m) ? std::exp(x.data[k]) : std::exp(x.data[k] - m);
    }
    for (size_t k = 0; k < out.size(); ++k)
      out[k] = std::log(out[k]) + (std::isinf(largest[k]) ? 0 : largest[k]);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("ReduceLogSumExp", 18, at, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reduce_log_sum_exp, ReduceLogSumExp)
