#include "ir/graph/eval.h"

#include <algorithm>
#include <atomic>

#include "base/interrupts.h"
#include "base/parallel.h"

namespace regraft {
namespace {

/// Number of elements; nullopt when it is above the limit, or of too high a rank.
std::optional<int64_t> bounded_count(const std::vector<int64_t>& shape, int64_t limit) {
  if (shape.size() > kMaxRank) return std::nullopt;
  int64_t n = 1;
  for (int64_t d : shape) {
    if (d < 0 || __builtin_mul_overflow(n, d, &n)) return std::nullopt;
  }
  if (n > limit) return std::nullopt;
  return n;
}

template <class A>
std::vector<typename A::Tensor> views_of(
    const std::vector<const Array<typename A::Scalar>*>& operands) {
  std::vector<typename A::Tensor> views;
  views.reserve(operands.size());
  for (const auto* a : operands) views.emplace_back(a->shape, a->data.data());
  return views;
}

template <class A>
std::optional<Shapes<A>> infer_numeric(
    A& alg, const OpDef& op, const std::vector<const Array<typename A::Scalar>*>& operands,
    const Attrs<int64_t>& attrs) {
  Shapes<A> in;
  in.reserve(operands.size());
  for (const auto* a : operands) in.push_back(a->shape);
  alg.ok = true;
  auto shapes = op.semantics<A>().infer(alg, in, attrs);
  if (!shapes || !alg.ok) return std::nullopt;
  return *std::move(shapes);
}

}  // namespace

template <class A>
std::optional<std::vector<Array<typename A::Scalar>>> evaluate_call(
    A& alg, const OpDef& op, const std::vector<const Array<typename A::Scalar>*>& operands,
    const Attrs<int64_t>& attrs, int64_t max_elements) {
  try {
    auto shapes = infer_numeric(alg, op, operands, attrs);
    if (!shapes) return std::nullopt;
    auto views = views_of<A>(operands);
    std::vector<Array<typename A::Scalar>> results(shapes->size());
    for (size_t k = 0; k < results.size(); ++k) {
      auto n = bounded_count((*shapes)[k], max_elements);
      if (!n) return std::nullopt;
      results[k].shape = std::move((*shapes)[k]);
      results[k].data.resize(static_cast<size_t>(*n));
      op.fill<A>()(alg, views, attrs, results[k].shape, static_cast<int>(k), 0, results[k].data);
      if (!alg.ok) return std::nullopt;
    }
    return results;
  } catch (const PolyOverflow&) {  // of exact terms
    return std::nullopt;
  }
}

template <class A>
bool evaluate_pieces(
    A& alg, const OpDef& op, const std::vector<const Array<typename A::Scalar>*>& operands,
    const Attrs<int64_t>& attrs, int output, int64_t max_elements,
    const std::function<bool(size_t, std::span<const typename A::Scalar>)>& go_on) {
  constexpr size_t kFirst = 16, kGrowth = 4;
  auto shapes = infer_numeric(alg, op, operands, attrs);
  if (!shapes) return false;
  for (const auto& shape : *shapes)
    if (!bounded_count(shape, max_elements)) return false;
  const auto& shape = (*shapes)[static_cast<size_t>(output)];
  const auto count = static_cast<size_t>(*bounded_count(shape, max_elements));
  auto views = views_of<A>(operands);
  std::vector<typename A::Scalar> piece;
  for (size_t first = 0, most = kFirst; first < count; first += piece.size(), most *= kGrowth) {
    piece.resize(std::min(most, count - first));
    op.fill<A>()(alg, views, attrs, shape, output, static_cast<int64_t>(first), piece);
    if (!alg.ok) return false;
    if (!go_on(first, piece)) return true;
  }
  return true;
}
template bool evaluate_pieces<Field>(Field&, const OpDef&,
                                     const std::vector<const Array<Residue>*>&,
                                     const Attrs<int64_t>&, int, int64_t,
                                     const std::function<bool(size_t, std::span<const Residue>)>&);

namespace {

/// One run over a graph.
template <class A>
class Evaluation {
 public:
  using Tensor = Array<typename A::Scalar>;
  using Input = std::function<Tensor(int, const std::vector<int64_t>&)>;

