#pragma once
// Turns an operator's struct into a row of the registry. Included by ir/ops/*.cpp only.
// A struct has: name, onnx (types, may be empty), arity (or min_arity and max_arity), and may have
// ints, reals, commutative, associative, outputs, outputs_attr, what cost models know (work,
// fusion, blocking, arithmetic, view, channel_affine), parts_by, types (element types of its ONNX
// form, else kArithmetic), microsoft (of its form in onnxruntime's own domain), type_operand,
// truths, states_type, typed (see OpDef; a pointer to a function), from_onnx, to_onnx, dense; and
// the templates OP_SHAPES {..} and OP_ELEMENT {..}, and samples().
// Where runtimes do not compute what OP_ELEMENT says step by step, OP_FLOAT_ELEMENT {..} says what
// they do.
// Where neighbouring elements share a part, such as the mean of their row, OP_ROW {..} says it,
// OP_IN_ROW {..} the element given `row`, and same_row(attributes, position, position) whether two
// elements share theirs; OP_ELEMENT_IN_ROW in place of OP_ELEMENT. Tensors compute it once a row.
#include <algorithm>
#include <array>

#include "base/result.h"
#include "ir/algebra/code.h"
#include "ir/algebra/concrete.h"
#include "ir/algebra/symbolic.h"
#include "ir/algebra/trace.h"
#include "ir/algebra/tree/syntax.h"
#include "ir/ops/op.h"

#define OP_SHAPES                                                                               \
  template <Algebra A>                                                                          \
  static Result<Shapes<A>> infer([[maybe_unused]] A& alg, [[maybe_unused]] const Shapes<A>& in, \
                                 [[maybe_unused]] const Attrs<typename A::Index>& at)
#define OP_ELEMENT                                                                           \
  template <Algebra A>                                                                       \
  static typename A::Scalar element([[maybe_unused]] A& alg, [[maybe_unused]] Tensors<A> in, \
                                    [[maybe_unused]] const Attrs<typename A::Index>& at,     \
                                    [[maybe_unused]] Position<A> i, [[maybe_unused]] int out)
#define OP_FLOAT_ELEMENT                                                                           \
  template <Algebra A>                                                                             \
  static typename A::Scalar float_element([[maybe_unused]] A& alg, [[maybe_unused]] Tensors<A> in, \
                                          [[maybe_unused]] const Attrs<typename A::Index>& at,     \
                                          [[maybe_unused]] Position<A> i,                          \
                                          [[maybe_unused]] int out)
#define OP_ROW                                                             \
  template <Algebra A>                                                     \
  static auto row([[maybe_unused]] A& alg, [[maybe_unused]] Tensors<A> in, \
                  [[maybe_unused]] const Attrs<typename A::Index>& at,     \
                  [[maybe_unused]] Position<A> i)
#define OP_IN_ROW                                                                       \
  template <Algebra A, class Row>                                                       \
  static typename A::Scalar in_row([[maybe_unused]] A& alg, const Row& row,             \
                                   [[maybe_unused]] Tensors<A> in,                      \
                                   [[maybe_unused]] const Attrs<typename A::Index>& at, \
                                   [[maybe_unused]] Position<A> i, [[maybe_unused]] int out)
#define OP_ELEMENT_IN_ROW \
  OP_ELEMENT { return in_row(alg, row(alg, in, at, i), in, at, i, out); }

