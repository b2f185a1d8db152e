// Products of matrices by cuBLASLt. It is column-major: a row-major y = a * b is y' = b' * a'
// there, where x' is x read by columns.
#include "cost/runtime/cuda/launch.h"

namespace regraft::cost::cuda {
namespace {

constexpr int kMostAlgorithms = 8;

struct ProductDescription {
  Product work;
  Handle<cublasLtMatmulDesc_t> product;
  Handle<cublasLtMatrixLayout_t> first, second, result;  ///< b, a and y of the work
  std::shared_ptr<void> bias;  ///< stands for the real one while algorithms are looked for
};

Result<cudaDataType> blas_type(DType t) {
  switch (t) {
    case DType::F32:
      return CUDA_R_32F;
    case DType::F64:
      return CUDA_R_64F;
    case DType::F16:
      return CUDA_R_16F;
    case DType::BF16:
      return CUDA_R_16BF;
    default:
      return error("cuda: cuBLASLt is not used for elements of type " + to_string(t));
  }
}

/// A matrix of rows * columns by columns, `leading` elements from column to column.
Result<Handle<cublasLtMatrixLayout_t>> layout(const Product& p, int64_t rows, int64_t columns,
                                              int64_t leading, int64_t stride) {
  ASSIGN_OR_RETURN(cudaDataType type, blas_type(p.type));
  cublasLtMatrixLayout_t raw = nullptr;
  CUDA_CALL(cublasLtMatrixLayoutCreate, &raw, type, static_cast<uint64_t>(rows),
            static_cast<uint64_t>(columns), leading);
  auto d = own(raw, [](auto x) { api().cublasLtMatrixLayoutDestroy(x); });
  auto batch = static_cast<int32_t>(p.batch);
  CUDA_CALL(cublasLtMatrixLayoutSetAttribute, raw, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
            sizeof batch);
  CUDA_CALL(cublasLtMatrixLayoutSetAttribute, raw, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
            &stride, sizeof stride);
  return d;
}

cublasLtEpilogue_t epilogue(const Product& p) {
  if (p.bias) return p.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return p.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

Result<Handle<cublasLtMatmulDesc_t>> operation(const Product& p, bool tf32) {
  bool wide = p.type == DType::F64;
  cublasComputeType_t compute = wide                           ? CUBLAS_COMPUTE_64F
                                : tf32 && p.type == DType::F32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                               : CUBLAS_COMPUTE_32F;
  cublasLtMatmulDesc_t raw = nullptr;
  CUDA_CALL(cublasLtMatmulDescCreate, &raw, compute, wide ? CUDA_R_64F : CUDA_R_32F);
  auto d = own(raw, [](auto x) { api().cublasLtMatmulDescDestroy(x); });
  cublasOperation_t first = p.transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                    second = p.transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  CUDA_CALL(cublasLtMatmulDescSetAttribute, raw, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
  CUDA_CALL(cublasLtMatmulDescSetAttribute, raw, CUBLASLT_MATMUL_DESC_TRANSB, &second,
            sizeof second);
  cublasLtEpilogue_t after = epilogue(p);
  CUDA_CALL(cublasLtMatmulDescSetAttribute, raw, CUBLASLT_MATMUL_DESC_EPILOGUE, &after,
            sizeof after);
  return d;
}

Status set_bias(const ProductDescription& d, void* bias) {
  CUDA_CALL(cublasLtMatmulDescSetAttribute, d.product.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER,
            &bias, sizeof bias);
  return {};
}

Result<std::shared_ptr<const ProductDescription>> describe(const Product& p, bool tf32) {
  auto d = std::make_shared<ProductDescription>();
  d->work = p;
  ASSIGN_OR_RETURN(d->product, operation(p, tf32));
  auto [rows, columns, inner] = std::tuple(p.rows, p.columns, p.inner);
  ASSIGN_OR_RETURN(d->first, p.transposed_b ? layout(p, inner, columns, inner, p.stride_b)
                                            : layout(p, columns, inner, columns, p.stride_b));
  ASSIGN_OR_RETURN(d->second, p.transposed_a ? layout(p, rows, inner, rows, p.stride_a)
                                             : layout(p, inner, rows, inner, p.stride_a));
  ASSIGN_OR_RETURN(d->result, layout(p, columns, rows, columns, rows * columns));
  if (p.bias) {
    ASSIGN_OR_RETURN(d->bias, allocate(static_cast<size_t>(columns) * size_of(p.type)));
    RETURN_IF_ERROR(set_bias(*d, d->bias.get()));
  }
  return std::shared_ptr<const ProductDescription>(d);
}

Status run(const Session& session, const ProductDescription& d,
           const cublasLtMatmulAlgo_t& algorithm, size_t bytes, std::span<void* const> operands,
           void* workspace) {
  const Product& p = d.work;
  void *a = operands[0], *b = operands[1], *y = operands.back();
  if (p.bias) RETURN_IF_ERROR(set_bias(d, operands[2]));
  void* added = p.added ? operands[p.bias ? 3 : 2] : y;  // not read when its factor is 0
  Scale alpha(p.type, p.alpha), beta(p.type, p.added ? 1 : 0);
  CUDA_CALL(cublasLtMatmul, session.blas.get(), d.product.get(), alpha.get(), b, d.first.get(), a,
            d.second.get(), beta.get(), added, d.result.get(), y, d.result.get(), &algorithm,
            workspace, bytes, session.stream.get());
  return {};
}

/// What the library would try, most promising first; empty when it has nothing.
Result<std::vector<cublasLtMatmulHeuristicResult_t>> algorithms(const Session& session,
                                                                const ProductDescription& d) {
  cublasLtMatmulPreference_t raw = nullptr;
  CUDA_CALL(cublasLtMatmulPreferenceCreate, &raw);
  auto preference = own(raw, [](auto x) { api().cublasLtMatmulPreferenceDestroy(x); });
  uint64_t bytes = kMaxWorkspace;
  CUDA_CALL(cublasLtMatmulPreferenceSetAttribute, raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
            &bytes, sizeof bytes);
  std::vector<cublasLtMatmulHeuristicResult_t> found(kMostAlgorithms);
  int count = 0;
  auto r = api().cublasLtMatmulAlgoGetHeuristic(session.blas.get(), d.product.get(), d.first.get(),
                                                d.second.get(), d.result.get(), d.result.get(), raw,
                                                kMostAlgorithms, found.data(), &count);
  if (r == CUBLAS_STATUS_NOT_SUPPORTED) count = 0;
  if (r != CUBLAS_STATUS_NOT_SUPPORTED)
    RETURN_IF_ERROR(checked("cublasLtMatmulAlgoGetHeuristic", r));
  found.resize(static_cast<size_t>(count));
  std::erase_if(found, [](const auto& f) { return f.state != CUBLAS_STATUS_SUCCESS; });
  return found;
}

}  // namespace

Result<std::vector<Launch>> prepare_product(Session& session, const Product& p) {
  ASSIGN_OR_RETURN(auto d, describe(p, session.tf32));
  ASSIGN_OR_RETURN(auto found, algorithms(session, *d));
  std::vector<Launch> launches;
  for (size_t k = 0; k < found.size(); ++k)
    launches.push_back({"product of cuBLASLt, choice " + std::to_string(k), found[k].workspaceSize,
                        [&session, d, algorithm = found[k].algo, bytes = found[k].workspaceSize](
                            std::span<void* const> operands, void* workspace) {
                          return run(session, *d, algorithm, bytes, operands, workspace);
                        }});
  return launches;
}

}  // namespace regraft::cost::cuda
