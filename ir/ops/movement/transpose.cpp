#include "ir/ops/define.h"

namespace regraft::ops {

// out[i] = x[j] where j[perm[d]] = i[d]
struct Transpose {
  static constexpr std::string_view name = "transpose";
  static constexpr std::string_view onnx[] = {"Transpose"};
  static constexpr Work work = Work::Movement;
  static constexpr std::span<const TypeSupport> types = kMovement;
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"perm", Length::Rank, std::nullopt, true}};
  OP_SHAPES {
    ShapeOf<typename A::Index> out;
    std::vector<char> seen(in[0].size(), 0);
    for (const auto& p : at.ints[0]) {
      if (fixed(p) < 0 || fixed(p) >= static_cast<int64_t>(seen.size()) ||
          seen[static_cast<size_t>(fixed(p))]++)
        return error("transpose: perm is not a permutation");
      out.push_back(in[0][static_cast<size_t>(fixed(p))]);
    }
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    Indices<typename A::Index> j(i);
    for (size_t d = 0; d < i.size(); ++d) j[static_cast<int>(fixed(at.ints[0][d]))] = i[d];
    return alg.read(in[0], j);
  }
  // Without perm the axes are reversed.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    if (!rank || n.inputs.size() != 1) return std::nullopt;
    std::vector<int64_t> perm;
    for (int d = *rank; d-- > 0;) perm.push_back(d);
    if (const auto* given = n.ints("perm")) perm = *given;
    return OnnxImport{{{polys(perm)}, {}}, {0}};
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{{1, 0}}, {}}}, {{{2, 3, 4}}, {{{2, 0, 1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(transpose, Transpose)
