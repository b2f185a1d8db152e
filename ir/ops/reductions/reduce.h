#pragma once
// What the reductions share.
#include "ir/ops/define.h"

namespace regraft::ops {

/// A reduction over `axes`, which are kept with size 1 when keepdims is 1.
struct Reduction {
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"axes", Length::Any, std::nullopt, true, IntKind::Axis},
                                     {"keepdims", Length::One, 1, true}};
  OP_SHAPES {
    int rank = static_cast<int>(in[0].size());
    std::vector<char> reduced(in[0].size(), 0);
    for (const auto& a : at.ints[0]) {
      if (!axis_fits(fixed(a), rank)) return error("reduction: no such axis");
      if (reduced[static_cast<size_t>(axis_of(fixed(a), rank))]++)
        return error("reduction: an axis occurs twice");
    }
    ShapeOf<typename A::Index> out;
    for (size_t d = 0; d < in[0].size(); ++d) {
      if (!reduced[d])
        out.push_back(in[0][d]);
      else if (fixed(at.ints[1][0]) != 0)
        out.push_back(typename A::Index(1));
    }
    return Shapes<A>{out};
  }
  /// Sizes of the reduced axes, in order, and the position in x under output position i.
  template <class A>
  struct Box {
    using I = typename A::Index;
    std::vector<int> axes;
    Indices<I> extents, base;
    Box(const typename A::Tensor& x, const Attrs<I>& at, std::span<const I> i) {
      bool keep = fixed(at.ints[1][0]) != 0;
      std::vector<char> reduced(static_cast<size_t>(x.rank()), 0);
      for (const auto& a : at.ints[0])
        reduced[static_cast<size_t>(axis_of(fixed(a), x.rank()))] = 1;
      size_t next = 0;
      for (int d = 0; d < x.rank(); ++d) {
        if (reduced[static_cast<size_t>(d)]) {
          axes.push_back(d);
          extents.push_back(x.dim(d));
          base.push_back(I(0));
          next += keep ? 1 : 0;
        } else {
          base.push_back(i[next++]);
        }
      }
    }
    /// The position k further along the reduced axes; overwritten by the next call.
    const Indices<I>& at_offset(std::span<const I> k) {
      for (size_t d = 0; d < k.size(); ++d) base[axes[d]] = k[d];
      return base;
    }
    I count() const {
      I n(1);
      for (int d = 0; d < extents.size(); ++d) n = n * extents[d];
      return n;
    }
  };
  /// The sum of f(x) over a box.
  template <Algebra A, class F>
  static typename A::Scalar sum_of(A& alg, const typename A::Tensor& x, Box<A>& box, F&& f) {
    using I = typename A::Index;
    return sum_over(alg, std::span<const I>(box.extents),
                    [&](std::span<const I> k) { return f(alg.read(x, box.at_offset(k))); });
  }
  /// axes: an attribute up to opset `last_with_attr`, then an input; none means all.
  static std::optional<OnnxImport> import(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    if (!rank) return std::nullopt;
    bool given = n.inputs.size() > 1 && n.inputs[1].present;
    std::optional<std::vector<int64_t>> axes = n.constant_ints(1);
    if (const auto* attr = n.ints("axes")) axes = *attr;
    if (given && !axes) return std::nullopt;
    if (!axes || axes->empty()) {
      if (n.integer("noop_with_empty_axes", 0) != 0) return std::nullopt;
      axes.emplace();
      for (int d = 0; d < *rank; ++d) axes->push_back(d);
    }
    return OnnxImport{{{polys(*axes), {Poly(n.integer("keepdims", 1))}}, {}}, {0}};
  }
  /// A pooling over all axes after N and C.
  static std::optional<OnnxImport> import_global_pool(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    if (!rank || *rank < 3) return std::nullopt;
    std::vector<Poly> axes;
    for (int d = 2; d < *rank; ++d) axes.emplace_back(d);
    return OnnxImport{{{axes, {Poly(1)}}, {}}, {0}};
  }
  static Result<OnnxExport> write(const char* type, int input_since, const Attrs<Poly>& at,
                                  int opset) {
    if (at.ints[0].empty()) return error(std::string(type) + " over no axis means all in ONNX");
    OnnxExport r;
    r.type = type;
    r.inputs = operand_inputs(1);
    r.attrs["keepdims"] = int_attr(fixed(at.ints[1][0]));
    ASSIGN_OR_RETURN(auto axes, numbers("axes", at.ints[0]));
    if (opset >= input_since)
      r.inputs.push_back(int_input(axes));
    else
      r.attrs["axes"] = ints_attr(axes);
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{{1}, {1}}, {}}},
            {{{2, 3, 4}}, {{{0, -1}, {0}}, {}}},
            {{{3}}, {{{0}, {0}}, {}}}};
  }
};

}  // namespace regraft::ops
