#include "cost/runtime/cpu/kernels/contraction.h"

#include <algorithm>

#include "cost/runtime/cpu/kernels/loops.h"
#include "cost/runtime/cpu/kernels/strided.h"
#include "cost/runtime/cpu/kernels/tune.h"

namespace regraft::cost::cpu {

using dnnl::algorithm;

namespace {

struct FunctionLoop {
  UnaryLoop loop;
  float a, b;
};

FunctionLoop function_loop(const PostOp& post) {
  switch (post.algorithm) {
    case algorithm::eltwise_relu:
      return {relu_loop, 0, 0};
    case algorithm::eltwise_clip:
      return {clip_loop, post.alpha, post.beta};
    case algorithm::eltwise_logistic:
      return {sigmoid_loop, 0, 0};
    case algorithm::eltwise_tanh:
      return {tanh_loop, 0, 0};
    case algorithm::eltwise_exp:
      return {exp_loop, 0, 0};
    case algorithm::eltwise_sqrt:
      return {sqrt_loop, 0, 0};
    case algorithm::eltwise_pow:  // only ever to the power of -1
      return {quotient_loop, post.alpha, 0};
    default:
      CHECK(post.algorithm == algorithm::eltwise_linear);
      return {linear_loop, post.alpha, post.beta};
  }
}

}  // namespace

Status Contraction::lower(std::vector<Candidate> all) {
  if (all.empty()) return error("oneDNN has no implementation for it");
  bool slow =
      std::all_of(all.begin(), all.end(), [](const Candidate& c) { return is_reference(c.name); });
  if (slow && !unit_.post.empty() && unit_.nodes.size() > unit_.folded) return lower_apart();
  if (!slow) std::erase_if(all, [](const Candidate& c) { return is_reference(c.name); });
  size_t best = 0;
  if (to_.options.tune && all.size() > 1) {
    std::vector<std::string> names;
    for (const Candidate& c : all) names.push_back(c.name);
    best = fastest(to_, key(), names, [&](size_t k) { emit(all[k]); });
  }
  emit(all[best]);
  return {};
}

void Contraction::add_candidate(std::vector<Candidate>& all, Candidate c) {
  // Those that come as loops around a product of matrices apply functions slowly; others do not
  // need them apart.
  if (c.apart && c.name.find("gemm") == std::string::npos) return;
  if (is_reference(c.name) && !all.empty()) return;
  c.name += c.in == Layout::Plain ? " p" : " b";
  c.name += c.out == Layout::Plain ? "p" : "b";
  if (c.apart) c.name += " apart";
  for (const Candidate& other : all) {
    if (other.name != c.name) continue;
    if (other.weights == c.weights) return;
    c.name += " packed";
  }
  all.push_back(std::move(c));
}

bool Contraction::has_functions() const {
  return !posts_.empty() && posts_.back().kind == PostOp::Kind::Function;
}

size_t Contraction::fused_posts(bool apart) const {
  size_t n = posts_.size();
  while (apart && n > 0 && posts_[n - 1].kind == PostOp::Kind::Function) --n;
  return n;
}

dnnl::primitive_attr Contraction::attribute(bool apart) const {
  dnnl::post_ops ops;
  dnnl::primitive_attr attr;
  for (const PostOp& p : std::span(posts_).first(fused_posts(apart))) {
    if (p.kind == PostOp::Kind::Sum)
      ops.append_sum(p.alpha);
    else if (p.kind == PostOp::Kind::Function)
      ops.append_eltwise(1, p.algorithm, p.alpha, p.beta);
    else
      ops.append_binary(p.algorithm, plain_desc(channel_dims_));
  }
  attr.set_post_ops(ops);
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // or it is allocated for each run
  if (output_scale_ != 1) attr.set_output_scales(0, {output_scale_});
  return attr;
}

void Contraction::fold(int64_t inner, int64_t period, std::optional<std::vector<double>> bias) {
  posts_.insert(posts_.end(), unit_.post.begin(), unit_.post.end());
  auto width = static_cast<size_t>(period);
  if (auto data = to_.constant(w_)) {
    weights_ = data;
    if (!unit_.scale.empty()) {
      std::vector<float> scaled = *data;
      for (size_t k = 0; k < scaled.size(); ++k)
        scaled[k] *= static_cast<float>(unit_.scale[k / static_cast<size_t>(inner) % width]);
      weights_ = std::make_shared<const std::vector<float>>(std::move(scaled));
    }
  }
  if (!bias && unit_.shift.empty()) return;
  std::vector<float> b(width, 0);
  for (size_t k = 0; k < width; ++k) {
    double v = bias ? (*bias)[k] : 0;
    if (!unit_.scale.empty()) v = v * unit_.scale[k] + unit_.shift[k];
    b[k] = static_cast<float>(v);
  }
  bias_ = std::make_shared<const std::vector<float>>(std::move(b));
}
void Contraction::shift_after() {
  if (unit_.shift.empty()) return;
  PostOp p;
  p.kind = PostOp::Kind::Binary;
  p.algorithm = algorithm::binary_add;
  p.channels.assign(unit_.shift.begin(), unit_.shift.end());
  posts_.push_back(p);
}

/// The library cannot do it in one: what follows the product runs by itself.
Status Contraction::lower_apart() {
  std::vector<int32_t> rest(unit_.nodes.begin() + static_cast<std::ptrdiff_t>(unit_.folded),
                            unit_.nodes.end());
  Unit root = unit_;
  root.nodes.resize(unit_.folded);
  root.post.clear();
  RETURN_IF_ERROR(lower_contraction(to_, root));
  return lower_elementwise(to_, rest);
}

std::string Contraction::key() const {
  std::string s(node_->op->name);
  auto put = [&](const Dims& v) {
    for (int64_t n : v) s += " " + std::to_string(n);
    s += ";";
  };
  put(to_.dims(x_));
  put(to_.dims(w_));
  put(shape_);
  for (const auto& v : at_.ints) put(v);
  for (const PostOp& p : posts_) s += to_string(p);
  for (bool b : {weights_ != nullptr, bias_ != nullptr, run_bias_.has_value(),
                 to_.layout_of(x_) == Layout::Blocked, to_.layout_of(y_) == Layout::Blocked,
                 to_.options.winograd})
    s += b ? " 1" : " 0";
  return s + " " + std::to_string(to_.options.threads);
}

int Contraction::weights_slot(const Candidate& c) {
  if (weights_) return to_.packed(weights_, weights_lie_, c.weights);
  int plain = to_.view(to_.read(w_, Layout::Plain), weights_lie_);
  if (c.weights == weights_lie_) return plain;
  int slot = to_.scratch(c.weights);
  to_.reorder(plain, slot);
  return slot;
}

void Contraction::emit(const Candidate& c) {
  std::vector<std::pair<int, int>> args;
  args.emplace_back(DNNL_ARG_SRC, to_.view(to_.read(x_, c.in), c.source));
  args.emplace_back(DNNL_ARG_WEIGHTS, weights_slot(c));
  if (bias_)
    args.emplace_back(DNNL_ARG_BIAS,
                      to_.packed(bias_, plain_desc(bias_dims_), plain_desc(bias_dims_)));
  if (run_bias_)
    args.emplace_back(DNNL_ARG_BIAS,
                      to_.view(to_.read(*run_bias_, Layout::Plain), plain_desc(bias_dims_)));
  std::vector<std::pair<int, Value>> sums;
  for (size_t k = 0; k < fused_posts(c.apart); ++k) {
    const PostOp& p = posts_[k];
    if (p.kind == PostOp::Kind::Binary) {
      auto data = std::make_shared<const std::vector<float>>(p.channels);
      Desc lie = plain_desc(channel_dims_);
      args.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(k)) | DNNL_ARG_SRC_1,
                        to_.packed(data, lie, lie));
    }
    if (p.kind == PostOp::Kind::Sum) start_from(p.other, c.out);
  }
  int result = target(c.out);
  args.emplace_back(DNNL_ARG_DST, to_.view(result, c.target));
  if (c.scratch.get_size() > 0) args.emplace_back(DNNL_ARG_SCRATCHPAD, to_.scratch(c.scratch));
  to_.add(c.make(), std::move(args));
  if (c.apart) run_functions(result);
  to_.settle(y_);
}

