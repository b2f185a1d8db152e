#include "ir/ops/attention/rotary_embedding.h"

namespace regraft::ops {

// The rotation with c = cos[b, place, j] and s = sin[b, place, j] for pair j. Operands: x, cos,
// sin.
struct RotaryEmbedding {
  static constexpr std::string_view name = "rotary-embedding";
  static constexpr std::string_view onnx[] = {"RotaryEmbedding"};
  static constexpr int arity = 3;
  static constexpr auto& ints = Rotation::ints;
  static constexpr auto& types = Rotation::types;
  OP_SHAPES {
    const auto& x = in[0];
    auto pairs = Rotation::pairs(alg, x, at);
    if (!pairs || in[1].size() != 3 || in[2].size() != 3)
      return error("rotary-embedding: ranks of the operands, or number of heads, do not fit");
    for (size_t k : {1, 2}) {
      alg.require(in[k][0] == x[0]);
      alg.require(in[k][1] == x[x.size() - 2]);
      alg.require(in[k][2] == *pairs);
    }
    return Shapes<A>{x};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    return Rotation::element(alg, in[0], at, i, [&](size_t k, const I& j) {
      return alg.read(in[k], std::array<I, 3>{i[0], i[i.size() - 2], j});
    });
  }
  // Without positions: then the tables are those of each place.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.inputs.size() < 3 || (n.inputs.size() > 3 && n.inputs[3].present)) return std::nullopt;
    auto attrs = Rotation::attrs(n, 1);
    return attrs ? std::optional(OnnxImport{*attrs, {0, 1, 2}}) : std::nullopt;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in, int) {
    if (has_zero(*in[0].shape)) return error("RotaryEmbedding of nothing does not run");
    return Rotation::write(onnx[0], at, {0, 1, 2});
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 3, 4}, {1, 3, 2}, {1, 3, 2}}, {{{0}, {0}, {0}}, {}}},
            {{{2, 2, 2, 4}, {2, 2, 2}, {2, 2, 2}}, {{{0}, {1}, {0}}, {}}},
            {{{1, 2, 12}, {1, 2, 2}, {1, 2, 2}}, {{{2}, {0}, {4}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(rotary_embedding, RotaryEmbedding)
