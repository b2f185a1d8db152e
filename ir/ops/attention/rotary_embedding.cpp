#include "ir/ops/define.h"

namespace regraft::ops {

// Turns pairs (u, v) of each head by an angle: (u, v) becomes (c * u - s * v, s * u + c * v), with
// c = cos[b, place, j] and s = sin[b, place, j] for pair j. Pair j of the first `dim` elements (0:
// of all) is (j, j + dim / 2), and (2 j, 2 j + 1) with interleaved = 1; the others stay.
// Operands: x, [batch, head, place, size] or [batch, place, heads * size], cos, sin.
struct RotaryEmbedding {
  static constexpr std::string_view name = "rotary-embedding";
  static constexpr std::string_view onnx[] = {"RotaryEmbedding"};
  static constexpr int arity = 3;
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
  OP_SHAPES {
    using I = typename A::Index;
    const auto& x = in[0];
    const I &heads = at.ints[0][0], &dim = at.ints[2][0];
    bool fits = x.size() == 4 ? fixed(heads) == 0 : x.size() == 3 && fixed(heads) > 0;
    if (!fits || in[1].size() != 3 || in[2].size() != 3)
      return error("rotary-embedding: ranks of the operands, or number of heads, do not fit");
    I size = head_size(alg, x.back(), at, static_cast<int>(x.size()));
    if (x.size() == 3) alg.require(x[2] == heads * size);
    I turned = fixed(dim) == 0 ? size : dim, pairs = alg.floordiv(turned, I(2));
    alg.require(turned <= size);
    alg.require(turned == pairs + pairs);
    for (size_t k : {1, 2}) {
      alg.require(in[k][0] == x[0]);
      alg.require(in[k][1] == x[x.size() - 2]);
      alg.require(in[k][2] == pairs);
    }
    return Shapes<A>{x};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto& x = in[0];
    int last = x.rank() - 1;
    const I& dim = at.ints[2][0];
    I size = head_size(alg, x.dim(last), at, x.rank()), e = i[i.size() - 1];
    if (x.rank() == 3) e = e - alg.floordiv(e, size) * size;
    auto near = [&](const I& distance) {  // of the same head
      return alg.read(x, with(i, last, i[i.size() - 1] + distance));
    };
    auto angle = [&](size_t k, const I& j) {
      return alg.read(in[k], std::array<I, 3>{i[0], i[i.size() - 2], j});
    };
    auto turn = [&](const I& j, const I& distance, auto is_first) {
      return alg.select(
          is_first,
          [&] { return minus(alg, angle(1, j) * near(I(0)), angle(2, j) * near(distance)); },
          [&] {
            I k = fixed(at.ints[1][0]) != 0 ? j : j - distance;
            return angle(2, k) * near(I(0) - distance) + angle(1, k) * near(I(0));
          });
    };
    auto turned = [&] {
      if (fixed(at.ints[1][0]) != 0) {
        I j = alg.floordiv(e, I(2));
        return turn(j, I(1), e == j + j);
      }
      I half = alg.floordiv(fixed(dim) == 0 ? size : dim, I(2));
      return turn(e, half, e < half);
    };
    if (fixed(dim) == 0) return turned();
    return alg.select(e < dim, turned, [&] { return alg.read(x, i); });
  }
  // Without positions: then the tables are those of each place.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    if (!rank || n.inputs.size() < 3 || (n.inputs.size() > 3 && n.inputs[3].present))
      return std::nullopt;
    int64_t heads = *rank == 3 ? n.integer("num_heads", 0) : 0;
    return OnnxImport{{{{Poly(heads)},
                        {Poly(n.integer("interleaved", 0))},
                        {Poly(n.integer("rotary_embedding_dim", 0))}},
                       {}},
                      {0, 1, 2}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in, int) {
    if (has_zero(*in[0].shape)) return error("RotaryEmbedding of nothing does not run");
    OnnxExport r;
    r.type = "RotaryEmbedding";
    r.inputs = operand_inputs(3);
    if (int64_t heads = fixed(at.ints[0][0]); heads != 0) r.attrs["num_heads"] = int_attr(heads);
    r.attrs["interleaved"] = int_attr(fixed(at.ints[1][0]));
    if (int64_t dim = fixed(at.ints[2][0]); dim != 0)
      r.attrs["rotary_embedding_dim"] = int_attr(dim);
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 3, 4}, {1, 3, 2}, {1, 3, 2}}, {{{0}, {0}, {0}}, {}}},
            {{{2, 2, 2, 4}, {2, 2, 2}, {2, 2, 2}}, {{{0}, {1}, {0}}, {}}},
            {{{1, 2, 12}, {1, 2, 2}, {1, 2, 2}}, {{{2}, {0}, {4}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(rotary_embedding, RotaryEmbedding)