/// The functions at the end, in place. The library's blocked padding stays 0 only for some: this is
/// for the row-major layout.
void Contraction::run_functions(int slot) {
  std::vector<FunctionLoop> loops;
  for (size_t k = fused_posts(true); k < posts_.size(); ++k)
    loops.push_back(function_loop(posts_[k]));
  auto count = static_cast<int64_t>(to_.program.floats(slot));
  int threads = to_.options.threads;
  to_.add_loop({slot}, [loops, count, threads](Pointers p) {
    constexpr int64_t kTile = 4096;
    int64_t tiles = (count + kTile - 1) / kTile;
    parallel_loop(tiles, count, threads, [&](int64_t t) {
      float* x = p[0] + t * kTile;
      for (const FunctionLoop& f : loops)
        f.loop(x, x, std::min(kTile, count - t * kTile), f.a, f.b);
    });
  });
}

int Contraction::target(Layout layout) {
  return to_.has(y_, layout) ? to_.read(y_, layout) : to_.write(y_, layout);
}

/// The tensor that the product is added onto, into the target.
void Contraction::start_from(Value other, Layout layout) {
  if (to_.dims(other) != shape_) {
    spread(other);
    return;
  }
  int from = to_.read(other, layout), into = target(layout);
  const Slot &a = to_.program.slots[static_cast<size_t>(from)],
             &b = to_.program.slots[static_cast<size_t>(into)];
  bool in_place = a.kind == Slot::Kind::Operand && b.kind == Slot::Kind::Result &&
                  to_.program.result_types.size() == 1 && uses(other) == 1;
  if (in_place)
    to_.program.accumulator = a.index;
  else
    to_.reorder(from, into);
}
/// Copies `other`, broadcast, into the target.
void Contraction::spread(Value other) {
  Strided whole = strided(shape_, Layout::Plain);
  Dims own = to_.dims(other), dims(shape_.size() - own.size(), 1);
  dims.insert(dims.end(), own.begin(), own.end());
  Strided from = strided(dims, Layout::Plain);
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] == 1) from.strides[d] = 0;
  from.dims = whole.dims;
  merge_axes(from, whole);
  to_.add_loop({to_.read(other, Layout::Plain), target(Layout::Plain)},
               [from, whole](Pointers p) { copy_strided(from, p[0], whole, p[1], 1); });
}
int Contraction::uses(Value v) const {
  int n = 0;
  for (int32_t id = 0; id < to_.graph.id_bound(); ++id)
    if (to_.graph.contains(id))
      n += static_cast<int>(
          std::count(to_.graph.node(id).inputs.begin(), to_.graph.node(id).inputs.end(), v));
  return n;
}

Status lower_contraction(Lowering& to, const Unit& unit) {
  bool conv = to.graph.node(unit.nodes[0]).op->work == Work::Convolution;
  return conv ? lower_convolution(to, unit) : lower_product(to, unit);
}

}  // namespace regraft::cost::cpu
