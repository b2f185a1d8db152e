#pragma once
// What the two forms of rotary embedding share: the rotation of pairs, and the node's attributes.
#include "ir/ops/define.h"

namespace regraft::ops {

// Turns pairs (u, v) of each head by an angle: (u, v) becomes (c * u - s * v, s * u + c * v), with
// c and s the angle of pair j at a place. Pair j of the first `dim` elements (0: of all) is
// (j, j + dim / 2), and (2 j, 2 j + 1) with interleaved = 1; the others stay. x is [batch, head,
// place, size] or [batch, place, heads * size].
struct Rotation {
  static constexpr IntAttr ints[] = {{"heads", Length::One, 0, true},
                                     {"interleaved", Length::One, 0, true},
                                     {"dim", Length::One, 0, true}};
  static constexpr TypeSupport types[] = {{DType::F32, 23, 23},
                                          {DType::F16, 23, 23},
                                          {DType::F64, kNever, kNever},
                                          {DType::BF16, 23, kNever}};
  template <Algebra A, class I = typename A::Index>
  static I head_size(A& alg, const I& last, const Attrs<I>& at, int rank) {
    return rank == 4 ? last : alg.floordiv(last, at.ints[0][0]);
  }
  /// How many pairs are turned; nullopt: the rank, or the number of heads, does not fit.
  template <Algebra A, class I = typename A::Index>
  static std::optional<I> pairs(A& alg, const ShapeOf<I>& x, const Attrs<I>& at) {
    const I &heads = at.ints[0][0], &dim = at.ints[2][0];
    bool fits = x.size() == 4 ? fixed(heads) == 0 : x.size() == 3 && fixed(heads) > 0;
    if (!fits) return std::nullopt;
    I size = head_size(alg, x.back(), at, static_cast<int>(x.size()));
    if (x.size() == 3) alg.require(x[2] == heads * size);
    I turned = fixed(dim) == 0 ? size : dim, half = alg.floordiv(turned, I(2));
    alg.require(turned <= size);
    alg.require(turned == half + half);
    return half;
  }
  /// The element at i; angle(1, j) is the cosine of pair j at this place, angle(2, j) the sine.
  template <Algebra A, class F, class I = typename A::Index>
  static typename A::Scalar element(A& alg, const typename A::Tensor& x, const Attrs<I>& at,
                                    Position<A> i, F&& angle) {
    int last = x.rank() - 1;
    const I& dim = at.ints[2][0];
    bool interleaved = fixed(at.ints[1][0]) != 0;
    I size = head_size(alg, x.dim(last), at, x.rank()), e = i[i.size() - 1];
    if (x.rank() == 3) e = e - alg.floordiv(e, size) * size;
    auto near = [&](const I& distance) {  // of the same head
      return alg.read(x, with(i, last, i[i.size() - 1] + distance));
    };
    auto turn = [&](const I& j, const I& distance, auto is_first) {
      return alg.select(
          is_first,
          [&] { return minus(alg, angle(1, j) * near(I(0)), angle(2, j) * near(distance)); },
          [&] {
            I k = interleaved ? j : j - distance;
            return angle(2, k) * near(I(0) - distance) + angle(1, k) * near(I(0));
          });
    };
    auto turned = [&] {
      if (interleaved) {
        I j = alg.floordiv(e, I(2));
        return turn(j, I(1), e == j + j);
      }
      I half = alg.floordiv(fixed(dim) == 0 ? size : dim, I(2));
      return turn(e, half, e < half);
    };
    if (fixed(dim) == 0) return turned();
    return alg.select(e < dim, turned, [&] { return alg.read(x, i); });
  }
  /// Of a node whose input `table` has a row of pairs for each place; without a number of heads it
  /// says their size.
  static std::optional<Attrs<Poly>> attrs(const OnnxNode& n, int table) {
    auto rank = rank_of(n, 0);
    if (!rank) return std::nullopt;
    int64_t heads = *rank == 3 ? n.integer("num_heads", 0) : 0;
    int64_t dim = n.integer("rotary_embedding_dim", 0);
    if (*rank == 3 && heads == 0) {
      const auto& rows = n.inputs[static_cast<size_t>(table)].type.shape;
      const Poly& width = n.inputs[0].type.shape->back();
      if (!rows || rows->empty() || !rows->back().is_constant() || !width.is_constant() ||
          rows->back().constant() <= 0)
        return std::nullopt;
      heads = width.constant() / (2 * rows->back().constant());
    }
    return Attrs<Poly>{{{Poly(heads)}, {Poly(n.integer("interleaved", 0))}, {Poly(dim)}}, {}};
  }
  static OnnxExport write(std::string_view type, const Attrs<Poly>& at,
                          const std::vector<int>& operands) {
    OnnxExport r;
    r.type = type;
    for (int k : operands) r.inputs.push_back({k, nullptr});
    if (int64_t heads = fixed(at.ints[0][0]); heads != 0) r.attrs["num_heads"] = int_attr(heads);
    r.attrs["interleaved"] = int_attr(fixed(at.ints[1][0]));
    if (int64_t dim = fixed(at.ints[2][0]); dim != 0)
      r.attrs["rotary_embedding_dim"] = int_attr(dim);
    return r;
  }
};

}  // namespace regraft::ops
