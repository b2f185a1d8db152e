#include "base/parallel.h"
#include "ir/ops/layers/dense.h"
#include "ir/ops/layers/product.h"

namespace regraft::ops {

// out[b.., m, n] = alpha * sum over k of x'[b.., m, k] * y'[b.., k, n], batch axes broadcast, with
// x' = x, or the matrices of x transposed when transA is 1; y' likewise.
// Source: com.microsoft.FusedMatMul.
struct FusedMatMul {
  static constexpr std::string_view name = "fused-matmul";
  static constexpr std::string_view onnx[] = {"com.microsoft:FusedMatMul"};
  static constexpr Work work = Work::Product;
  static constexpr Fusion fusion = Fusion::Alone;
  static constexpr int arity = 2;
  static constexpr std::span<const TypeSupport> types = {};
  static constexpr DType microsoft[] = {DType::F32, DType::F64};
  static constexpr IntAttr ints[] = {{"transA", Length::One, 0, true},
                                     {"transB", Length::One, 0, true}};
  static constexpr RealAttr reals[] = {{"alpha", 1}};
  template <class I>
  static bool flag(const Attrs<I>& at, size_t k) {
    return fixed(at.ints[k][0]) != 0;
  }
  OP_SHAPES {
    auto x = in[0], y = in[1];
    if (x.size() < 2 || y.size() < 2) return error("fused-matmul: an operand is not a matrix");
    if (flag(at, 0)) std::swap(x[x.size() - 1], x[x.size() - 2]);
    if (flag(at, 1)) std::swap(y[y.size() - 1], y[y.size() - 2]);
    return Shapes<A>{product_shape(alg, x, y)};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto &x = in[0], &y = in[1];
    auto row = operand_position(x, i), column = operand_position(y, i);
    int m = x.rank() - (flag(at, 0) ? 1 : 2), n = y.rank() - (flag(at, 1) ? 2 : 1);
    int inner_x = 2 * x.rank() - 3 - m, inner_y = 2 * y.rank() - 3 - n;
    row[m] = i[i.size() - 2];
    column[n] = i[i.size() - 1];
    auto product = alg.sum(x.dim(inner_x), [&](const I& k) {
      row[inner_x] = k;
      column[inner_y] = k;
      return alg.read(x, row) * alg.read(y, column);
    });
    if (at.reals[0].value == 1 && !at.reals[0].symbol) return product;
    return alg.real(at.reals[0]) * product;
  }
  /// A matrix as it is multiplied: rows * columns numbers.
  static std::vector<double> matrix(const double* from, int64_t rows, int64_t columns, bool turned,
                                    double factor) {
    std::vector<double> m(static_cast<size_t>(rows * columns));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        m[static_cast<size_t>(r * columns + c)] =
            factor * from[turned ? c * rows + r : r * columns + c];
    return m;
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    const auto &x = in[0], &y = in[1];
    int64_t rows = shape[shape.size() - 2], columns = shape[shape.size() - 1],
            inner = x.dim(x.rank() - (flag(at, 0) ? 2 : 1));
    if (rows * columns == 0) return;
    size_t size = static_cast<size_t>(rows * columns);
    parallel_for(out.size() / size, default_threads(), [&](size_t batch) {
      auto b = static_cast<int64_t>(batch);
      auto left =
          matrix(x.data + matrix_offset(x, shape, b), rows, inner, flag(at, 0), at.reals[0].value);
      auto right = matrix(y.data + matrix_offset(y, shape, b), inner, columns, flag(at, 1), 1);
      multiply(left.data(), inner, right.data(), columns, out.data() + batch * size, columns, rows,
               inner, columns);
    });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.integer("transBatchA", 0) != 0 || n.integer("transBatchB", 0) != 0) return std::nullopt;
    return OnnxImport{{{{Poly(n.integer("transA", 0))}, {Poly(n.integer("transB", 0))}},
                       {{n.real("alpha", 1), nullptr}}},
                      {0, 1}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    Opset opset) {
    if (has_zero(*in[0].shape) || has_zero(*in[1].shape))
      return error("FusedMatMul of nothing has no definite result");
    return export_by_name(define<FusedMatMul>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{3, 2}, {3, 4}}, {{{1}, {0}}, {{0.5, nullptr}}}},
            {{{2, 2, 3}, {2, 3}}, {{{0}, {1}}, {{1, nullptr}}}},
            {{{2, 1, 3, 2}, {3, 4, 3}}, {{{1}, {1}}, {{-2, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(fused_matmul, FusedMatMul)
