#pragma once
// The activation that onnxruntime's fused operators end with: an attribute of text in the node, a
// number in a call. Source: com.microsoft.FusedConv and FusedGemm, onnxruntime's ContribOperators.
#include "ir/ops/define.h"

namespace regraft::ops {

inline constexpr std::string_view kActivations[] = {"",          "Relu", "Tanh",       "Sigmoid",
                                                    "LeakyRelu", "Clip", "HardSigmoid"};
enum class Activation : uint8_t { None, Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid };

/// The parameters that an activation has: slope; least and largest; slope and offset.
inline size_t parameters_of(Activation a) {
  bool two = a == Activation::Clip || a == Activation::HardSigmoid;
  return a == Activation::LeakyRelu ? 1 : two ? 2 : 0;
}
/// nullopt: none of those that onnxruntime fuses.
inline std::optional<Activation> activation_named(std::string_view text) {
  const auto* at = std::ranges::find(kActivations, text);
  if (at == std::end(kActivations)) return std::nullopt;
  return static_cast<Activation>(at - kActivations);
}
template <class I>
Activation activation_of(const I& number) {
  auto n = std::clamp<int64_t>(fixed(number), 0, std::ssize(kActivations) - 1);
  return static_cast<Activation>(n);
}

/// The activation of x; `a` and `b` are its parameters.
template <Algebra A, class S = typename A::Scalar>
S activated(A& alg, Activation kind, const S& x, const Real& a, const Real& b) {
  auto below = [&] { return alg.apply(Fn::Relu, minus(alg, zero(alg), x)); };
  auto above = [&](const S& y) { return alg.apply(Fn::Relu, y); };
  // min(max(y, low), high) = low + max(y - low, 0) - max(y - high, 0) where low <= high
  auto between = [&](const S& y, const S& low, const S& high) {
    return minus(alg, low + above(minus(alg, y, low)), above(minus(alg, y, high)));
  };
  switch (kind) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return above(x);
    case Activation::Tanh:
      return alg.apply(Fn::Tanh, x);
    case Activation::Sigmoid:
      return alg.apply(Fn::Sigmoid, x);
    case Activation::LeakyRelu:
      return minus(alg, above(x), alg.real(a) * below());
    case Activation::Clip:
      return between(x, alg.real(a), alg.real(b));
    case Activation::HardSigmoid:
      return between(alg.real(a) * x + alg.real(b), zero(alg), alg.constant(1));
  }
  return x;
}

/// Reads the attribute and its parameters, which the form gives in `parameters`; nullopt: another
/// activation, or another number of parameters. Appends to the attributes of a call.
inline bool read_activation(const OnnxNode& n, std::span<const double> parameters,
                            Attrs<Poly>& at) {
  auto kind = activation_named(n.text("activation", ""));
  if (!kind || parameters.size() < parameters_of(*kind)) return false;
  at.ints.push_back({Poly(static_cast<int64_t>(*kind))});
  for (size_t k = 0; k < 2; ++k)
    at.reals.push_back({k < parameters_of(*kind) ? parameters[k] : 0, nullptr});
  bool ordered = *kind != Activation::Clip || parameters[0] <= parameters[1];
  return ordered;
}

}  // namespace regraft::ops
