#include "ir/ops/attention/attention.h"

namespace regraft::ops {

// attention of q + bias[.. E], k + bias[E .. E + F] and v + bias[E + F ..], whose last axes are of
// E, F and G elements. Operands: q, k, v, bias, maybe mask.
// Source: com.microsoft.MultiHeadAttention with a bias.
struct BiasedAttention : AttentionForm<true> {
  static constexpr std::string_view name = "biased-attention";
  static constexpr std::string_view onnx[] = {"com.microsoft:MultiHeadAttention"};
  static constexpr std::span<const TypeSupport> types = {};
  static constexpr DType microsoft[] = {DType::F32};
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    std::vector<std::vector<double>> sums(3);
    std::vector<NumTensor<double>> plain(in.begin(), in.end());
    const double* bias = in[3].data;
    for (size_t k = 0; k < 3; ++k) {
      int64_t width = in[k].dim(2), size = in[k].dim(0) * in[k].strides[0];
      for (int64_t j = 0; j < size; ++j) sums[k].push_back(in[k].data[j] + bias[j % width]);
      bias += width;
      plain[k].data = sums[k].data();
    }
    plain.erase(plain.begin() + 3);
    AttentionForm<false>::dense(plain, at, shape, out);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return multi_head(n); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    Opset) {
    if (std::any_of(in.begin(), in.end(), [](const auto& t) { return has_zero(*t.shape); }))
      return error("MultiHeadAttention of nothing does not run");
    if (is_multi_head(at, in)) return write_multi_head(at, in);
    return error("MultiHeadAttention does not take these operands");
  }
  static std::vector<Sample> samples() {
    auto with = [](double scale) { return std::vector<Real>{{scale, nullptr}, {0, nullptr}}; };
    return {{{{1, 2, 4}, {1, 3, 4}, {1, 3, 2}, {10}}, {{{2}, {2}, {0}}, with(0)}},
            {{{2, 2, 4}, {2, 2, 4}, {2, 2, 4}, {12}, {1, 2, 2, 2}}, {{{2}, {2}, {1}}, with(0.5)}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(biased_attention, BiasedAttention)
