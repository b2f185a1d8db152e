#include <algorithm>

#include "base/parallel.h"
#include "ir/ops/define.h"
#include "ir/ops/layers/dense.h"

namespace regraft::ops {

// out[b.., m, n] = sum over k of x[b.., m, k] * y[b.., k, n], batch axes broadcast
struct MatMul {
  static constexpr std::string_view name = "matmul";
  static constexpr std::string_view onnx[] = {"MatMul"};
  static constexpr Work work = Work::Product;
  static constexpr Fusion fusion = Fusion::Anchor;
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
    using I = typename A::Index;
    const auto &x = in[0], &y = in[1];
    auto row = operand_position(x, i), column = operand_position(y, i);
    return alg.sum(x.dim(x.rank() - 1), [&](const I& k) {
      row[x.rank() - 1] = k;
      column[y.rank() - 2] = k;
      return alg.read(x, row) * alg.read(y, column);
    });
  }
  /// The batch axes broadcast, the two matrix axes as in i.
  template <class T, class I>
  static Indices<I> operand_position(const T& t, std::span<const I> i) {
    Indices<I> j;
    size_t skip = i.size() - static_cast<size_t>(t.rank());
    for (int d = 0; d < t.rank(); ++d)
      j.push_back(d < t.rank() - 2 && is_one(t.dim(d)) ? I(0) : i[static_cast<size_t>(d) + skip]);
    return j;
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>&, std::span<const int64_t> shape,
                    std::span<double> out) {
    const auto &x = in[0], &y = in[1];
    int64_t rows = shape[shape.size() - 2], columns = shape[shape.size() - 1],
            inner = x.dim(x.rank() - 1);
    constexpr int64_t kRows = 64;  // a block of work
    int64_t blocks = (rows + kRows - 1) / kRows,
            batches = rows * columns == 0 ? 0 : static_cast<int64_t>(out.size()) / (rows * columns);
    auto offset = [&](const NumTensor<double>& t,
                      int64_t batch) {  // of the matrix that `batch` reads
      int64_t at_element = 0;
      for (int d = static_cast<int>(shape.size()) - 3, k = t.rank() - 3; d >= 0; --d, --k) {
        int64_t i = batch % shape[static_cast<size_t>(d)];
        batch /= shape[static_cast<size_t>(d)];
        if (k >= 0 && t.dim(k) != 1) at_element += i * t.strides[static_cast<size_t>(k)];
      }
      return at_element;
    };
    parallel_for(static_cast<size_t>(batches * blocks), default_threads(), [&](size_t task) {
      int64_t batch = static_cast<int64_t>(task) / blocks,
              first = static_cast<int64_t>(task) % blocks * kRows;
      multiply(x.data + offset(x, batch) + first * inner, inner, y.data + offset(y, batch), columns,
               out.data() + (batch * rows + first) * columns, columns,
               std::min(kRows, rows - first), inner, columns);
    });
  }
  // onnxruntime leaves what a sum over nothing gives as it finds it in memory.
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    const Shape &x = *in[0].shape, &y = *in[1].shape;
    if (x.back().is_zero()) return error("MatMul over nothing has no definite result");
    auto is_zero = [](const Poly& d) { return d.is_zero(); };
    if (x.size() < y.size() && std::any_of(y.begin(), y.end() - 2, is_zero))
      return error("MatMul does not repeat its first operand for no matrices");
    return export_by_name(define<MatMul>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}, {3, 4}}, {}}, {{{2, 2, 3}, {3, 2}}, {}}, {{{2, 1, 2, 3}, {3, 3, 2}}, {}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(matmul, MatMul)
