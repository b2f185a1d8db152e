#include "ir/ops/define.h"

namespace regraft::ops {

// out[b.., m, n] = sum over k of x[b.., m, k] * y[b.., k, n], batch axes broadcast
struct MatMul {
  static constexpr std::string_view name = "matmul";
  static constexpr std::string_view onnx[] = {"MatMul"};
  static constexpr int arity = 2;
  OP_SHAPES {
    const auto &x = in[0], &y = in[1];
    if (x.size() < 2 || y.size() < 2) return error("matmul: an operand is not a matrix");
    alg.require(x[x.size() - 1] == y[y.size() - 2]);
    using S = ShapeOf<typename A::Index>;
    S batch = broadcast(alg, S(x.begin(), x.end() - 2), S(y.begin(), y.end() - 2));
    batch.push_back(x[x.size() - 2]);
    batch.push_back(y[y.size() - 1]);
    return Shapes<A>{batch};
  }
  OP_ELEMENT {
    const auto &x = in[0], &y = in[1];
    int r = static_cast<int>(i.size());
    return alg.sum(x.dim(x.rank() - 1), [&](const auto& k) {
      auto left = with(i, r - 1, k), right = with(i, r - 2, k);
      return read_broadcast_inner(alg, x, left) * read_broadcast_inner(alg, y, right);
    });
  }
  /// Like read_broadcast, but the two matrix axes are never broadcast.
  template <Algebra A>
  static typename A::Scalar read_broadcast_inner(A& alg, const typename A::Tensor& t,
                                                 const Indices<typename A::Index>& i) {
    Indices<typename A::Index> j;
    int skip = i.size() - t.rank();
    for (int d = 0; d < t.rank(); ++d)
      j.push_back(d < t.rank() - 2 && is_one(t.dim(d)) ? typename A::Index(0) : i[d + skip]);
    return alg.read(t, j);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}, {3, 4}}, {}}, {{{2, 2, 3}, {3, 2}}, {}}, {{{2, 1, 2, 3}, {3, 3, 2}}, {}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(matmul, MatMul)
