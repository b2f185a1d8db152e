#pragma once
// What convolutions and products of matrices share. Internal to cost/cpu.
#include <algorithm>

#include "cost/runtime/cpu/lower.h"

namespace regraft::cost::cpu {

/// An implementation of the library with layouts around it.
struct Candidate {
  std::function<dnnl::primitive()> make;
  Desc source, weights, target, scratch;  ///< as it wants them
  Layout in, out;
  bool apart;        ///< functions of one element run after it
  std::string name;  ///< the implementation and the layouts
};

/// What convolutions and products share: constants folded, operations after, and the emission.
class Contraction {
 public:
  Contraction(Lowering& to, Unit unit) : to_(to), unit_(std::move(unit)) {
    node_ = &to_.graph.node(unit_.nodes[0]);
    at_ = *numeric(node_->attrs);
    x_ = node_->inputs[0];
    w_ = node_->inputs[1];
    y_ = unit_.last();
    shape_ = to_.dims(y_);
  }

 protected:
  /// Emits the fastest. Weights, bias and what follows must be prepared.
  Status lower(std::vector<Candidate> all);

  /// At most this many implementations of each kind are worth a trial.
  static constexpr int kImplementations = 4;
  template <class Pd, class Make>
  void add_candidates(std::vector<Candidate>& all, Pd pd, Layout in, Layout out, bool apart,
                      Make make) const {
    if (!pd) return;
    for (int k = 0; k < kImplementations; ++k) {
      add_candidate(all, {[pd, make] { return make(pd); }, pd.src_desc(), pd.weights_desc(),
                          pd.dst_desc(), pd.scratchpad_desc(), in, out, apart, pd.impl_info_str()});
      if (!pd.next_impl()) return;
    }
  }
  /// Unless it is slow, or there already.
  static void add_candidate(std::vector<Candidate>& all, Candidate c);
  /// Functions of one element end what follows the product.
  bool has_functions() const;

  /// Everything after the product, as the library's attribute.
  /// Without the functions at the end if `apart`.
  dnnl::primitive_attr attribute(bool apart) const;
  /// The channel's scale and shift into constant weights and bias. `inner` elements share a channel
  /// of the weights, `period` channels follow each other.
  void fold(int64_t inner, int64_t period, std::optional<std::vector<double>> bias);
  /// The chain's shift where no constant bias can take it.
  void shift_after();

  Lowering& to_;
  Unit unit_;
  const Node* node_;
  Attrs<int64_t> at_;
  Value x_, w_, y_;
  Dims shape_;
  std::shared_ptr<const std::vector<float>> weights_, bias_;  ///< null: not constant; none
  std::optional<Value> run_bias_;
  Desc weights_lie_;
  Dims bias_dims_, channel_dims_;
  std::vector<PostOp> posts_;
  float output_scale_ = 1;

 private:
  Status lower_apart();
  std::string key() const;
  int weights_slot(const Candidate& c);
  size_t fused_posts(bool apart) const;
  void emit(const Candidate& c);
  void run_functions(int slot);
  int target(Layout layout);
  void start_from(Value other, Layout layout);
  void spread(Value other);
  int uses(Value v) const;
};

Status lower_convolution(Lowering& to, const Unit& unit);
Status lower_product(Lowering& to, const Unit& unit);

}  // namespace regraft::cost::cpu
