#pragma once
// The registry of operators. An operator is one struct in a file below ir/ops: its name, its
// attributes, its shape rule and its formula; ir/ops/ops.def lists them all.
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/algebra/algebra.h"
#include "ir/algebra/size_tensor.h"
#include "ir/algebra/tensor.h"

namespace regraft {

/// How many numbers an integer attribute has; "spatial" axes are those of operand 0 after N and C.
enum class Length : uint8_t { One, Spatial, TwiceSpatial, Rank, TwiceRank, Any };

/// What a number of an attribute is.
enum class IntKind : uint8_t {
  Count,   ///< 1, 2, ..: a stride, a size; and flags
  Offset,  ///< 0, 1, ..: a padding, a position
  Axis,    ///< of operand 0; below 0 from the back
};

/// An attribute made of integers.
struct IntAttr {
  std::string_view name;
  Length length = Length::One;
  std::optional<int64_t>
      fallback;             ///< each number when the attribute is left out; nullopt: required
  bool structural = false;  ///< axes, permutations, modes: a number in every rule
  IntKind kind = IntKind::Count;
  int64_t least() const { return kind == IntKind::Count ? 1 : 0; }  ///< of a variable's values
};
/// An attribute that is a real number.
struct RealAttr {
  std::string_view name;
  double fallback = 0;
  bool zero_is_default = false;  ///< 0 is no value but means a default: no symbol stands for it
};

/// An operator's meaning in one algebra.
template <class A>
struct Semantics {
  using I = typename Sorts<A>::Index;
  /// Shapes of the outputs. Structural mistakes (arity, rank, axis) are Errors; what sizes must
  /// satisfy goes to alg.require.
  Result<Shapes<A>> (*infer)(A& alg, const Shapes<A>& in, const Attrs<I>& at);
  /// The element of output `out` at position i.
  typename Sorts<A>::Scalar (*element)(A& alg, Tensors<A> in, const Attrs<I>& at, Position<A> i,
                                       int out);
};
/// Elements first .. first+values.size()-1 (row-major) of output `out` of the given shape.
template <class A>
using Fill = void (*)(A& alg, Tensors<A> in, const Attrs<int64_t>& at,
                      std::span<const int64_t> shape, int out, int64_t first,
                      std::span<typename Sorts<A>::Scalar> values);

/// The operator sets that a model imports.
struct Opset {
  int version = 0;         ///< of the default domain
  bool microsoft = false;  ///< com.microsoft as well: what onnxruntime has beside the standard
  constexpr Opset(int v = 0, bool contributed = false) : version(v), microsoft(contributed) {}
  /// Most operators ask for the default domain alone.
  constexpr operator int() const { return version; }
};

/// A node of an ONNX model as operator files see it, free of protobuf.
struct OnnxAttr {
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::string text;
  bool opaque = false;               ///< a tensor, graph or type: not readable here
  DType element = DType::Undefined;  ///< of a tensor
};
struct OnnxInput {
  bool present = false;
  TensorType type;
  std::shared_ptr<const Constant> constant;  ///< when it is one
  SizeTensorPtr sizes;  ///< when its elements are known as functions of the model's sizes
};
struct OnnxNode {
  std::string type;  ///< "domain:Type" if foreign
  int opset = 0;     ///< version of the default domain
  std::map<std::string, OnnxAttr> attrs;
  std::vector<OnnxInput> inputs;
  int outputs = 1;
  const std::vector<int64_t>* ints(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t fallback) const;
  double real(std::string_view name, double fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  bool has(std::string_view name) const { return attrs.count(std::string(name)) > 0; }
  /// Numbers of a constant integer input; nullopt when absent or not constant.
  std::optional<std::vector<int64_t>> constant_ints(size_t input) const;
  std::optional<double> constant_real(size_t input) const;  ///< of a one-element constant
  /// Elements of a constant integer input, or of one that is computed from the model's sizes.
  std::optional<std::vector<Poly>> sizes(size_t input) const;
};
/// How an ONNX node is an operator call: its attributes, which inputs are its operands, and which
/// outputs its results.
struct OnnxImport {
  Attrs<Poly> attrs;
  std::vector<int> operands;
  std::vector<int> results = {};  ///< empty: all outputs, in order
};
/// What to write for an operator call.
struct OnnxExport {
  std::string type;  ///< "domain:Type" if foreign
  std::map<std::string, OnnxAttr> attrs;
  /// Each input: an operand, a constant to be created, a list of integers that the model computes
  /// from its sizes, or (all empty) an absent optional input.
  struct Input {
    std::optional<int> operand;
    std::shared_ptr<const Constant> constant;
    std::vector<Poly> sizes = {};
  };
  std::vector<Input> inputs;
  /// Which output each result is; then those at the end that nothing reads are left out. Empty: all
  /// in order.
  std::vector<int> results = {};
};

constexpr int kNever = std::numeric_limits<int>::max();
/// An element type that an operator may have: the first opsets at which ONNX's specification allows
/// it and onnxruntime's CPU provider runs it (kNever: it does not).
struct TypeSupport {
  DType type;
  int specified, runs;
};

/// What machines do at different speeds.
enum class Work : uint8_t {
  Elementwise,
  Convolution,
  Product,  ///< of matrices
  Pooling,  ///< windows without weights
  Reduction,
  Movement,  ///< no arithmetic
};

/// What a call may be part of when a runtime fuses calls.
enum class Fusion : uint8_t {
  Alone,      ///< nothing
  Anchor,     ///< takes elementwise calls that follow
  Pointwise,  ///< follows an anchor, or others of its kind
  Folding,    ///< a reduction in the middle of a normalisation
  AfterSum,   ///< a normalisation, with the sum that it reads
};

/// Where a runtime's kernel for tensors in blocks of channels (NCHWc) takes the call.
enum class Blocking : uint8_t {
  Never,
  Convolution,  ///< where the kernel's channels fit the blocks
  Filled,       ///< where the channels of operand 0 fill them
  Following,    ///< the same, and operand 0 is in blocks already
  Joined,       ///< where the channels of each operand fill them
};

/// The arithmetic of an operator on two operands.
enum class Arithmetic : uint8_t { None, Sum, Difference, Product, Quotient };

/// One use of the operator for tests: shapes of the operands, attributes.
struct Sample {
  std::vector<std::vector<int64_t>> shapes;
  Attrs<int64_t> attrs;
};

/// All elements of output 0 over doubles, faster than the formula gives them one by one, on all
/// cores. It must agree with the formula up to rounding: the operators' contract test compares the
/// two.
using DenseKernel = void (*)(Tensors<Reals> in, const Attrs<int64_t>& at,
                             std::span<const int64_t> shape, std::span<double> out);

/// A row of the registry. Static lifetime; identity is the address.
struct OpDef {
  std::string_view name;                   ///< in rules and graphs: "matmul"
  std::span<const std::string_view> onnx;  ///< ONNX types it is imported from; empty: none
  int min_arity = 1, max_arity = 1;
  int outputs = 1;  ///< 0: as many as ints[outputs_attr] has numbers
  int outputs_attr = -1;
  bool commutative = false;  ///< in its first two operands
  bool associative = false;  ///< a chain of it has one value however it is grouped; implies
                             ///< two operands, commutative, no attributes
  Work work = Work::Elementwise;
  Fusion fusion = Fusion::Alone;
  Blocking blocking = Blocking::Never;
  Arithmetic arithmetic = Arithmetic::None;
  bool view = false;            ///< the elements of operand 0 in their order, with another shape
  bool channel_affine = false;  ///< in operand 0, by numbers of each channel that the others give
  /// The operator that takes a result apart into the operands, or nothing; attributes: the axis,
  /// and the operands' extents along it.
  std::string_view parts_by;
  std::span<const IntAttr> ints;
  std::span<const RealAttr> reals;
  Semantics<Reals> reals_semantics;
  Semantics<Field> field_semantics;
  Semantics<Terms> terms_semantics;
  Semantics<Symbolic> symbolic_semantics;
  Semantics<Counting> counting_semantics;  ///< behind operation_count()
  /// The formula as it stands.
  SyntaxTree (*syntax_element)(Syntax& alg, Tensors<Syntax> in, const Attrs<Poly>& at,
                               Position<Syntax> i, int out);
  CodeScalar (*code_element)(Code& alg, Tensors<Code> in, const Attrs<CodeIndex>& at,
                             Position<Code> i, int out);
  Fill<Reals> fill_reals;
  Fill<Field> fill_field;
  Fill<Terms> fill_terms;
  Fill<Trace> fill_trace;
  /// What runtimes compute in floating point, equal to the formula over the reals; see
  /// ir/algebra/trace.h.
  Fill<Trace> fill_float;
  DenseKernel dense = nullptr;  ///< nullptr: the formula is fast enough
  /// nullopt: this form of the ONNX node is not expressible; it stays opaque.
  std::optional<OnnxImport> (*from_onnx)(const OnnxNode& node);
  std::span<const TypeSupport> types;  ///< of its standard form; empty: it has none
  std::span<const DType> microsoft;    ///< that its com.microsoft form has and runs on
  int type_operand = 0;                ///< the operand whose element type `types` are about
  /// Bit k: operand k is of truth values, 1 and 0. A variable that a rule's left side has there
  /// stands for such.
  unsigned truths = 0;
  /// The outputs are of the type that attribute "to" says, whatever the operands are of.
  bool states_type = false;
  /// The element type of the outputs (F32 without operands), or an Error that says which operand is
  /// of a type that it cannot be of. In rules a variable is Bool
  /// where `truths` says so, else F32, which then stands for any type.
  Result<DType> (*typed)(const OpDef& op, const Attrs<Poly>& at, std::span<const DType> operands);
  /// Error: ONNX has no form of this call at that opset (a constant maker is folded instead), or
  /// onnxruntime refuses the form whatever its element type is (a padding as large as the window).
  /// Types may have sizes 0: then the call is one that runs on such tensors.
  Result<OnnxExport> (*to_onnx)(const Attrs<Poly>& at, const std::vector<TensorType>& operands,
                                Opset opset);
  std::vector<Sample> (*samples)();

