#include "io/shapes/size_values.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <unordered_map>

#include "io/shapes/size_arithmetic.h"
#include "ir/graph/eval.h"

namespace regraft::io {
namespace {

using Values = std::vector<SizeTensorPtr>;
using ValueRule = Values (*)(const OnnxNode&, SymbolPool&);
using Binary = MaybeElement (*)(const SizeContext&, const Element&, const Element&);

constexpr int64_t kMaxElements = 1 << 14;

Values one(DType dtype, std::vector<int64_t> dims, std::vector<Element> elements) {
  return {
      std::make_shared<const SizeTensor>(SizeTensor{dtype, std::move(dims), std::move(elements)})};
}

SizeTensorPtr known(const OnnxNode& n, size_t k) {
  if (k >= n.inputs.size() || !n.inputs[k].present) return nullptr;
  if (n.inputs[k].sizes) return n.inputs[k].sizes;
  return n.inputs[k].constant ? sizes_of(*n.inputs[k].constant) : nullptr;
}

int64_t count_of(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n = d < 0 || n > kMaxElements ? kMaxElements + 1 : n * d;
  return n;
}

/// --- shapes ---

Values shape_value(const OnnxNode& n, SymbolPool&) {
  if (!n.inputs[0].type.shape) return {};
  const Shape& s = *n.inputs[0].type.shape;
  auto rank = static_cast<int64_t>(s.size());
  auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  int64_t start = clamp(n.integer("start", 0)), end = clamp(n.integer("end", rank));
  std::vector<Element> sizes;
  for (int64_t d = start; d < end; ++d) sizes.push_back({s[static_cast<size_t>(d)]});
  auto length = static_cast<int64_t>(sizes.size());
  return one(DType::I64, {length}, std::move(sizes));
}

Values size_of_tensor(const OnnxNode& n, SymbolPool&) {
  if (!n.inputs[0].type.shape) return {};
  return one(DType::I64, {}, {{element_count(*n.inputs[0].type.shape)}});
}

/// --- element by element ---

/// The shape of two that broadcast; nullopt: they do not.
std::optional<std::vector<int64_t>> joined(const std::vector<int64_t>& a,
                                           const std::vector<int64_t>& b) {
  std::vector<int64_t> out(std::max(a.size(), b.size()), 1);
  for (const auto* s : {&a, &b})
    for (size_t d = 0; d < s->size(); ++d) {
      int64_t& size = out[out.size() - s->size() + d];
      if (size != 1 && (*s)[d] != 1 && size != (*s)[d]) return std::nullopt;
      if (size == 1) size = (*s)[d];
    }
  if (count_of(out) > kMaxElements) return std::nullopt;
  return out;
}

/// The element of t under element `flat` of a tensor that it is broadcast to.
const Element& broadcast_at(const SizeTensor& t, const std::vector<int64_t>& to, int64_t flat) {
  int64_t index = 0, stride = 1;
  for (size_t k = 0; k < to.size(); ++k) {
    size_t d = to.size() - 1 - k;
    int64_t at = flat % to[d];
    flat /= to[d];
    if (k >= t.dims.size()) continue;
    int64_t size = t.dims[t.dims.size() - 1 - k];
    index += size == 1 ? 0 : at * stride;
    stride *= size;
  }
  return t.elements[static_cast<size_t>(index)];
}

SizeTensorPtr combined(const SizeTensor& a, const SizeTensor& b, SymbolPool& pool, DType result,
                       Binary f) {
  auto dims = joined(a.dims, b.dims);
  if (!dims) return nullptr;
  SizeTensor out{result, *dims, {}};
  SizeContext context{pool, a.dtype};
  for (int64_t k = 0; k < count_of(*dims); ++k) {
    auto e = f(context, broadcast_at(a, *dims, k), broadcast_at(b, *dims, k));
    if (!e) return nullptr;
    out.elements.push_back(*std::move(e));
  }
  return std::make_shared<const SizeTensor>(std::move(out));
}

/// All inputs of one type, from the left.
template <Binary F>
Values fold_inputs(const OnnxNode& n, SymbolPool& pool) {
  SizeTensorPtr total = known(n, 0);
  for (size_t k = 1; total && k < n.inputs.size(); ++k) {
    SizeTensorPtr next = known(n, k);
    if (!next || next->dtype != total->dtype) return {};
    total = combined(*total, *next, pool, total->dtype, F);
  }
  return total ? Values{total} : Values{};
}

MaybeElement truth(std::optional<bool> b) {
  return b ? MaybeElement(Element{Poly(*b ? 1 : 0)}) : std::nullopt;
}

template <Binary F>
Values compared(const OnnxNode& n, SymbolPool& pool) {
  SizeTensorPtr a = known(n, 0), b = known(n, 1);
  auto r = a && b ? combined(*a, *b, pool, DType::Bool, F) : nullptr;
  return r ? Values{r} : Values{};
}

MaybeElement equal(const SizeContext&, const Element& a, const Element& b) {
  auto o = order(a, b);
  return truth(o ? std::optional(*o == 0) : std::nullopt);
}
MaybeElement greater(const SizeContext&, const Element& a, const Element& b) {
  auto o = order(a, b);
  return truth(o ? std::optional(*o > 0) : std::nullopt);
}
MaybeElement less(const SizeContext& c, const Element& a, const Element& b) {
  return greater(c, b, a);
}
MaybeElement opposite(const MaybeElement& e) {
  return e ? truth(e->value.is_zero()) : std::nullopt;
}
MaybeElement greater_or_equal(const SizeContext& c, const Element& a, const Element& b) {
  return opposite(less(c, a, b));
}
MaybeElement less_or_equal(const SizeContext& c, const Element& a, const Element& b) {
  return opposite(greater(c, a, b));
}
MaybeElement both(const SizeContext&, const Element& a, const Element& b) {
  return truth(!a.value.is_zero() && !b.value.is_zero());
}
MaybeElement either(const SizeContext&, const Element& a, const Element& b) {
  return truth(!a.value.is_zero() || !b.value.is_zero());
}
MaybeElement one_of(const SizeContext&, const Element& a, const Element& b) {
  return truth(a.value.is_zero() != b.value.is_zero());
}
Values modulo(const OnnxNode& n, SymbolPool& pool) {
  return n.integer("fmod", 0) != 0 ? fold_inputs<truncated_remainder>(n, pool)
                                   : fold_inputs<floored_remainder>(n, pool);
}

template <class F>
Values mapped(const OnnxNode& n, SymbolPool& pool, DType result, F&& f) {
  SizeTensorPtr x = known(n, 0);
  if (!x) return {};
  std::vector<Element> elements;
  SizeContext context{pool, x->dtype};
  for (const Element& e : x->elements) {
    auto y = f(context, e);
    if (!y) return {};
    elements.push_back(*std::move(y));
  }
  return one(result == DType::Undefined ? x->dtype : result, x->dims, std::move(elements));
}

/// The least integer has no negative of its type, and a float's zero has another sign.
MaybeElement negative(const SizeContext& c, const Element& e) {
  if (!c.is_float()) return product(c, e, {Poly(-1)});
  return e.value.is_zero() ? std::nullopt : MaybeElement({Poly(-1) * e.value, e.divisor});
}

Values negated(const OnnxNode& n, SymbolPool& pool) {
  return mapped(n, pool, DType::Undefined, negative);
}
Values absolutes(const OnnxNode& n, SymbolPool& pool) {
  return mapped(n, pool, DType::Undefined,
                [](const SizeContext& c, const Element& e) -> MaybeElement {
                  auto o = order(e, {});
                  if (!o) return std::nullopt;
                  return *o >= 0 ? e : negative(c, e);
                });
}
Values signs(const OnnxNode& n, SymbolPool& pool) {
  return mapped(n, pool, DType::Undefined, [](auto&, const Element& e) -> MaybeElement {
    auto o = order(e, {});
    return o ? MaybeElement(Element{Poly(*o)}) : std::nullopt;
  });
}
Values inverted(const OnnxNode& n, SymbolPool& pool) {
  return mapped(n, pool, DType::Bool,
                [](auto&, const Element& e) { return truth(e.value.is_zero()); });
}
Values floors(const OnnxNode& n, SymbolPool& pool) {
  return mapped(n, pool, DType::Undefined,
                [](auto& c, const Element& e) { return io::floor(c, e); });
}
Values reciprocals(const OnnxNode& n, SymbolPool& pool) {
  return mapped(n, pool, DType::Undefined, [](auto& c, const Element& e) {
    return c.is_float() ? quotient(c, Element{Poly(1)}, e) : std::nullopt;
  });
}
Values ceils(const OnnxNode& n, SymbolPool& pool) {
  return mapped(n, pool, DType::Undefined,
                [](auto& c, const Element& e) { return io::ceil(c, e); });
}
Values cast_to(const OnnxNode& n, SymbolPool& pool, DType to) {
  return mapped(n, pool, to, [to](auto& c, const Element& e) { return cast(c, e, to); });
}
Values cast_node(const OnnxNode& n, SymbolPool& pool) {
  return cast_to(n, pool, static_cast<DType>(n.integer("to", 0)));
}
Values cast_like_value(const OnnxNode& n, SymbolPool& pool) {
  bool known_type = n.inputs.size() == 2 && n.inputs[1].type.dtype != DType::Undefined;
  return known_type ? cast_to(n, pool, n.inputs[1].type.dtype) : Values{};
}
Values same_value(const OnnxNode& n, SymbolPool&) {
  auto x = known(n, 0);
  return x ? Values{x} : Values{};
}

Values where_value(const OnnxNode& n, SymbolPool&) {
  SizeTensorPtr c = known(n, 0), a = known(n, 1), b = known(n, 2);
  if (!c || !a || !b || a->dtype != b->dtype) return {};
  auto values = joined(a->dims, b->dims);
  auto dims = values ? joined(c->dims, *values) : std::nullopt;
  if (!dims) return {};
  std::vector<Element> elements;
  for (int64_t k = 0; k < count_of(*dims); ++k) {
    const Element& condition = broadcast_at(*c, *dims, k).value.is_zero()
                                   ? broadcast_at(*b, *dims, k)
                                   : broadcast_at(*a, *dims, k);
    elements.push_back(condition);
  }
  return one(a->dtype, *dims, std::move(elements));
}

/// --- others ---

Values range_value(const OnnxNode& n, SymbolPool&) {
  SizeTensorPtr start = known(n, 0), limit = known(n, 1), delta = known(n, 2);
  if (!start || !limit || !delta || start->dtype == DType::F32) return {};
  bool numbers = is_numeric(*start) && is_numeric(*limit) && is_numeric(*delta);
  if (!numbers || start->elements.size() * limit->elements.size() * delta->elements.size() != 1)
    return {};
  int64_t from = start->elements[0].value.constant(), to = limit->elements[0].value.constant(),
          by = delta->elements[0].value.constant();
  std::vector<Element> elements;
  for (int64_t x = from; by != 0 && (by > 0 ? x < to : x > to); x += by) {
    if (elements.size() > static_cast<size_t>(kMaxElements)) return {};
    elements.push_back({Poly(x)});
  }
  auto length = static_cast<int64_t>(elements.size());
  return one(start->dtype, {length}, std::move(elements));
}

/// A reduction of all elements.
template <Binary F>
Values reduced_all(const OnnxNode& n, SymbolPool& pool) {
  SizeTensorPtr x = known(n, 0);
  if (!x || x->elements.empty() || x->dims.size() > 1) return {};
  if (n.inputs.size() > 1 && n.inputs[1].present && !n.inputs[1].constant) return {};
  const auto* listed = n.ints("axes");
  bool no_axes = (!listed || listed->empty()) && (n.inputs.size() < 2 || !n.inputs[1].present ||
                                                  n.inputs[1].constant->count() == 0);
  if (no_axes && n.integer("noop_with_empty_axes", 0) != 0) return {};
  MaybeElement total = x->elements[0];
  for (size_t k = 1; total && k < x->elements.size(); ++k)
    total = F({pool, x->dtype}, *total, x->elements[k]);
  if (!total) return {};
  bool keeps = n.integer("keepdims", 1) != 0 && x->dims.size() == 1;
  return one(x->dtype, keeps ? std::vector<int64_t>{1} : std::vector<int64_t>{}, {*total});
}

Values nonzero_value(const OnnxNode& n, SymbolPool&) {
  SizeTensorPtr x = known(n, 0);
  if (!x || x->dims.empty()) return {};  // of a scalar ONNX and onnxruntime say different things
  std::vector<int64_t> found;
  for (size_t k = 0; k < x->elements.size(); ++k) {
    auto o = order(x->elements[k], {});
    if (!o) return {};
    if (*o != 0) found.push_back(static_cast<int64_t>(k));
  }
  std::vector<Element> positions;
  for (size_t d = 0; d < x->dims.size(); ++d) {
    int64_t below = 1;
    for (size_t k = d + 1; k < x->dims.size(); ++k) below *= x->dims[k];
    for (int64_t flat : found) positions.push_back({Poly(flat / below % x->dims[d])});
  }
  auto rank = static_cast<int64_t>(x->dims.size()), count = static_cast<int64_t>(found.size());
  return one(DType::I64, {rank, count}, std::move(positions));
}

/// Operands without elements add nothing.
OnnxNode without_empty(const OnnxNode& n) {
  OnnxNode r = n;
  std::erase_if(r.inputs, [](const OnnxInput& in) {
    return in.type.shape && in.type.shape->size() == 1 && (*in.type.shape)[0].is_zero();
  });
  return r;
}

/// --- operators that move elements, by their formulas ---

/// Each element is its number among all elements of the operands, from 1: 0 stands for a zero that
/// the operator puts beside them.
std::vector<Array<double>> numbered(const std::vector<SizeTensorPtr>& operands) {
  std::vector<Array<double>> arrays;
  double next = 1;
  for (const auto& t : operands) {
    Array<double> a{t->dims, std::vector<double>(t->elements.size())};
    std::iota(a.data.begin(), a.data.end(), next);
    next += static_cast<double>(t->elements.size());
    arrays.push_back(std::move(a));
  }
  return arrays;
}

Values gathered(const std::vector<SizeTensorPtr>& operands,
                const std::vector<Array<double>>& from) {
  const Element zero{Poly(0)};
  std::vector<const Element*> all{&zero};
  for (const auto& t : operands)
    for (const Element& e : t->elements) all.push_back(&e);
  Values out;
  for (const Array<double>& a : from) {
    std::vector<Element> elements;
    for (double k : a.data) elements.push_back(*all[static_cast<size_t>(k)]);
    out.push_back(one(operands[0]->dtype, a.shape, std::move(elements))[0]);
  }
  return out;
}

Values moved_by(const OpDef& op, const OnnxNode& n) {
  auto import = op.from_onnx(n);
  auto attrs = import ? numeric(import->attrs) : std::nullopt;
  if (!attrs) return {};
  std::vector<SizeTensorPtr> operands;
  for (int k : import->operands) {
    operands.push_back(known(n, static_cast<size_t>(k)));
    if (!operands.back() || operands.back()->dtype != operands[0]->dtype) return {};
  }
  std::vector<Array<double>> arrays = numbered(operands);
  std::vector<const Array<double>*> views;
  for (const auto& a : arrays) views.push_back(&a);
  auto moved = evaluate_reals(op, views, *attrs);
  return moved ? gathered(operands, *moved) : Values{};
}

Values moved(const OnnxNode& node) {
  OnnxNode n = node.type == "Concat" ? without_empty(node) : node;
  if (n.inputs.empty() || !known(n, 0) || known(n, 0)->elements.empty()) return {};
  for (const OpDef* op : ops_for_onnx(n.type)) {
    if (op->typed != &one_type) continue;
    if (Values values = moved_by(*op, n); !values.empty()) return values;
  }
  return {};
}

/// An attribute before opset 10, then an input; `missing` where there is neither.
std::optional<int64_t> slice_number(const OnnxNode& n, size_t input, std::string_view attribute,
                                    std::optional<int64_t> missing) {
  if (const auto* list = n.ints(attribute))
    return list->size() == 1 ? std::optional((*list)[0]) : std::nullopt;
  if (input >= n.inputs.size() || !n.inputs[input].present) return missing;
  SizeTensorPtr t = known(n, input);
  bool one_number = t && t->elements.size() == 1 && is_numeric(*t);
  return one_number ? std::optional(t->elements[0].value.constant()) : std::nullopt;
}

/// Of a vector: what is left may be empty, as the formula of the operator never is.
Values slice_value(const OnnxNode& n, SymbolPool&) {
  SizeTensorPtr x = known(n, 0);
  if (!x || x->dims.size() != 1) return moved(n);
  auto start = slice_number(n, 1, "starts", std::nullopt),
       end = slice_number(n, 2, "ends", std::nullopt), step = slice_number(n, 4, "steps", 1);
  if (!start || !end || !step || *step == 0) return {};
  int64_t count = x->dims[0], low = *step > 0 ? 0 : -1, high = *step > 0 ? count : count - 1;
  auto place = [&](int64_t p) { return std::clamp(p < 0 ? p + count : p, low, high); };
  *step = std::clamp(*step, -count - 1, count + 1);
  std::vector<Element> kept;
  for (int64_t k = place(*start), last = place(*end); *step > 0 ? k < last : k > last; k += *step)
    kept.push_back(x->elements[static_cast<size_t>(k)]);
  auto length = static_cast<int64_t>(kept.size());
  return one(x->dtype, {length}, std::move(kept));
}

const std::unordered_map<std::string_view, ValueRule>& value_rules() {
  static const std::unordered_map<std::string_view, ValueRule> table = {
      {"Shape", shape_value},
      {"Size", size_of_tensor},
      {"Identity", same_value},
      {"Add", fold_inputs<sum>},
      {"Sub", fold_inputs<difference>},
      {"Mul", fold_inputs<product>},
      {"Div", fold_inputs<quotient>},
      {"Mod", modulo},
      {"Min", fold_inputs<minimum>},
      {"Max", fold_inputs<maximum>},
      {"Neg", negated},
      {"Abs", absolutes},
      {"Sign", signs},
      {"Floor", floors},
      {"Ceil", ceils},
      {"Reciprocal", reciprocals},
      {"Cast", cast_node},
      {"CastLike", cast_like_value},
      {"Equal", compared<equal>},
      {"Greater", compared<greater>},
      {"Less", compared<less>},
      {"GreaterOrEqual", compared<greater_or_equal>},
      {"LessOrEqual", compared<less_or_equal>},
      {"And", compared<both>},
      {"Or", compared<either>},
      {"Xor", compared<one_of>},
      {"Not", inverted},
      {"Where", where_value},
      {"Slice", slice_value},
      {"Range", range_value},
      {"ReduceProd", reduced_all<product>},
      {"ReduceSum", reduced_all<sum>},
      {"ReduceMax", reduced_all<maximum>},
      {"ReduceMin", reduced_all<minimum>},
      {"NonZero", nonzero_value}};
  return table;
}

}  // namespace

bool keeps_elements(const OnnxNode& node) {
  static const std::set<std::string_view> kept = {"Identity", "Slice", "Where"};
  return kept.count(node.type) > 0 || value_rules().count(node.type) == 0;
}

std::vector<SizeTensorPtr> size_values(const OnnxNode& node, SymbolPool& pool) try {
  if (node.inputs.empty() || !node.inputs[0].present) return {};
  auto rule = value_rules().find(node.type);
  Values values = rule != value_rules().end() ? rule->second(node, pool) : moved(node);
  const bool small = std::ranges::all_of(values, [](const SizeTensorPtr& t) {
    return !t ||
           std::ranges::all_of(t->elements, [](const Element& e) { return is_size(e.value); });
  });
  return small ? values : Values{};
} catch (const PolyOverflow&) {
  return {};
}

}  // namespace regraft::io
