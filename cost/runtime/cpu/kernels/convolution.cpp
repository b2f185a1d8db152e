#include <algorithm>

#include "cost/runtime/cpu/kernels/contraction.h"

namespace regraft::cost::cpu {

namespace {

using dnnl::algorithm;

class Convolution final : public Contraction {
 public:
  using Contraction::Contraction;
  Status run() {
    prepare();
    return lower(candidates());
  }

 private:
  void prepare() {
    Dims w = to_.dims(w_);
    group_ = at_.ints[3][0];
    weight_dims_ = w;
    if (group_ > 1) {
      weight_dims_[0] /= group_;
      weight_dims_.insert(weight_dims_.begin(), group_);
    }
    weights_lie_ = plain_desc(weight_dims_);
    bias_dims_ = {w[0]};
    channel_dims_.assign(shape_.size(), 1);
    channel_dims_[1] = w[0];
    std::optional<std::vector<double>> bias;
    if (node_->inputs.size() > 2) {
      if (auto data = to_.constant(node_->inputs[2]))
        bias.emplace(data->begin(), data->end());
      else
        run_bias_ = node_->inputs[2];
    }
    if (run_bias_) {
      shift_after();
      unit_.shift.clear();
      unit_.scale.clear();
    }
    fold(product(w) / w[0], w[0], std::move(bias));
  }

  std::vector<Candidate> candidates() {
    std::vector<Candidate> all;
    if (shape_.size() > 5) return all;
    Layout in = to_.layout_of(x_), out = to_.layout_of(y_);
    using Pair = std::pair<Layout, Layout>;
    std::vector<Pair> pairs = {{in, out}};
    for (Pair p : {Pair{Layout::Blocked, Layout::Blocked}, Pair{Layout::Plain, Layout::Plain},
                   Pair{Layout::Plain, Layout::Blocked}})
      if (std::find(pairs.begin(), pairs.end(), p) == pairs.end()) pairs.push_back(p);
    for (algorithm a : {algorithm::convolution_direct, algorithm::convolution_winograd})
      for (auto [from, into] : pairs)
        if (a == algorithm::convolution_direct || to_.options.winograd)
          add_algorithm(all, a, from, into, false);
    if (has_functions())
      add_algorithm(all, algorithm::convolution_direct, Layout::Plain, Layout::Plain, true);
    return all;
  }

  void add_algorithm(std::vector<Candidate>& all, algorithm a, Layout in, Layout out, bool apart) {
    size_t axes = shape_.size() - 2;
    Dims dilations, begins(at_.ints[1].begin(), at_.ints[1].begin() + static_cast<int64_t>(axes)),
        ends(at_.ints[1].begin() + static_cast<int64_t>(axes), at_.ints[1].end());
    for (int64_t d : at_.ints[2]) dilations.push_back(d - 1);
    Desc x = desc_of(to_.dims(x_), in), y = desc_of(shape_, out),
         w(weight_dims_, kFloat, dnnl::memory::format_tag::any), b = plain_desc(bias_dims_);
    using Conv = dnnl::convolution_forward;
    constexpr auto kind = dnnl::prop_kind::forward_inference;
    bool has_bias = bias_ || run_bias_;
    try {
      auto desc = has_bias ? Conv::desc(kind, a, x, w, b, y, at_.ints[0], dilations, begins, ends)
                           : Conv::desc(kind, a, x, w, y, at_.ints[0], dilations, begins, ends);
      add_candidates(all, Conv::primitive_desc(desc, attribute(apart), engine(), true), in, out,
                     apart, [](const Conv::primitive_desc& pd) { return Conv(pd); });
    } catch (const dnnl::error&) {  // the library does not have this combination
    }
  }

  int64_t group_ = 1;
  Dims weight_dims_;
};

}  // namespace

Status lower_convolution(Lowering& to, const Unit& unit) { return Convolution(to, unit).run(); }

}  // namespace regraft::cost::cpu
