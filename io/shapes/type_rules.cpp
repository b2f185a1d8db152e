#include "io/shapes/type_rules.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "io/shapes/size_arithmetic.h"

namespace regraft::io {
namespace {

using Types = std::vector<TensorType>;

TensorType input(const OnnxNode& n, size_t k) {
  return k < n.inputs.size() && n.inputs[k].present ? n.inputs[k].type : TensorType{};
}
bool has_shape(const OnnxNode& n, size_t k) { return input(n, k).shape.has_value(); }

Poly unknown(SymbolPool& pool) { return Poly::symbol(pool.fresh("d", SymbolKind::Size, 1)); }

/// How many elements fulfil something: perhaps none.
Poly found(SymbolPool& pool) { return Poly::symbol(pool.fresh("d", SymbolKind::Size, 0)); }

/// An axis counted from the end if negative; nullopt when it is none of `rank`.
std::optional<size_t> axis_of(int64_t axis, size_t rank) {
  if (axis < 0) axis += static_cast<int64_t>(rank);
  if (axis < 0 || axis >= static_cast<int64_t>(rank)) return std::nullopt;
  return static_cast<size_t>(axis);
}

Types like_first(const OnnxNode& n, SymbolPool&) { return {input(n, 0)}; }
Types first_dtype(const OnnxNode& n, SymbolPool&) { return {{input(n, 0).dtype, std::nullopt}}; }

Types like_first_bool(const OnnxNode& n, SymbolPool&) { return {{DType::Bool, input(n, 0).shape}}; }

Types dropout(const OnnxNode& n, SymbolPool&) {
  return {input(n, 0), {n.opset < 10 ? input(n, 0).dtype : DType::Bool, input(n, 0).shape}};
}

Types cast(const OnnxNode& n, SymbolPool&) {
  return {{static_cast<DType>(n.integer("to", 0)), input(n, 0).shape}};
}

DType asked(const OnnxNode& n, std::string_view attribute, DType otherwise) {
  const int64_t type = n.integer(attribute, 0);
  return type != 0 ? static_cast<DType>(type) : otherwise;
}

Types random_like(const OnnxNode& n, SymbolPool&) {
  return {{asked(n, "dtype", input(n, 0).dtype), input(n, 0).shape}};
}

/// A normalisation has the type of its scale: the data of RMSNormalization may have another.
Types like_second(const OnnxNode& n, SymbolPool&) {
  return {{input(n, 1).dtype, input(n, 0).shape}};
}

Poly broadcast_size(const Poly& a, const Poly& b, SymbolPool& pool) {
  if (same(a, b) || is_one(b)) return a;
  if (is_one(a)) return b;
  if (a.is_constant()) return a;
  if (b.is_constant()) return b;
  return unknown(pool);  // either may be 1
}

std::optional<Shape> broadcast(const OnnxNode& n, size_t first, SymbolPool& pool) {
  Shape out;
  for (size_t k = first; k < n.inputs.size(); ++k) {
    if (!has_shape(n, k)) return std::nullopt;
    Shape s = *n.inputs[k].type.shape;
    if (s.size() > out.size()) std::swap(s, out);
    size_t shift = out.size() - s.size();
    for (size_t d = 0; d < s.size(); ++d)
      out[d + shift] = broadcast_size(out[d + shift], s[d], pool);
  }
  return out;
}

Types elementwise(const OnnxNode& n, SymbolPool& pool) {
  return {{input(n, 0).dtype, broadcast(n, 0, pool)}};
}
Types comparison(const OnnxNode& n, SymbolPool& pool) {
  return {{DType::Bool, broadcast(n, 0, pool)}};
}
Types where(const OnnxNode& n, SymbolPool& pool) {
  return {{input(n, 1).dtype, broadcast(n, 0, pool)}};
}

Types shape_of(const OnnxNode& n, SymbolPool& pool) {
  if (!has_shape(n, 0)) return {{DType::I64, Shape{unknown(pool)}}};
  int64_t rank = static_cast<int64_t>(input(n, 0).shape->size());
  auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  int64_t start = clamp(n.integer("start", 0)), end = clamp(n.integer("end", rank));
  return {{DType::I64, Shape{Poly(std::max<int64_t>(end - start, 0))}}};
}

Types size_scalar(const OnnxNode&, SymbolPool&) { return {{DType::I64, Shape{}}}; }

Types expand(const OnnxNode& n, SymbolPool& pool) {
  auto sizes = n.sizes(1);
  if (!sizes || !has_shape(n, 0)) return {{input(n, 0).dtype, std::nullopt}};
  OnnxNode pair = n;
  pair.inputs[1].type.shape = *sizes;
  return {{input(n, 0).dtype, broadcast(pair, 0, pool)}};
}

Types tile(const OnnxNode& n, SymbolPool&) {
  auto repeats = n.sizes(1);
  TensorType out{input(n, 0).dtype, std::nullopt};
  if (!repeats || !has_shape(n, 0) || repeats->size() != input(n, 0).shape->size()) return {out};
  out.shape = Shape{};
  for (size_t d = 0; d < repeats->size(); ++d) {
    out.shape->push_back((*input(n, 0).shape)[d] * (*repeats)[d]);
  }
  return {out};
}

Types gather(const OnnxNode& n, SymbolPool&) {
  TensorType out{input(n, 0).dtype, std::nullopt};
  if (!has_shape(n, 0) || !has_shape(n, 1)) return {out};
  const Shape &data = *n.inputs[0].type.shape, &index = *n.inputs[1].type.shape;
  auto axis = axis_of(n.integer("axis", 0), data.size());
  if (!axis) return {out};
  auto at = static_cast<std::ptrdiff_t>(*axis);
  Shape s(data.begin(), data.begin() + at);
  s.insert(s.end(), index.begin(), index.end());
  s.insert(s.end(), data.begin() + at + 1, data.end());
  out.shape = std::move(s);
  return {out};
}

Types gather_elements(const OnnxNode& n, SymbolPool&) {
  return {{input(n, 0).dtype, input(n, 1).shape}};
}

/// Axes as an attribute, or from opset 13 or 18 on as a constant input; nullopt: not constant.
std::optional<std::vector<int64_t>> axes_of(const OnnxNode& n) {
  if (const auto* listed = n.ints("axes")) return *listed;
  if (n.inputs.size() < 2 || !n.inputs[1].present) return std::vector<int64_t>{};
  return n.constant_ints(1);
}

std::optional<std::vector<char>> marked(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<char> mark(rank, 0);
  for (int64_t a : axes) {
    auto axis = axis_of(a, rank);
    if (!axis || mark[*axis]) return std::nullopt;
    mark[*axis] = 1;
  }
  return mark;
}

Shape reduced(const Shape& s, const std::vector<char>& gone, int64_t keep) {
  Shape out;
  for (size_t d = 0; d < s.size(); ++d) {
    if (!gone[d])
      out.push_back(s[d]);
    else if (keep != 0)
      out.emplace_back(1);
  }
  return out;
}

Types reduce(const OnnxNode& n, SymbolPool&) {
  TensorType out{input(n, 0).dtype, std::nullopt};
  auto axes = axes_of(n);
  if (!axes || !has_shape(n, 0)) return {out};
  if (axes->empty() && n.integer("noop_with_empty_axes", 0) != 0) return {input(n, 0)};
  const Shape& s = *n.inputs[0].type.shape;
  auto gone = axes->empty() ? std::vector<char>(s.size(), 1) : marked(*axes, s.size());
  if (gone) out.shape = reduced(s, *gone, n.integer("keepdims", 1));
  return {out};
}

Types arg_reduce(const OnnxNode& n, SymbolPool&) {
  TensorType out{DType::I64, std::nullopt};
  if (!has_shape(n, 0)) return {out};
  const Shape& s = *n.inputs[0].type.shape;
  if (auto gone = marked({n.integer("axis", 0)}, s.size())) {
    out.shape = reduced(s, *gone, n.integer("keepdims", 1));
  }
  return {out};
}

Types squeeze(const OnnxNode& n, SymbolPool&) {
  TensorType out{input(n, 0).dtype, std::nullopt};
  auto axes = axes_of(n);
  if (!axes || axes->empty() || !has_shape(n, 0)) return {out};
  const Shape& s = *n.inputs[0].type.shape;
  if (auto gone = marked(*axes, s.size())) out.shape = reduced(s, *gone, 0);
  return {out};
}

Types unsqueeze(const OnnxNode& n, SymbolPool&) {
  TensorType out{input(n, 0).dtype, std::nullopt};
  auto axes = axes_of(n);
  if (!axes || !has_shape(n, 0)) return {out};
  const Shape& s = *n.inputs[0].type.shape;
  auto added = marked(*axes, s.size() + axes->size());
  if (!added) return {out};
  out.shape = Shape{};
  size_t next = 0;
  for (char is_new : *added) out.shape->push_back(is_new ? Poly(1) : s[next++]);
  return {out};
}

Types top_k(const OnnxNode& n, SymbolPool& pool) {
  TensorType values = input(n, 0);
  if (values.shape) {
    auto axis = axis_of(n.integer("axis", -1), values.shape->size());
    if (!axis) return {};
    auto k = n.sizes(1);
    (*values.shape)[*axis] = k && k->size() == 1 ? (*k)[0] : found(pool);
  }
  return {values, {DType::I64, values.shape}};
}

Types nonzero(const OnnxNode& n, SymbolPool& pool) {
  if (!has_shape(n, 0)) return {{DType::I64, Shape{unknown(pool), found(pool)}}};
  auto rank = static_cast<int64_t>(input(n, 0).shape->size());
  return {{DType::I64, Shape{Poly(rank), found(pool)}}};
}

/// Of each box that is kept: the batch, the class and the box.
Types kept_boxes(const OnnxNode&, SymbolPool& pool) {
  return {{DType::I64, Shape{found(pool), Poly(3)}}};
}

/// RoiAlign: one map for each region.
Types regions(const OnnxNode& n, SymbolPool&) {
  TensorType out{input(n, 0).dtype, std::nullopt};
  bool known = has_shape(n, 0) && has_shape(n, 1) && input(n, 0).shape->size() == 4 &&
               input(n, 1).shape->size() == 2;
  int64_t height = n.integer("output_height", 1), width = n.integer("output_width", 1);
  if (!known || height < 1 || width < 1) return {out};
  out.shape = Shape{(*input(n, 1).shape)[0], (*input(n, 0).shape)[1], Poly(height), Poly(width)};
  return {out};
}

/// LSTM, GRU and RNN: all hidden states, the last one, and the last cell (LSTM).
Types recurrent(const OnnxNode& n, SymbolPool&) {
  DType dtype = input(n, 0).dtype;
  bool known = has_shape(n, 0) && has_shape(n, 2) && input(n, 0).shape->size() == 3 &&
               input(n, 2).shape->size() == 3;
  if (!known) return {{dtype, std::nullopt}, {dtype, std::nullopt}, {dtype, std::nullopt}};
  const Shape x = *input(n, 0).shape, r = *input(n, 2).shape;
  if (n.integer("layout", 0) != 0)
    return {{dtype, Shape{x[0], x[1], r[0], r[2]}},
            {dtype, Shape{x[0], r[0], r[2]}},
            {dtype, Shape{x[0], r[0], r[2]}}};
  return {{dtype, Shape{x[0], r[0], x[1], r[2]}},
          {dtype, Shape{r[0], x[1], r[2]}},
          {dtype, Shape{r[0], x[1], r[2]}}};
}

Types range(const OnnxNode& n, SymbolPool& pool) {
  auto start = n.sizes(0), limit = n.sizes(1), delta = n.sizes(2);
  bool by_one = delta && delta->size() == 1 && is_one((*delta)[0]);
  bool known = by_one && start && limit && start->size() == 1 && limit->size() == 1;
  const Poly span = known ? (*limit)[0] - (*start)[0] : Poly(-1);
  return {{input(n, 0).dtype, Shape{never_negative(span) ? span : found(pool)}}};
}

Types constant_of_shape(const OnnxNode& n, SymbolPool&) {
  auto value = n.attrs.find("value");
  DType type = value == n.attrs.end() ? DType::F32 : value->second.element;
  return {{type, n.sizes(0)}};
}

Types resize(const OnnxNode& n, SymbolPool& pool) {
  TensorType out = input(n, 0);
  if (!out.shape) return {out};
  size_t at = n.type == "Upsample" || n.opset < 11 ? 1 : 2;
  bool stretched = n.text("keep_aspect_ratio_policy", "stretch") == "stretch" && !n.has("axes");
  bool cropped = n.text("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  std::vector<double> scales;
  if (auto it = n.attrs.find("scales"); it != n.attrs.end()) scales = it->second.floats;
  if (at < n.inputs.size() && n.inputs[at].constant) {
    auto given = n.inputs[at].constant->reals();
    if (given) scales = *std::move(given);
  }
  auto sizes = n.opset >= 11 ? n.sizes(3) : std::nullopt;
  for (size_t d = 0; d < out.shape->size(); ++d) {
    Poly& size = (*out.shape)[d];
    if (stretched && scales.size() == out.shape->size() && !cropped)
      size = scaled(size, scales[d], pool).value_or(unknown(pool));
    else if (stretched && sizes && sizes->size() == out.shape->size())
      size = (*sizes)[d];
    else
      size = unknown(pool);
  }
  return {out};
}

Types grid_sample(const OnnxNode& n, SymbolPool&) {
  TensorType out{input(n, 0).dtype, std::nullopt};
  if (!has_shape(n, 0) || !has_shape(n, 1)) return {out};
  const Shape &x = *n.inputs[0].type.shape, &grid = *n.inputs[1].type.shape;
  if (x.size() < 2 || grid.size() != x.size()) return {out};
  Shape s{x[0], x[1]};
  s.insert(s.end(), grid.begin() + 1, grid.end() - 1);
  out.shape = std::move(s);
  return {out};
}

/// How many elements of `size` a slice takes; nullopt: it depends on more than numbers.
std::optional<int64_t> sliced(const OnnxNode& n, size_t k, const Poly& size) {
  auto number = [&](size_t input, const char* name, int64_t missing) -> std::optional<int64_t> {
    auto list =
        n.opset < 10 && n.ints(name) ? std::optional(*n.ints(name)) : n.constant_ints(input);
    if (list) return k < list->size() ? std::optional((*list)[k]) : std::nullopt;
    bool given = n.has(name) || (input < n.inputs.size() && n.inputs[input].present);
    return given || input < 3 ? std::nullopt : std::optional(missing);
  };
  auto start = number(1, "starts", 0), end = number(2, "ends", 0), step = number(4, "steps", 1);
  if (!size.is_constant() || !start || !end || !step || *step == 0) return std::nullopt;
  int64_t count = size.constant(), low = *step > 0 ? 0 : -1, high = *step > 0 ? count : count - 1;
  auto place = [&](int64_t p) { return std::clamp(p < 0 ? p + count : p, low, high); };
  int64_t by = std::clamp(*step, -count - 1, count + 1);
  int64_t span = place(*end) - place(*start);
  return std::max<int64_t>(0, (span + by - (by > 0 ? 1 : -1)) / by);
}

/// The rank is known even where the sizes are not.
Types slice(const OnnxNode& n, SymbolPool& pool) {
  TensorType out = input(n, 0);
  auto axes = n.opset < 10 && n.ints("axes") ? std::optional(*n.ints("axes")) : n.constant_ints(3);
  bool all = !axes && (n.opset < 10 ? !n.has("axes") : n.inputs.size() < 4 || !n.inputs[3].present);
  for (size_t d = 0; out.shape && d < out.shape->size(); ++d) {
    Poly& size = (*out.shape)[d];
    size_t place = d;  // in the lists of starts and ends
    bool listed = all;
    for (size_t k = 0; axes && k < axes->size(); ++k)
      if (axis_of((*axes)[k], out.shape->size()) == d) place = k, listed = true;
    if (!all && axes && !listed) continue;
    auto count = listed ? sliced(n, place, size) : std::nullopt;
    size = count ? Poly(*count) : unknown(pool);
  }
  return {out};
}

Types pads(const OnnxNode& n, SymbolPool& pool) {
  TensorType out = input(n, 0);
  auto pads = n.sizes(1);
  bool some = n.inputs.size() > 3 && n.inputs[3].present;
  for (size_t d = 0; out.shape && d < out.shape->size(); ++d) {
    size_t rank = out.shape->size();
    bool known = pads && pads->size() == 2 * rank && !some;
    (*out.shape)[d] = known ? (*out.shape)[d] + (*pads)[d] + (*pads)[d + rank] : unknown(pool);
  }
  return {out};
}

Types quantize(const OnnxNode& n, SymbolPool&) {
  const DType type = n.inputs.size() > 2 ? input(n, 2).dtype : DType::U8;
  return {{asked(n, "output_dtype", type), input(n, 0).shape}};
}
Types dequantize(const OnnxNode& n, SymbolPool&) {
  return {{asked(n, "output_dtype", input(n, 1).dtype), input(n, 0).shape}};
}

Types gemm(const OnnxNode& n, SymbolPool&) {
  TensorType out{input(n, 0).dtype, std::nullopt};
  if (!has_shape(n, 0) || !has_shape(n, 1)) return {out};
  const Shape &a = *n.inputs[0].type.shape, &b = *n.inputs[1].type.shape;
  if (a.size() != 2 || b.size() != 2) return {out};
  out.shape = Shape{a[n.integer("transA", 0) != 0 ? 1 : 0], b[n.integer("transB", 0) != 0 ? 0 : 1]};
  return {out};
}

const std::unordered_map<std::string_view, TypeRule>& rules() {
  static const auto* table = [] {
    auto* t =
        new std::unordered_map<std::string_view, TypeRule>{{"Cast", cast},
                                                           {"Dropout", dropout},
                                                           {"Where", where},
                                                           {"Shape", shape_of},
                                                           {"Size", size_scalar},
                                                           {"Expand", expand},
                                                           {"Tile", tile},
                                                           {"Gather", gather},
                                                           {"TopK", top_k},
                                                           {"NonZero", nonzero},
                                                           {"NonMaxSuppression", kept_boxes},
                                                           {"RoiAlign", regions},
                                                           {"Range", range},
                                                           {"ArgMax", arg_reduce},
                                                           {"ArgMin", arg_reduce},
                                                           {"GatherElements", gather_elements},
                                                           {"Squeeze", squeeze},
                                                           {"Unsqueeze", unsqueeze},
                                                           {"ConstantOfShape", constant_of_shape},
                                                           {"IsNaN", like_first_bool},
                                                           {"IsInf", like_first_bool},
                                                           {"QuantizeLinear", quantize},
                                                           {"DequantizeLinear", dequantize},
                                                           {"RandomNormalLike", random_like},
                                                           {"RandomUniformLike", random_like},
                                                           {"Resize", resize},
                                                           {"Upsample", resize},
                                                           {"GridSample", grid_sample},
                                                           {"Slice", slice},
                                                           {"Pad", pads},
                                                           {"Gemm", gemm}};
    for (std::string_view name : {"GRU", "LSTM", "RNN"}) t->emplace(name, recurrent);
    for (std::string_view name :
         {"CastLike", "LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"})
      t->emplace(name, like_second);
    for (std::string_view name : {"Abs",
                                  "Acos",
                                  "Acosh",
                                  "Asin",
                                  "Asinh",
                                  "Atan",
                                  "Atanh",
                                  "BatchNormalization",
                                  "BitwiseNot",
                                  "Ceil",
                                  "Celu",
                                  "Clip",
                                  "Cos",
                                  "Cosh",
                                  "CumSum",
                                  "Elu",
                                  "Erf",
                                  "Exp",
                                  "Floor",
                                  "Gelu",
                                  "GroupNormalization",
                                  "HardSigmoid",
                                  "HardSwish",
                                  "Hardmax",
                                  "Identity",
                                  "InstanceNormalization",
                                  "LRN",
                                  "LeakyRelu",
                                  "Log",
                                  "LogSoftmax",
                                  "LpNormalization",
                                  "MeanVarianceNormalization",
                                  "Mish",
                                  "Neg",
                                  "Not",
                                  "Reciprocal",
                                  "Relu",
                                  "ReverseSequence",
                                  "Round",
                                  "ScatterElements",
                                  "ScatterND",
                                  "Selu",
                                  "Shrink",
                                  "Sigmoid",
                                  "Sign",
                                  "Sin",
                                  "Sinh",
                                  "Softmax",
                                  "Softplus",
                                  "Softsign",
                                  "Sqrt",
                                  "Swish",
                                  "Tan",
                                  "Tanh",
                                  "ThresholdedRelu",
                                  "Trilu"}) {
      t->emplace(name, like_first);
    }
    for (std::string_view name :
         {"AveragePool", "Compress", "Concat", "Conv", "ConvTranspose", "DepthToSpace", "Einsum",
          "Flatten", "GatherND", "GlobalAveragePool", "GlobalMaxPool", "MatMul", "MaxPool",
          "Reshape", "SpaceToDepth", "Transpose"}) {
      t->emplace(name, first_dtype);
    }
    for (std::string_view name :
         {"Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Max", "Mean",
          "Min", "Mod", "Mul", "Or", "PRelu", "Pow", "Sub", "Sum", "Xor"}) {
      t->emplace(name, elementwise);
    }
    for (std::string_view name : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
      t->emplace(name, comparison);
    }
    for (std::string_view name :
         {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
          "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
      t->emplace(name, reduce);
    }
    return t;
  }();
  return *table;
}

}  // namespace

TypeRule type_rule(std::string_view type) {
  auto rule = rules().find(type);
  return rule == rules().end() ? nullptr : rule->second;
}

}  // namespace regraft::io
