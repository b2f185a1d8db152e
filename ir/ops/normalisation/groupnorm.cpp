#include "ir/ops/normalisation/moments.h"

namespace regraft::ops {

// out[n, c, p..] = (x[n, c, p..] - mean) / sqrt(variance + epsilon) * scale[j] + bias[j]
// with mean and variance of x[n] over the places of all channels of c's group; j is c, or with
// by_group = 1 its group; operands: x, scale, bias
struct GroupNorm {
  static constexpr std::string_view name = "groupnorm";
  static constexpr std::string_view onnx[] = {"GroupNormalization"};
  static constexpr Work work = Work::Reduction;
  static constexpr int arity = 3;
  static constexpr IntAttr ints[] = {{"num_groups", Length::One, std::nullopt},
                                     {"by_group", Length::One, 0, true}};
  static constexpr RealAttr reals[] = {{"epsilon", double{1e-5F}}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 18, 21}, {DType::F16, 18, 21}, {DType::F64, 18, 21}, {DType::BF16, 18, kNever}};
  OP_SHAPES {
    using I = typename A::Index;
    const auto& x = in[0];
    const I& groups = at.ints[0][0];
    if (x.size() < 3) return error("groupnorm: no spatial axis");
    alg.require(I(1) <= groups);
    alg.require(x[1] == groups * alg.floordiv(x[1], groups));
    for (size_t k : {1, 2}) {
      if (in[k].size() != 1) return error("groupnorm: scale or bias is not a vector");
      alg.require(in[k][0] == (fixed(at.ints[1][0]) != 0 ? groups : x[1]));
    }
    return Shapes<A>{x};
  }
  OP_ROW {
    using I = typename A::Index;
    const auto& x = in[0];
    I width = alg.floordiv(x.dim(1), at.ints[0][0]), group = alg.floordiv(i[1], width);
    Indices<I> extents, from(i);
    extents.push_back(width);
    for (int d = 2; d < x.rank(); ++d) extents.push_back(x.dim(d));
    auto moments = moments_over(alg, extents, [&](std::span<const I> k) {
      from[1] = group * width + k[0];
      for (size_t d = 1; d < k.size(); ++d) from[static_cast<int>(d) + 1] = k[d];
      return alg.read(x, from);
    });
    return std::pair(group, moments);
  }
  // Moments of one channel are those of its group.
  static bool same_row(const Attrs<int64_t>&, Position<Reals> i, Position<Reals> j) {
    return alike_before(2, i, j);
  }
  OP_IN_ROW {
    const auto& [group, moments] = row;
    std::array<typename A::Index, 1> j = {fixed(at.ints[1][0]) != 0 ? group : i[1]};
    return normalised(alg, alg.read(in[0], i), moments, at.reals[0]) * alg.read(in[1], j) +
           alg.read(in[2], j);
  }
  OP_ELEMENT_IN_ROW
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    int64_t places = in[0].strides[1], channels = shape[1], width = channels / at.ints[0][0];
    auto parameter = [&](const double* of, int64_t k) {
      int64_t c = k / places % channels;
      return of[at.ints[1][0] != 0 ? c / width : c];
    };
    normalise_rows(
        in[0].data, out, width * places, at.reals[0].value,
        [&](int64_t k) { return parameter(in[1].data, k); },
        [&](int64_t k) { return parameter(in[2].data, k); });
  }
  // Up to opset 20 scale and bias are one number for each group, then one for each channel.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    int64_t groups = n.integer("num_groups", 0);
    if (groups < 1 || n.integer("stash_type", 1) != 1) return std::nullopt;
    return OnnxImport{{{{Poly(groups)}, {Poly(n.opset < 21 ? 1 : 0)}},
                       {{n.real("epsilon", reals[0].fallback), nullptr}}},
                      {0, 1, 2}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    if (opset < 21) return error("GroupNormalization is deprecated before opset 21");
    if (fixed(at.ints[1][0]) != 0) return error("GroupNormalization by group is deprecated");
    if (has_zero(*in[0].shape)) return error("GroupNormalization of nothing does not run");
    ASSIGN_OR_RETURN(auto groups, numbers("num_groups", at.ints[0]));
    OnnxExport r;
    r.type = "GroupNormalization";
    r.inputs = operand_inputs(3);
    r.attrs["num_groups"] = ints_attr(groups);
    r.attrs["epsilon"].floats = {at.reals[0].value};
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 4, 3}, {4}, {4}}, {{{2}, {0}}, {{0.0078125, nullptr}}}},
            {{{1, 4, 2}, {2}, {2}}, {{{2}, {1}}, {{1, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(groupnorm, GroupNorm)
