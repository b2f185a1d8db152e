#include "ir/ops/layers/conv.h"
#include "ir/ops/onnxruntime/activation.h"

namespace regraft::ops {

// out = f(conv(x, w) + b + z) with f as `activation` says; operands: x, w, and maybe b and z, which
// has the shape of the result. Source: com.microsoft.FusedConv.
struct FusedConv : Conv {
  static constexpr std::string_view name = "fused-conv";
  static constexpr std::string_view onnx[] = {"com.microsoft:FusedConv"};
  static constexpr std::span<const TypeSupport> types = {};
  static constexpr DType microsoft[] = {DType::F32};
  static constexpr Fusion fusion = Fusion::Alone;
  static constexpr Blocking blocking = Blocking::Never;
  static constexpr int min_arity = 2, max_arity = 4;
  static constexpr IntAttr ints[] = {Conv::ints[0],
                                     Conv::ints[1],
                                     Conv::ints[2],
                                     Conv::ints[3],
                                     {"activation", Length::One, 0, true}};
  static constexpr RealAttr reals[] = {{"alpha", 0}, {"beta", 0}};
  OP_SHAPES {
    size_t plain = std::min<size_t>(in.size(), 3);
    auto out = Conv::infer(alg, Shapes<A>(in.begin(), in.begin() + plain), at);
    if (!out || in.size() < 4) return out;
    const auto &z = in[3], &y = (*out)[0];
    if (z.size() != y.size()) return error("fused-conv: the summand is not of the result's rank");
    for (size_t d = 0; d < y.size(); ++d) alg.require(z[d] == y[d]);
    return out;
  }
  OP_ELEMENT {
    auto y = Conv::element(alg, in.first(std::min<size_t>(in.size(), 3)), at, i, out);
    if (in.size() == 4) y = y + alg.read(in[3], i);
    return activated(alg, activation_of(at.ints[4][0]), y, at.reals[0], at.reals[1]);
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    Conv::dense(in.first(std::min<size_t>(in.size(), 3)), at, shape, out);
    Reals alg;
    Activation kind = activation_of(at.ints[4][0]);
    for (size_t k = 0; k < out.size(); ++k) {
      double y = in.size() == 4 ? out[k] + in[3].data[k] : out[k];
      out[k] = activated(alg, kind, y, at.reals[0], at.reals[1]);
    }
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto r = Conv::from_onnx(n);
    std::vector<double> parameters;
    if (auto it = n.attrs.find("activation_params"); it != n.attrs.end())
      parameters = it->second.floats;
    if (!r || !read_activation(n, parameters, r->attrs)) return std::nullopt;
    if (n.inputs.size() > 3 && n.inputs[3].present) {
      if (r->operands.size() < 3) return std::nullopt;
      r->operands.push_back(3);
    }
    return r;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    Opset opset) {
    Attrs<Poly> plain{{at.ints.begin(), at.ints.end() - 1}, {}};
    ASSIGN_OR_RETURN(OnnxExport r, Conv::to_onnx(plain, {in.begin(), in.begin() + 2}, opset));
    r.type = onnx[0];
    r.inputs = operand_inputs(static_cast<int>(in.size()));
    Activation kind = activation_of(at.ints[4][0]);
    if (kind == Activation::None) return r;
    r.attrs["activation"] = text_attr(std::string(kActivations[static_cast<size_t>(kind)]));
    for (size_t k = 0; k < parameters_of(kind); ++k)
      r.attrs["activation_params"].floats.push_back(at.reals[k].value);
    return r;
  }
  static std::vector<Sample> samples() {
    std::vector<Real> none = {{0, nullptr}, {0, nullptr}};
    return {{{{1, 2, 4, 5}, {3, 2, 3, 3}}, {{{1, 1}, {1, 1, 1, 1}, {1, 1}, {1}, {1}}, none}},
            {{{2, 4, 5, 5}, {4, 2, 3, 2}, {4}, {2, 4, 3, 4}},
             {{{2, 1}, {1, 1, 1, 1}, {1, 3}, {2}, {5}}, {{-1, nullptr}, {1, nullptr}}}},
            {{{1, 2, 6}, {3, 2, 3}, {3}},
             {{{2}, {1, 0}, {2}, {1}, {4}}, {{0.5, nullptr}, {0, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(fused_conv, FusedConv)
