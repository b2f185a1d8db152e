#include "ir/ops/layers/gemm.h"
#include "ir/ops/onnxruntime/activation.h"

namespace regraft::ops {

// out = f(gemm(x, y, c)) with f as `activation` says. Source: com.microsoft.FusedGemm.
struct FusedGemm : Gemm {
  static constexpr std::string_view name = "fused-gemm";
  static constexpr std::string_view onnx[] = {"com.microsoft:FusedGemm"};
  static constexpr std::span<const TypeSupport> types = {};
  static constexpr Fusion fusion = Fusion::Alone;
  static constexpr DType microsoft[] = {DType::F32};
  static constexpr IntAttr ints[] = {
      Gemm::ints[0], Gemm::ints[1], {"activation", Length::One, 0, true}};
  static constexpr RealAttr reals[] = {
      Gemm::reals[0], Gemm::reals[1], {"activation_alpha", 0}, {"activation_beta", 0}};
  OP_ELEMENT {
    return activated(alg, activation_of(at.ints[2][0]), Gemm::element(alg, in, at, i, out),
                     at.reals[2], at.reals[3]);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.inputs.size() < 2) return std::nullopt;
    OnnxImport r{{{{Poly(n.integer("transA", 0))}, {Poly(n.integer("transB", 0))}},
                  {{n.real("alpha", 1), nullptr}, {n.real("beta", 1), nullptr}}},
                 {0, 1}};
    std::vector<double> given;
    for (const char* attr : {"activation_alpha", "activation_beta"})
      if (n.has(attr)) given.push_back(n.real(attr, 0));
    if (!read_activation(n, given, r.attrs)) return std::nullopt;
    if (n.inputs.size() > 2 && n.inputs[2].present) r.operands.push_back(2);
    return r;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    Opset opset) {
    Attrs<Poly> plain{{at.ints[0], at.ints[1]}, {at.reals[0], at.reals[1]}};
    ASSIGN_OR_RETURN(OnnxExport r, Gemm::to_onnx(plain, in, std::max(opset.version, 11)));
    r.type = onnx[0];
    Activation kind = activation_of(at.ints[2][0]);
    if (kind == Activation::None) return r;
    r.attrs["activation"] = text_attr(std::string(kActivations[static_cast<size_t>(kind)]));
    for (size_t k = 0; k < parameters_of(kind); ++k)
      r.attrs[std::string(reals[k + 2].name)].floats = {at.reals[k + 2].value};
    return r;
  }
  static std::vector<Sample> samples() {
    auto with = [](double a, double b) {
      return std::vector<Real>{{0.5, nullptr}, {2, nullptr}, {a, nullptr}, {b, nullptr}};
    };
    return {{{{2, 3}, {3, 4}}, {{{0}, {0}, {1}}, with(0, 0)}},
            {{{3, 2}, {4, 3}, {4}}, {{{1}, {1}, {6}}, with(0.25, 0.5)}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(fused_gemm, FusedGemm)
