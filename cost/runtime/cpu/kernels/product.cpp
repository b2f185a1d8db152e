#include <algorithm>

#include "cost/runtime/cpu/kernels/contraction.h"

namespace regraft::cost::cpu {

namespace {

using dnnl::algorithm;

class Product final : public Contraction {
 public:
  using Contraction::Contraction;
  Status run() {
    prepare();
    return lower(candidates());
  }

 private:
  void prepare() {
    bool gemm = !at_.reals.empty();  // and not matmul, which has no attributes
    int64_t width = shape_.back();
    std::optional<std::vector<double>> bias;
    describe(gemm);
    bool turned = gemm && at_.ints[1][0] != 0;
    if (gemm && node_->inputs.size() > 2) prepare_addend(bias);
    auto alpha = gemm ? static_cast<float>(at_.reals[0].value) : 1.0F;
    output_scale_ = to_.constant(w_) ? 1 : alpha;
    if (output_scale_ != 1 && (bias || !unit_.shift.empty())) {  // the scale would scale the bias
      if (bias && unit_.shift.empty()) unit_.shift.assign(bias->size(), 0);
      if (bias)
        for (size_t k = 0; k < bias->size(); ++k) unit_.shift[k] += (*bias)[k];
      bias.reset();
      shift_after();
      unit_.shift.clear();
      unit_.scale.clear();
    }
    fold(turned ? to_.dims(w_)[1] : 1, width, std::move(bias));
    if (weights_ && alpha != 1) {
      std::vector<float> scaled = *weights_;
      for (float& v : scaled) v *= alpha;
      weights_ = std::make_shared<const std::vector<float>>(std::move(scaled));
    }
  }

  /// beta * C, as bias or as what the product is added onto.
  void prepare_addend(std::optional<std::vector<double>>& bias) {
    double beta = at_.reals[1].value;
    Value c = node_->inputs[2];
    bias = channel_vector(to_.graph, c, shape_, 1);
    if (bias) {
      for (double& v : *bias) v *= beta;
      return;
    }
    PostOp p;
    p.kind = PostOp::Kind::Sum;
    p.alpha = static_cast<float>(beta);
    p.other = c;
    posts_.push_back(p);
    shift_after();
    unit_.shift.clear();
    unit_.scale.clear();
  }

  /// Two matrices where the right one is shared by all batches, else batches of them.
  void describe(bool gemm) {
    Dims x = to_.dims(x_), w = to_.dims(w_);
    size_t m = x.size() - 2, n = w.size() - 2;
    if (gemm) {
      auto matrix = [](const Dims& d, bool turned) {
        return turned ? Desc({d[1], d[0]}, kFloat, Dims{1, d[1]}) : plain_desc(d);
      };
      source_ = matrix(x, at_.ints[0][0] != 0);
      weights_lie_ = matrix(w, at_.ints[1][0] != 0);
      target_ = plain_desc(shape_);
    } else if (product(std::span(w).first(n)) == 1) {
      int64_t rows = product(x) / x.back();
      source_ = plain_desc({rows, x.back()});
      weights_lie_ = plain_desc({w[n], w[n + 1]});
      target_ = plain_desc({rows, w[n + 1]});
    } else {
      x.insert(x.begin(), shape_.size() - x.size(), 1);
      w.insert(w.begin(), shape_.size() - w.size(), 1);
      m = shape_.size() - 2;
      Dims y = shape_;
      if (std::equal(x.begin(), x.begin() + static_cast<int64_t>(m), w.begin())) {
        int64_t batches = product(std::span(x).first(m));
        for (Dims* d : {&x, &w, &y}) *d = {batches, (*d)[m], (*d)[m + 1]};
      }
      source_ = plain_desc(x);
      weights_lie_ = plain_desc(w);
      target_ = plain_desc(y);
    }
    bias_dims_.assign(target_.dims().size(), 1);
    bias_dims_.back() = shape_.back();
    channel_dims_ = bias_dims_;
  }

  std::vector<Candidate> candidates() {
    std::vector<Candidate> all;
    Desc any(weights_lie_.dims(), kFloat, dnnl::memory::format_tag::any);
    for (bool apart : {false, true}) {
      if (apart && !has_functions()) break;
      add_form(all, weights_lie_, apart);
      if (weights_) add_form(all, any, apart);
    }
    return all;
  }
  void add_form(std::vector<Candidate>& all, const Desc& weights, bool apart) {
    using Mm = dnnl::matmul;
    try {
      auto desc = bias_ ? Mm::desc(source_, weights, plain_desc(bias_dims_), target_)
                        : Mm::desc(source_, weights, target_);
      add_candidates(all, Mm::primitive_desc(desc, attribute(apart), engine(), true), Layout::Plain,
                     Layout::Plain, apart, [](const Mm::primitive_desc& pd) { return Mm(pd); });
    } catch (const dnnl::error&) {  // the library does not have this combination
    }
  }

  Desc source_, target_;
};

}  // namespace

Status lower_product(Lowering& to, const Unit& unit) { return Product(to, unit).run(); }

}  // namespace regraft::cost::cpu