  Evaluation(A& alg, const Graph& g, const Valuation& sizes, int64_t max_elements)
      : alg_(alg),
        g_(g),
        sizes_(sizes),
        max_elements_(max_elements),
        values_(static_cast<size_t>(g.id_bound())) {}

  std::optional<std::vector<Tensor>> run(const Input& input) {
    auto order = topological_order(g_);
    if (!order) return std::nullopt;
    for (size_t k = 0; k < g_.inputs().size(); ++k)
      if (!add_input(static_cast<int>(k), input)) return std::nullopt;
    for (int32_t id : *order)
      if (g_.node(id).kind != NodeKind::Input && !add_node(id)) return std::nullopt;
    std::vector<Tensor> outputs;
    for (Value v : g_.outputs()) outputs.push_back(at(v));
    return outputs;
  }

 private:
  Tensor& at(Value v) {
    return values_[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
  }

  bool add_input(int k, const Input& input) {
    Value v = g_.inputs()[static_cast<size_t>(k)];
    if (!g_.type(v).shape) return false;
    std::vector<int64_t> shape;
    for (const Poly& d : g_.shape(v)) shape.push_back(evaluate(d, sizes_));
    if (!bounded_count(shape, max_elements_)) return false;
    Tensor t = input(k, shape);
    if (g_.type(v).dtype == DType::Bool)
      for (auto& x : t.data) x = alg_.apply(Fn::Step, x);
    values_[static_cast<size_t>(v.node)].push_back(std::move(t));
    return true;
  }

  bool add_node(int32_t id) {
    const Node& n = g_.node(id);
    auto& results = values_[static_cast<size_t>(id)];
    if (n.kind == NodeKind::Constant) {
      auto data = n.constant->reals();
      if (!data) return false;
      Tensor t{n.constant->dims(), {}};
      for (double x : *data) t.data.push_back(alg_.real(Real{x, nullptr}));
      results.push_back(std::move(t));
      return true;
    }
    if (n.kind != NodeKind::Call) return false;
    std::vector<const Tensor*> operands;
    operands.reserve(n.inputs.size());
    for (Value v : n.inputs) operands.push_back(&at(v));
    auto r = evaluate_call(alg_, *n.op, operands, evaluate(n.attrs, sizes_), max_elements_);
    if (r) results = *std::move(r);
    return r.has_value();
  }

  A& alg_;
  const Graph& g_;
  const Valuation& sizes_;
  int64_t max_elements_;
  std::vector<std::vector<Tensor>> values_;  // by node id
};

}  // namespace

template <class A>
std::optional<std::vector<Array<typename A::Scalar>>> evaluate_graph(
    A& alg, const Graph& g, const Valuation& sizes,
    const std::function<Array<typename A::Scalar>(int, const std::vector<int64_t>&)>& input,
    int64_t max_elements) {
  try {
    return Evaluation<A>(alg, g, sizes, max_elements).run(input);
  } catch (const PolyOverflow&) {  // a size of this graph at these numbers
    return std::nullopt;
  }
}

#define REGRAFT_INSTANTIATE(A)                                                              \
  template std::optional<std::vector<Array<A::Scalar>>> evaluate_call<A>(                   \
      A&, const OpDef&, const std::vector<const Array<A::Scalar>*>&, const Attrs<int64_t>&, \
      int64_t);                                                                             \
  template std::optional<std::vector<Array<A::Scalar>>> evaluate_graph<A>(                  \
      A&, const Graph&, const Valuation&,                                                   \
      const std::function<Array<A::Scalar>(int, const std::vector<int64_t>&)>&, int64_t);
REGRAFT_INSTANTIATE(Reals)
REGRAFT_INSTANTIATE(Field)
REGRAFT_INSTANTIATE(Terms)
#undef REGRAFT_INSTANTIATE

namespace {

/// `equal` tells two elements that have values.
template <class Equal>
Agreement agreement_by(const std::vector<Array<Residue>>& left,
                       const std::vector<Array<Residue>>& right, Equal equal) {
  if (left.size() != right.size()) return Agreement::Different;
  bool compared = false, undefined = false;
  for (size_t k = 0; k < left.size(); ++k) {
    if (left[k].shape != right[k].shape) return Agreement::Different;
    for (size_t e = 0; e < left[k].data.size(); ++e) {
      Residue a = left[k].data[e], b = right[k].data[e];
      if (!is_defined(a)) continue;
      if (is_defined(b) && !equal(a, b)) return Agreement::Different;
      compared = true;
      undefined = undefined || !is_defined(b);
    }
  }
  return compared && !undefined ? Agreement::Equal : Agreement::Undefined;
}

}  // namespace

Agreement agreement(const std::vector<Array<Residue>>& left,
                    const std::vector<Array<Residue>>& right) {
  return agreement_by(left, right, [](Residue a, Residue b) { return a == b; });
}

Agreement agreement_of_doubles(const std::vector<Array<Residue>>& left,
                               const std::vector<Array<Residue>>& right) {
  return agreement_by(left, right, [](Residue a, Residue b) { return nearly_equal(a.r, b.r); });
}

namespace {

constexpr int64_t kNoLimit = int64_t{1} << 40;
constexpr int64_t kAlwaysHeld = 1 << 12;  // elements; the system is not asked whether they fit

/// The least number of elements that are worth a thread.
size_t least_chunk(const std::vector<const Array<double>*>& operands) {
  constexpr size_t kFew = 1 << 12;  // evaluated before another thread has started
  size_t read = 0;
  for (const Array<double>* a : operands) read += a->data.size();
  return read < kFew ? kFew : 1;
}

/// One output, its elements in chunks of at least `least` on all cores; false when a requirement
/// fails.
bool fill_in_parallel(const OpDef& op, const std::vector<Reals::Tensor>& views,
                      const Attrs<int64_t>& attrs, int output, size_t least, Array<double>& result,
                      const Stop& stop) {
  constexpr size_t kMost = 1 << 20;  // elements between looks at the clock
  int threads = default_threads();
  size_t n = result.data.size();
  size_t chunk = std::max<size_t>(least, n / (static_cast<size_t>(threads) * 16));
  chunk = std::min(chunk, std::max(least, kMost));
  std::atomic<bool> ok = true;
  parallel_for((n + chunk - 1) / chunk, threads, [&](size_t c) {
    if (stop.must_end()) ok = false;
    if (!ok) return;
    Reals alg;
    size_t first = c * chunk;
    std::span<double> part(result.data.data() + first, std::min(chunk, n - first));
    op.fill_reals(alg, views, attrs, result.shape, output, static_cast<int64_t>(first), part);
    if (!alg.ok) ok = false;
  });
  return ok;
}

}  // namespace

Result<std::vector<Array<double>>> evaluate_reals(const OpDef& op,
                                                  const std::vector<const Array<double>*>& operands,
                                                  const Attrs<int64_t>& attrs, const Stop& stop) {
  Reals alg;
  auto shapes = infer_numeric(alg, op, operands, attrs);
  if (!shapes) return error(std::string(op.name) + ": the operands do not fit");
  auto views = views_of<Reals>(operands);
  std::vector<Array<double>> results(shapes->size());
  bool sums_over_nothing = std::any_of(operands.begin(), operands.end(),
                                       [](const Array<double>* a) { return a->data.empty(); });
  for (size_t k = 0; k < results.size(); ++k) {
    auto n = bounded_count((*shapes)[k], kNoLimit);
    if (!n) return error(std::string(op.name) + ": output " + std::to_string(k) + " is too large");
    results[k].shape = std::move((*shapes)[k]);
    if (*n > kAlwaysHeld && *n > stop.memory_left() / static_cast<int64_t>(sizeof(double)))
      return error(std::string(op.name) + ": output " + std::to_string(k) + " has " +
                   std::to_string(*n) + " elements, more than memory holds");
    results[k].data.resize(static_cast<size_t>(*n));
    if (*n == 0) continue;
    if (op.dense && k == 0 && !sums_over_nothing)
      op.dense(views, attrs, results[k].shape, results[k].data);
    else if (!fill_in_parallel(op, views, attrs, static_cast<int>(k), least_chunk(operands),
                               results[k], stop))
      return error(std::string(op.name) + (stop.must_end() ? ": " + std::string(stop.reason())
                                                           : ": the operands do not fit"));
  }
  return results;
}

Result<std::vector<Array<double>>> evaluate_reals(const OpDef& op,
                                                  const std::vector<const Array<double>*>& operands,
                                                  const Attrs<int64_t>& attrs) {
  const Uninterrupted whole;
  return evaluate_reals(op, operands, attrs, Stop());
}

}  // namespace regraft
