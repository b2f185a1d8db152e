#pragma once
// What the two resizings share: whole factors on the spatial axes.
#include <cmath>

#include "ir/ops/define.h"

namespace regraft::ops {

/// Enlarges each spatial axis by a whole factor.
struct Resizing {
  static constexpr int arity = 1;
  static constexpr TypeSupport types[] = {{DType::F32, 11, 11},
                                          {DType::F16, 11, 11},
                                          {DType::F64, 11, kNever},
                                          {DType::BF16, 13, kNever}};
  OP_SHAPES {
    if (in[0].size() < 3) return error("resize: no spatial axis");
    auto out = in[0];
    using I = typename A::Index;
    for (size_t d = 2; d < out.size(); ++d) {
      alg.require(I(1) <= at.ints[0][d - 2]);
      out[d] = out[d] * at.ints[0][d - 2];
    }
    return Shapes<A>{out};
  }
  /// How many times `from` one size is; 0 where that is no number.
  static double ratio(const Poly& to, const Poly& from) {
    if (to.is_constant() && from.is_constant())
      return static_cast<double>(to.constant()) / static_cast<double>(from.constant());
    if (to.is_constant() || from.is_constant()) return 0;
    int64_t whole = to.terms()[0].coefficient / from.terms()[0].coefficient;
    return same(from * Poly(whole), to) ? static_cast<double>(whole) : 0;
  }
  /// The factors of a Resize or Upsample node: whole, and 1 on N and C.
  static std::optional<std::vector<int64_t>> onnx_factors(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    if (!rank || *rank < 3 || n.has("axes") || n.integer("antialias", 0) != 0) return std::nullopt;
    std::vector<double> scales;
    size_t scales_input = n.type == "Upsample" || n.opset < 11 ? 1 : 2;
    auto given = [&](size_t k) {
      return k < n.inputs.size() && n.inputs[k].present && n.inputs[k].constant &&
             n.inputs[k].constant->count() > 0;
    };
    auto sized = n.opset >= 11 ? n.sizes(3) : std::nullopt;
    if (auto it = n.attrs.find("scales"); it != n.attrs.end()) scales = it->second.floats;
    if (given(scales_input)) {
      auto v = n.inputs[scales_input].constant->reals();
      if (v) scales = *v;
    } else if (sized && !sized->empty()) {
      if (sized->size() != static_cast<size_t>(*rank)) return std::nullopt;
      if (n.text("keep_aspect_ratio_policy", "stretch") != "stretch") return std::nullopt;
      for (size_t d = 0; d < sized->size(); ++d)
        scales.push_back(ratio((*sized)[d], (*n.inputs[0].type.shape)[d]));
    }
    if (scales.size() != static_cast<size_t>(*rank) || scales[0] != 1 || scales[1] != 1)
      return std::nullopt;
    std::vector<int64_t> factors;
    for (size_t d = 2; d < scales.size(); ++d) {
      if (scales[d] != std::floor(scales[d]) || scales[d] < 1 || scales[d] > 64)
        return std::nullopt;
      factors.push_back(static_cast<int64_t>(scales[d]));
    }
    return factors;
  }
  static Result<OnnxExport> write(const char* mode, const char* coordinates, const Attrs<Poly>& at,
                                  int opset) {
    ASSIGN_OR_RETURN(auto factors, numbers("factors", at.ints[0]));
    if (std::string_view(mode) == "linear" && factors.size() > 3)
      return error("Resize between neighbours on more than three axes does not run");
    std::vector<float> scales = {1, 1};
    for (int64_t f : factors) scales.push_back(static_cast<float>(f));
    OnnxExport r;
    r.type = "Resize";
    r.attrs["mode"] = text_attr(mode);
    r.attrs["coordinate_transformation_mode"] = text_attr(coordinates);
    if (std::string_view(mode) == "nearest") r.attrs["nearest_mode"] = text_attr("floor");
    r.inputs = operand_inputs(1);
    if (opset < 13)
      r.inputs.push_back({std::nullopt, Constant::of_floats({0}, {})});  // roi is required
    else
      r.inputs.push_back({});
    r.inputs.push_back(
        {std::nullopt, Constant::of_floats({static_cast<int64_t>(scales.size())}, scales)});
    return r;
  }
};

}  // namespace regraft::ops
