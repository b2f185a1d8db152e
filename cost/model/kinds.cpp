#include "cost/model/kinds.h"

#include <algorithm>
#include <array>

namespace regraft::cost {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Kind::kCount)> kNames = {
    "dense-conv", "pointwise-conv", "depthwise-conv", "grouped-conv", "blocked-grouped-conv",
    "product",    "pooling",        "elementwise",    "reduction",    "movement",
    "reorder"};

struct Line {
  std::string_view op;
  Kind kind;
  Fusing fusing = Fusing::Alone;
};
constexpr Line kLines[] = {
    {"add", Kind::Elementwise, Fusing::Pointwise},
    {"avgpool", Kind::Pooling},
    {"batchnorm", Kind::Elementwise, Fusing::Pointwise},
    {"clip", Kind::Elementwise, Fusing::Pointwise},
    {"concat", Kind::Movement},
    {"conv", Kind::DenseConv, Fusing::Anchor},
    {"div", Kind::Elementwise, Fusing::Pointwise},
    {"erf", Kind::Elementwise, Fusing::Pointwise},
    {"exp", Kind::Elementwise, Fusing::Pointwise},
    {"gather", Kind::Movement},
    {"gemm", Kind::Product, Fusing::Anchor},
    {"global-avgpool", Kind::Pooling},
    {"hard-sigmoid", Kind::Elementwise, Fusing::Pointwise},
    {"layernorm", Kind::Reduction},
    {"matmul", Kind::Product, Fusing::Anchor},
    {"maxpool", Kind::Pooling},
    {"mul", Kind::Elementwise, Fusing::Pointwise},
    {"neg", Kind::Elementwise, Fusing::Pointwise},
    {"pad", Kind::Movement},
    {"reduce-max", Kind::Reduction},
    {"reduce-mean", Kind::Reduction, Fusing::Folding},
    {"reduce-sum", Kind::Reduction, Fusing::Folding},
    {"relu", Kind::Elementwise, Fusing::Pointwise},
    {"reshape", Kind::Movement},
    {"resize-linear", Kind::Pooling},
    {"resize-nearest", Kind::Movement},
    {"sigmoid", Kind::Elementwise, Fusing::Pointwise},
    {"slice", Kind::Movement},
    {"softmax", Kind::Reduction},
    {"split", Kind::Movement},
    {"sqrt", Kind::Elementwise, Fusing::Pointwise},
    {"sub", Kind::Elementwise, Fusing::Pointwise},
    {"tanh", Kind::Elementwise, Fusing::Pointwise},
    {"transpose", Kind::Movement},
};

const Line* line_of(const OpDef& op) {
  auto at =
      std::lower_bound(std::begin(kLines), std::end(kLines), op.name,
                       [](const Line& line, std::string_view name) { return line.op < name; });
  return at != std::end(kLines) && at->op == op.name ? at : nullptr;
}

/// Which of the convolutions, by groups and kernel size.
Kind kind_of_conv(const OpDef& op, const Attrs<Poly>& at, std::span<const TensorType> operands) {
  const auto& w = operands[1].shape;
  const Poly& group = at.ints[static_cast<size_t>(op.int_attr("group"))][0];
  if (!w || w->size() < 3) return Kind::DenseConv;
  if (!same(group, Poly(1)))
    return same((*w)[1], Poly(1)) ? Kind::DepthwiseConv : Kind::GroupedConv;
  bool pointwise = std::all_of(w->begin() + 2, w->end(), [](const Poly& d) { return is_one(d); });
  return pointwise ? Kind::PointwiseConv : Kind::DenseConv;
}

}  // namespace

std::string_view to_string(Kind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<Kind> kind_named(std::string_view name) {
  auto at = std::find(kNames.begin(), kNames.end(), name);
  if (at == kNames.end()) return std::nullopt;
  return static_cast<Kind>(at - kNames.begin());
}

Kind kind_of(const OpDef& op, const Attrs<Poly>& at, std::span<const TensorType> operands) {
  const Line* line = line_of(op);
  if (!line) return Kind::Elementwise;
  return line->op == "conv" ? kind_of_conv(op, at, operands) : line->kind;
}

Fusing fusing_of(const OpDef& op) {
  const Line* line = line_of(op);
  return line ? line->fusing : Fusing::Alone;
}

}  // namespace regraft::cost