namespace regraft::ops {

// --- what formulas share ---

/// An axis attribute, counted from the front.
inline int axis_of(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
inline bool axis_fits(int64_t axis, int rank) { return axis >= -rank && axis < rank; }
/// Are two positions the same on the axes before `axis`?
inline bool alike_before(int axis, std::span<const int64_t> i, std::span<const int64_t> j) {
  return std::equal(i.begin(), i.begin() + axis, j.begin());
}

/// One output dimension of NumPy broadcasting. Symbolic sizes broadcast only where one is the
/// number 1.
template <Algebra A, class I = typename A::Index>
I broadcast_dim(A& alg, const I& a, const I& b) {
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  alg.require(a == b);
  return a;
}

/// Broadcast of two shapes, aligned at the end.
template <Algebra A, class S = ShapeOf<typename A::Index>>
S broadcast(A& alg, const S& a, const S& b) {
  const S &big = a.size() >= b.size() ? a : b, &small = a.size() >= b.size() ? b : a;
  S r = big;
  for (size_t d = 0; d < small.size(); ++d) {
    size_t k = big.size() - small.size() + d;
    r[k] = broadcast_dim(alg, big[k], small[d]);
  }
  return r;
}

/// Element of an operand that is broadcast to the rank of i.
template <Algebra A>
typename A::Scalar read_broadcast(A& alg, const typename A::Tensor& t, Position<A> i) {
  Indices<typename A::Index> j;
  int skip = static_cast<int>(i.size()) - t.rank();
  for (int d = 0; d < t.rank(); ++d)
    j.push_back(is_one(t.dim(d)) ? typename A::Index(0) : i[static_cast<size_t>(d + skip)]);
  return alg.read(t, j);
}

/// A copy of position i with axis d replaced.
template <class I>
Indices<I> with(std::span<const I> i, int d, I x) {
  Indices<I> j(i);
  j[d] = std::move(x);
  return j;
}

template <Algebra A>
typename A::Scalar zero(A& alg) {
  return alg.constant(0);
}
template <Algebra A>
typename A::Scalar minus(A& alg, const typename A::Scalar& a, const typename A::Scalar& b) {
  return a + alg.constant(-1) * b;
}
/// |x| = max(x, 0) + max(-x, 0)
template <Algebra A, class S = typename A::Scalar>
S absolute(A& alg, const S& x) {
  return alg.apply(Fn::Relu, x) + alg.apply(Fn::Relu, minus(alg, zero(alg), x));
}
/// The largest of value(k) over a box.
template <Algebra A, class F>
typename A::Scalar largest_over(A& alg, std::span<const typename A::Index> extents, F&& value) {
  using I = typename A::Index;
  return alg.max_over(
      extents, [](std::span<const I>) { return I(0) <= I(0); }, value);
}
/// Is a number of an attribute plainly 0, and no symbol that might be?
template <class I>
bool plainly_zero(const I& x) {
  return is_one(x + I(1));
}

// --- ONNX ---

/// Element types of what computes and of what only moves data; as of onnxruntime 1.31.
inline constexpr TypeSupport kArithmetic[] = {
    {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, 1}, {DType::BF16, 13, kNever}};
inline constexpr TypeSupport kMovement[] = {
    {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, 1}, {DType::BF16, 13, 13},
    {DType::I64, 1, 1}, {DType::I32, 1, 1}, {DType::Bool, 1, 1}};

/// The attributes and inputs as they stand, when their names are the operator's own and no others
/// occur.
std::optional<OnnxImport> import_by_name(const OpDef& op, const OnnxNode& node);
Result<OnnxExport> export_by_name(const OpDef& op, const Attrs<Poly>& at,
                                  const std::vector<TensorType>& operands, Opset opset);
inline std::vector<Poly> polys(const std::vector<int64_t>& v) { return {v.begin(), v.end()}; }
inline std::optional<int> rank_of(const OnnxNode& n, size_t input) {
  if (input >= n.inputs.size() || !n.inputs[input].type.shape) return std::nullopt;
  return static_cast<int>(n.inputs[input].type.shape->size());
}
inline OnnxAttr ints_attr(std::vector<int64_t> v) {
  OnnxAttr a;
  a.ints = std::move(v);
  return a;
}
inline OnnxAttr text_attr(std::string s) {
  OnnxAttr a;
  a.text = std::move(s);
  return a;
}
/// `operands` operands, in order.
std::vector<OnnxExport::Input> operand_inputs(int operands);
OnnxExport::Input int_input(std::vector<int64_t> v);  ///< a 1-D int64 constant
/// A 1-D int64 tensor of sizes, a constant where all are numbers; an Error when a model has no way
/// to compute them from the shapes of its inputs.
Result<OnnxExport::Input> size_input(std::string_view what, std::vector<Poly> sizes);
/// A scalar constant of a real type; an Error when the type has no such number.
Result<OnnxExport::Input> real_input(std::string_view what, double v, DType type);
/// The numbers of an attribute, or an Error that names it.
Result<std::vector<int64_t>> numbers(std::string_view what, const std::vector<Poly>& v);
/// Is a dimension plainly 0?
inline bool has_zero(std::span<const Poly> sizes) {
  return std::any_of(sizes.begin(), sizes.end(), [](const Poly& d) { return d.is_zero(); });
}
/// A single int, by the ONNX convention an attribute of one number.
inline OnnxAttr int_attr(int64_t v) { return ints_attr({v}); }

// --- the registry row ---

Status check_call(const OpDef& op, size_t arity, const std::vector<int>& ranks,
                  const std::vector<size_t>& int_sizes, size_t reals);

/// The call as to_onnx gets it, axes counted from the front; an Error when its element type is not
/// in the operator's table, and after it when an attribute is no float32.
Result<Attrs<Poly>> export_attrs(const OpDef& op, const Attrs<Poly>& at,
                                 const std::vector<TensorType>& operands, Opset opset);
Status check_floats(const OnnxExport& form);

template <class Op>
const OpDef& define();

template <class Op>
Result<OnnxExport> checked_export(const Attrs<Poly>& at, const std::vector<TensorType>& operands,
                                  Opset opset) {
  const OpDef& op = define<Op>();
  ASSIGN_OR_RETURN(Attrs<Poly> normal, export_attrs(op, at, operands, opset));
  auto form = [&] {
    if constexpr (requires { &Op::to_onnx; })
      return Op::to_onnx(normal, operands, opset);
    else
      return export_by_name(op, normal, operands, opset);
  }();
  if (form) RETURN_IF_ERROR(check_floats(*form));
  return form;
}

template <class Op, class A>
Result<Shapes<A>> checked_infer(A& alg, const Shapes<A>& in, const Attrs<typename A::Index>& at) {
  std::vector<int> ranks;
  for (const auto& s : in) ranks.push_back(static_cast<int>(s.size()));
  std::vector<size_t> sizes;
  for (const auto& v : at.ints) sizes.push_back(v.size());
  RETURN_IF_ERROR(check_call(define<Op>(), in.size(), ranks, sizes, at.reals.size()));
  if constexpr (std::is_same_v<typename A::Index, Poly>)
    for (size_t k = 0; k < at.ints.size(); ++k)
      for (const Poly& p : at.ints[k])
        if (define<Op>().ints[k].structural && !p.is_constant())
          return error(std::string(Op::name) + ": attribute " +
                       std::string(define<Op>().ints[k].name) + " must be a number");
  return Op::template infer<A>(alg, in, at);
}

/// values[k] is value(i), i the position of element first + k.
template <class A, class F>
void fill_positions(std::span<const int64_t> shape, int64_t first,
                    std::span<typename A::Scalar> values, F&& value) {
  Indices<int64_t> i;
  int64_t rest = first, block = 1;
  for (int64_t d : shape) block *= d;
  for (int64_t d : shape) {
    block = d == 0 ? 0 : block / d;
    i.push_back(block == 0 ? 0 : rest / block);
    rest = block == 0 ? 0 : rest % block;
  }
  for (auto& x : values) {
    x = value(std::span<const int64_t>(i));
    for (int d = i.size(); d-- > 0;) {
      if (++i[d] < shape[static_cast<size_t>(d)]) break;
      i[d] = 0;
    }
  }
}

/// fill_range for the element that `Element` computes.
template <auto Element, class A>
void fill_with(A& alg, Tensors<A> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
               int out, int64_t first, std::span<typename A::Scalar> values) {
  fill_positions<A>(shape, first, values,
                    [&](Position<A> i) { return Element(alg, in, at, i, out); });
}

template <class Op, class A>
void fill_range(A& alg, Tensors<A> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                int out, int64_t first, std::span<typename A::Scalar> values) {
  if constexpr (requires { &Op::same_row; }) {
    using Row = decltype(Op::template row<A>(alg, in, at, Position<A>()));
    std::optional<Row> row;
    Indices<int64_t> of;  // a position of that row
    fill_positions<A>(shape, first, values, [&](Position<A> i) {
      if (!row || !Op::same_row(at, of, i)) {
        row = Op::template row<A>(alg, in, at, i);
        of = Indices<int64_t>(i);
      }
      return Op::template in_row<A>(alg, *row, in, at, i, out);
    });
  } else {
    fill_with<&Op::template element<A>, A>(alg, in, at, shape, out, first, values);
  }
}

template <class Op, class A>
constexpr Semantics<A> semantics_of() {
  return {&checked_infer<Op, A>, &Op::template element<A>};
}

template <class Op>
const OpDef& define() {
  static const OpDef def = [] {
    OpDef d{};
    d.name = Op::name;
    d.onnx = Op::onnx;
    if constexpr (requires { Op::arity; }) d.min_arity = d.max_arity = Op::arity;
    if constexpr (requires { Op::min_arity; })
      d.min_arity = Op::min_arity, d.max_arity = Op::max_arity;
    if constexpr (requires { Op::outputs; }) d.outputs = Op::outputs;
    if constexpr (requires { Op::outputs_attr; }) d.outputs = 0, d.outputs_attr = Op::outputs_attr;
    if constexpr (requires { Op::commutative; }) d.commutative = Op::commutative;
    if constexpr (requires { Op::associative; }) d.associative = Op::associative;
    if constexpr (requires { Op::work; }) d.work = Op::work;
    if constexpr (requires { Op::fusion; }) d.fusion = Op::fusion;
    if constexpr (requires { Op::blocking; }) d.blocking = Op::blocking;
    if constexpr (requires { Op::arithmetic; }) d.arithmetic = Op::arithmetic;
    if constexpr (requires { Op::view; }) d.view = Op::view;
    if constexpr (requires { Op::channel_affine; }) d.channel_affine = Op::channel_affine;
    if constexpr (requires { Op::parts_by; }) d.parts_by = Op::parts_by;
    if constexpr (requires { Op::ints; }) d.ints = Op::ints;
    if constexpr (requires { Op::reals; }) d.reals = Op::reals;
    d.reals_semantics = semantics_of<Op, Reals>();
    d.field_semantics = semantics_of<Op, Field>();
    d.terms_semantics = semantics_of<Op, Terms>();
    d.symbolic_semantics = semantics_of<Op, Symbolic>();
    d.counting_semantics = semantics_of<Op, Counting>();
    d.syntax_element = &Op::template element<Syntax>;
    d.code_element = &Op::template element<Code>;
    d.fill_reals = &fill_range<Op, Reals>;
    d.fill_field = &fill_range<Op, Field>;
    d.fill_terms = &fill_range<Op, Terms>;
    d.fill_trace = &fill_range<Op, Trace>;
    d.fill_float = d.fill_trace;
    if constexpr (requires { &Op::template float_element<Trace>; })
      d.fill_float = &fill_with<&Op::template float_element<Trace>, Trace>;
    if constexpr (requires { &Op::dense; }) d.dense = &Op::dense;
    if constexpr (requires { &Op::from_onnx; })
      d.from_onnx = &Op::from_onnx;
    else
      d.from_onnx = [](const OnnxNode& n) { return import_by_name(define<Op>(), n); };
    d.typed = &one_real_type;
    if constexpr (requires { Op::typed; }) d.typed = Op::typed;
    if constexpr (requires { Op::type_operand; }) d.type_operand = Op::type_operand;
    if constexpr (requires { Op::truths; }) d.truths = Op::truths;
    if constexpr (requires { Op::states_type; }) d.states_type = Op::states_type;
    if constexpr (requires { Op::microsoft; }) d.microsoft = Op::microsoft;
    if (!d.onnx.empty()) d.types = kArithmetic;
    if constexpr (requires { Op::types; }) d.types = Op::types;
    d.to_onnx = &checked_export<Op>;
    d.samples = &Op::samples;
    return d;
  }();
  return def;
}

}  // namespace regraft::ops

/// The function that ops.def lists.
#define REGRAFT_DEFINE(function, Struct)               \
  namespace regraft::ops {                             \
  const OpDef& function() { return define<Struct>(); } \
  }