  template <class A>
  const Semantics<A>& semantics() const;
  template <class A>
  Fill<A> fill() const;
  int int_attr(std::string_view attr) const;   ///< index, or -1
  int real_attr(std::string_view attr) const;  ///< index, or -1
  /// Does onnxruntime's CPU provider run it on this element type?
  bool runs_on(DType type, Opset opset) const;
  /// Is there a node for it? Makers of constants have none.
  bool has_onnx_form() const { return !types.empty() || !microsoft.empty(); }
  /// Is operand k of truth values?
  bool wants_truth(size_t k) const { return k < 32 && (truths >> k & 1) != 0; }
};
template <>
inline const Semantics<Reals>& OpDef::semantics() const {
  return reals_semantics;
}
template <>
inline const Semantics<Field>& OpDef::semantics() const {
  return field_semantics;
}
template <>
inline const Semantics<Terms>& OpDef::semantics() const {
  return terms_semantics;
}
template <>
inline const Semantics<Symbolic>& OpDef::semantics() const {
  return symbolic_semantics;
}
template <>
inline const Semantics<Counting>& OpDef::semantics() const {
  return counting_semantics;
}
template <>
inline Fill<Reals> OpDef::fill() const {
  return fill_reals;
}
template <>
inline Fill<Field> OpDef::fill() const {
  return fill_field;
}
template <>
inline Fill<Terms> OpDef::fill() const {
  return fill_terms;
}

/// What `typed` is for most operators: operands of one real type, which the outputs have too.
Result<DType> one_real_type(const OpDef& op, const Attrs<Poly>& at,
                            std::span<const DType> operands);
/// For operators that move elements: operands of one type, whatever it is.
Result<DType> one_type(const OpDef& op, const Attrs<Poly>& at, std::span<const DType> operands);
/// Floating point operations of a call, from the operator's formula, each loop-invariant part
/// counted once; 0 when the shapes do not fit.
double operation_count(const OpDef& op, const std::vector<std::vector<int64_t>>& operand_shapes,
                       const Attrs<int64_t>& at);
/// All operators, in the order of ops.def.
std::span<const OpDef* const> all_ops();
/// The operator of that name, or nullptr.
const OpDef* find_op(std::string_view name);
/// The operators that an ONNX type may be imported as.
std::span<const OpDef* const> ops_for_onnx(std::string_view onnx_type);
/// How many numbers attribute `attr` has for operand 0 of this rank; nullopt for Length::Any.
std::optional<size_t> attr_length(const IntAttr& attr, int rank_of_operand0);
/// All attributes at their fallbacks. REQUIRES: every attribute has one.
Attrs<Poly> default_attrs(const OpDef& op, int rank_of_operand0);
/// Number of outputs of a call.
int output_count(const OpDef& op, const Attrs<Poly>& at);
bool same(const Attrs<Poly>& a, const Attrs<Poly>& b);
uint64_t hash(const Attrs<Poly>& at);
/// Attributes as numbers. An unknown real is one of a few numbers that depend on its symbol:
/// `values` may say which.
Attrs<int64_t> evaluate(const Attrs<Poly>& at, const Valuation& values);
/// nullopt when an attribute is not a number.
std::optional<Attrs<int64_t>> numeric(const Attrs<Poly>& at);
Attrs<Poly> symbolic(const Attrs<int64_t>& at);
Attrs<Poly> substitute(const Attrs<Poly>& at, const Substitution& s);

}  // namespace regraft
