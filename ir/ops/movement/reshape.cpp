#include "ir/ops/define.h"

namespace regraft::ops {

// out = x in row-major order, in a shape of the same number of elements
struct Reshape {
  static constexpr std::string_view name = "reshape";
  static constexpr std::string_view onnx[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"};
  static constexpr Work work = Work::Movement;
  static constexpr bool view = true;
  static constexpr std::span<const TypeSupport> types = kMovement;
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"shape", Length::Any, std::nullopt}};
  OP_SHAPES {
    using I = typename A::Index;
    I from(1), to(1);
    for (const auto& d : in[0]) from = from * d;
    for (const auto& d : at.ints[0]) {
      to = to * d;
      alg.require(I(0) <= d);
    }
    alg.require(from == to);
    return Shapes<A>{at.ints[0]};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    I flat(0);
    for (size_t d = 0; d < i.size(); ++d) flat = flat * at.ints[0][d] + i[d];
    Indices<I> j;
    for (int d = 0; d < in[0].rank(); ++d) j.push_back(I(0));
    for (int d = in[0].rank(); d-- > 1;) {
      I q = alg.floordiv(flat, in[0].dim(d));
      j[d] = flat - q * in[0].dim(d);
      flat = q;
    }
    if (in[0].rank() > 0) j[0] = flat;
    return alg.read(in[0], j);
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>&, std::span<const int64_t>,
                    std::span<double> out) {
    std::copy_n(in[0].data, out.size(), out.begin());
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.inputs.empty() || !n.inputs[0].type.shape) return std::nullopt;
    const Shape& x = *n.inputs[0].type.shape;
    auto shape = n.type == "Reshape"   ? target(n, x)
                 : n.type == "Flatten" ? flattened(n, x)
                 : n.type == "Squeeze" ? squeezed(n, x)
                                       : unsqueezed(n, x);
    if (!shape) return std::nullopt;
    return OnnxImport{{{*shape}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    constexpr int kAllowsZero = 14;
    OnnxExport r;
    r.type = "Reshape";
    r.inputs = operand_inputs(1);
    std::vector<int64_t> shape;  // 0 copies the input's size, one -1 is inferred
    int inferred = 0, copies = 0;
    bool zero = false;  // a size may be 0 that is not to be copied
    for (size_t d = 0; d < at.ints[0].size(); ++d) {
      const Poly& size = at.ints[0][d];
      bool copied = d < in[0].shape->size() && same(size, (*in[0].shape)[d]);
      if (size.is_constant() && size.constant() != 0)
        shape.push_back(size.constant());
      else if (copied)
        ++copies, shape.push_back(0);
      else
        ++inferred, shape.push_back(-1);
      zero = zero || (!copied && may_be_zero(size));
    }
    // A size that is copied may be 0; then nothing says what the other is.
    if (inferred > 1 || (inferred > 0 && copies > 0)) {
      ASSIGN_OR_RETURN(auto sizes, size_input("shape", at.ints[0]));
      r.inputs.push_back(std::move(sizes));
      if (zero && opset >= kAllowsZero) r.attrs = {{"allowzero", int_attr(1)}};
    } else {
      r.inputs.push_back(int_input(shape));
    }
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 6}}, {{{3, 4}}, {}}}, {{{2, 3, 4}}, {{{6, 2, 2}}, {}}}, {{{1}}, {{{}}, {}}}};
  }

 private:
  static bool may_be_zero(const Poly& size) {
    if (size.is_constant()) return size.is_zero();
    return std::ranges::any_of(size.terms(), [](const Poly::Term& t) {
      return std::ranges::any_of(t.monomial, [](Var v) { return v->may_be_zero; });
    });
  }
  using Target = std::optional<std::vector<Poly>>;
  static Poly product(std::span<const Poly> s) {
    Poly p(1);
    for (const Poly& d : s) p = p * d;
    return p;
  }
  /// total / known when that is exact in the polynomials.
  static std::optional<Poly> quotient(const Poly& total, const Poly& known, const Shape& x) {
    if (known.is_constant() && known.constant() < 1) return std::nullopt;
    if (known.is_constant() && total.is_constant())
      return total.constant() % known.constant()
                 ? std::nullopt
                 : std::optional(Poly(total.constant() / known.constant()));
    SymbolPool* pool = nullptr;
    for (const Poly& d : x)
      if (!d.terms().empty()) pool = d.terms()[0].monomial[0]->pool;
    if (!pool) return std::nullopt;
    Poly q = pool->floordiv(total, known);
    return same(q * known, total) ? std::optional(q) : std::nullopt;
  }
  static Target target(const OnnxNode& n, const Shape& x) {
    auto given = n.sizes(1);
    if (!given) return std::nullopt;
    bool keep_zero = n.integer("allowzero", 0) != 0;
    std::vector<Poly> shape;
    std::optional<size_t> hole;
    for (size_t d = 0; d < given->size(); ++d) {
      const Poly& size = (*given)[d];
      bool unknown = size.is_constant() && size.constant() == -1;
      bool copied = size.is_zero() && !keep_zero;
      if ((size.is_constant() && size.constant() < -1) || (unknown && hole) ||
          (copied && d >= x.size()))
        return std::nullopt;
      if (unknown) hole = d;
      shape.push_back(unknown ? Poly(1) : copied ? x[d] : size);
    }
    if (hole) {
      auto q = quotient(product(x), product(shape), x);
      if (!q) return std::nullopt;
      shape[*hole] = *q;
    }
    return shape;
  }
  static Target flattened(const OnnxNode& n, const Shape& x) {
    int64_t axis = n.integer("axis", 1), rank = static_cast<int64_t>(x.size());
    if (axis < -rank || axis > rank) return std::nullopt;
    auto cut = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    std::span<const Poly> s(x);
    return std::vector<Poly>{product(s.first(cut)), product(s.subspan(cut))};
  }
  /// The axes, from the attribute (before opset 13) or the constant second input.
  static std::optional<std::vector<int64_t>> axes(const OnnxNode& n, int64_t rank) {
    std::optional<std::vector<int64_t>> v = n.constant_ints(1);
    if (const auto* attr = n.ints("axes")) v = *attr;
    if (!v) return std::nullopt;
    for (int64_t& a : *v) {
      if (a < -rank || a >= rank) return std::nullopt;
      if (a < 0) a += rank;
    }
    std::sort(v->begin(), v->end());
    if (std::adjacent_find(v->begin(), v->end()) != v->end()) return std::nullopt;
    return v;
  }
  static Target squeezed(const OnnxNode& n, const Shape& x) {
    std::vector<Poly> shape;
    bool all = !n.ints("axes") && (n.inputs.size() < 2 || !n.inputs[1].present);
    auto drop = axes(n, static_cast<int64_t>(x.size()));
    if (!drop && !all) return std::nullopt;
    for (size_t d = 0; d < x.size(); ++d) {
      if (all && !x[d].is_constant()) return std::nullopt;
      bool dropped = all ? is_one(x[d])
                         : std::binary_search(drop->begin(), drop->end(), static_cast<int64_t>(d));
      if (dropped && !is_one(x[d])) return std::nullopt;
      if (!dropped) shape.push_back(x[d]);
    }
    return shape;
  }
  static Target unsqueezed(const OnnxNode& n, const Shape& x) {
    size_t extra = n.ints("axes") ? n.ints("axes")->size()
                                  : n.constant_ints(1).value_or(std::vector<int64_t>{}).size();
    auto add = axes(n, static_cast<int64_t>(x.size() + extra));
    if (!add) return std::nullopt;
    std::vector<Poly> shape;
    size_t next = 0;
    for (size_t d = 0; d < x.size() + extra; ++d)
      shape.push_back(std::binary_search(add->begin(), add->end(), static_cast<int64_t>(d))
                          ? Poly(1)
                          : x[next++]);
    return shape;
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reshape, Reshape)
