#include "ir/ops/attention/rotary_embedding.h"
#include "ir/ops/indexing/at_run_time.h"

namespace regraft::ops {

// rotary-embedding with the rows of tables that positions say: cos[p, j] and sin[p, j] for pair j,
// where p is positions[b, place], or positions[0] + place. Operands: x, positions, cos, sin.
struct RotaryEmbeddingAt {
  static constexpr std::string_view name = "rotary-embedding-at";
  static constexpr std::string_view onnx[] = {"RotaryEmbedding", "com.microsoft:RotaryEmbedding"};
  static constexpr int arity = 4;
  static constexpr auto& ints = Rotation::ints;
  static constexpr auto& types = Rotation::types;
  static constexpr DType microsoft[] = {DType::F32, DType::F16};
  static Result<DType> typed_at(const OpDef& op, const Attrs<Poly>& at,
                                std::span<const DType> operands) {
    for (size_t k : {2, 3})
      if (operands[k] != operands[0])
        return error(std::string(op.name) + ": operand " + std::to_string(k) + " is of type " +
                     to_string(operands[k]));
    return indexed_type(op, at, operands);
  }
  static constexpr auto typed = &typed_at;
  OP_SHAPES {
    const auto &x = in[0], &p = in[1];
    auto pairs = Rotation::pairs(alg, x, at);
    if (!pairs || in[2].size() != 2 || in[3].size() != 2 || p.empty() || p.size() > 2)
      return error("rotary-embedding-at: ranks of the operands, or number of heads, do not fit");
    if (p.size() == 1) {
      alg.require(p[0] == typename A::Index(1));
    } else {
      alg.require(p[0] == x[0]);
      alg.require(p[1] == x[x.size() - 2]);
    }
    alg.require(in[2][1] == *pairs);
    for (size_t d : {0, 1}) alg.require(in[3][d] == in[2][d]);
    return Shapes<A>{x};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto& p = in[1];
    const I& place = i[i.size() - 2];
    auto position = p.rank() == 1 ? alg.read(p, std::array<I, 1>{I(0)}) + alg.to_scalar(place)
                                  : alg.read(p, std::array<I, 2>{i[0], place});
    return Rotation::element(alg, in[0], at, i, [&](size_t k, const I& j) {
      const auto& table = in[k + 1];
      return element_at(alg, position, table.dim(0), [&](const I& row) {
        return alg.read(table, std::array<I, 2>{row, j});
      });
    });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    bool own = n.type == onnx[1];
    std::vector<int> operands = own ? std::vector{0, 1, 2, 3} : std::vector{0, 3, 1, 2};
    if (n.inputs.size() < 4 || !n.inputs[3].present || n.real("scale", 1) != 1 ||
        n.integer("is_packed_batching", 0) != 0)
      return std::nullopt;
    auto attrs = Rotation::attrs(n, operands[2]);
    return attrs ? std::optional(OnnxImport{*attrs, operands}) : std::nullopt;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    Opset opset) {
    if (has_zero(*in[0].shape) || has_zero(*in[2].shape))
      return error("RotaryEmbedding of nothing does not run");
    if (in[1].dtype != DType::I64) return error("RotaryEmbedding wants positions of type int64");
    if (opset.version >= 23 && in[1].shape->size() == 2)
      return Rotation::write(onnx[0], at, {0, 2, 3, 1});
    if (!opset.microsoft) return error("RotaryEmbedding has no such positions");
    OnnxExport r = Rotation::write(onnx[1], at, {0, 1, 2, 3});
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 3, 4}, {1, 3}, {5, 2}, {5, 2}}, {{{0}, {0}, {0}}, {}}},
            {{{2, 2, 12}, {1}, {4, 2}, {4, 2}}, {{{2}, {1}, {4}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(rotary_embedding_at, RotaryEmbeddingAt)
