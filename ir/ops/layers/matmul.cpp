#include <algorithm>

#include "base/parallel.h"
#include "ir/ops/define.h"
#include "ir/ops/layers/dense.h"
#include "ir/ops/layers/product.h"

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
    return Shapes<A>{product_shape(alg, x, y)};
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
  static void dense(Tensors<Reals> in, const Attrs<int64_t>&, std::span<const int64_t> shape,
                    std::span<double> out) {
    const auto &x = in[0], &y = in[1];
    int64_t rows = shape[shape.size() - 2], columns = shape[shape.size() - 1],
            inner = x.dim(x.rank() - 1);
    constexpr int64_t kRows = 64;  // a block of work
    int64_t blocks = (rows + kRows - 1) / kRows,
            batches = rows * columns == 0 ? 0 : static_cast<int64_t>(out.size()) / (rows * columns);
    parallel_for(static_cast<size_t>(batches * blocks), default_threads(), [&](size_t task) {
      int64_t batch = static_cast<int64_t>(task) / blocks,
              first = static_cast<int64_t>(task) % blocks * kRows;
      multiply(x.data + matrix_offset(x, shape, batch) + first * inner, inner,
               y.data + matrix_offset(y, shape, batch), columns,
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
