#include "verify/model/constants.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/rng.h"
#include "ir/graph/eval.h"

namespace regraft::verify {
namespace {

using Tensor = Array<double>;
constexpr uint64_t kRuns = 6, kRunsOfLarge = 3;
constexpr size_t kLarge = 1 << 18;
constexpr double kSpreads = 8, kOwnRoundings = 4;

bool exact_as_doubles(const std::vector<double>& integers) {
  return std::ranges::all_of(integers, [](double x) { return std::abs(x) < 0x1p53; });
}

/// The value of a constant expression; with a seed each number is disturbed as by rounding.
class Expression {
 public:
  Expression(const Graph& g, std::optional<uint64_t> noise, const Stop& stop)
      : g_(g), noise_(noise), stop_(stop) {}

  Result<std::optional<Tensor>> value(Value v) {
    RETURN_IF_ERROR(compute(v.node));
    auto& all = values_[v.node];
    if (static_cast<size_t>(v.output) >= all.size()) return std::optional<Tensor>();
    return std::optional(std::move(all[static_cast<size_t>(v.output)]));
  }

 private:
  Status compute(int32_t id) {
    if (values_.count(id)) return {};
    const Node& n = g_.node(id);
    auto& mine = values_[id];
    if (n.kind == NodeKind::Constant) {
      ASSIGN_OR_RETURN(auto data, n.constant->reals());
      mine.push_back({n.constant->dims(), std::move(data)});
      return {};
    }
    if (n.kind != NodeKind::Call) return {};
    std::vector<const Tensor*> operands;
    for (Value v : n.inputs) {
      RETURN_IF_ERROR(compute(v.node));
      auto& all = values_[v.node];
      if (static_cast<size_t>(v.output) >= all.size()) return {};
      operands.push_back(&all[static_cast<size_t>(v.output)]);
    }
    auto attrs = numeric(n.attrs);
    if (!attrs) return {};
    std::vector<Tensor> rounded;  // a sum rounds as if its terms were
    if (noise_ && sums(*n.op)) {
      rounded.reserve(operands.size());
      for (size_t k = 0; k < operands.size(); ++k) {
        rounded.push_back(*operands[k]);
        disturb(rounded.back(), n.types[0].dtype, combine(static_cast<uint64_t>(id), k + 1));
        operands[k] = &rounded.back();
      }
    }
    auto results = evaluate_reals(*n.op, operands, *attrs, stop_);
    if (!results) return {};
    for (size_t k = 0; k < results->size(); ++k)
      disturb((*results)[k], n.types[k].dtype, static_cast<uint64_t>(id));
    values_[id] = *std::move(results);
    return {};
  }
  static bool sums(const OpDef& op) {
    return op.work == Work::Product || op.work == Work::Convolution || op.work == Work::Reduction ||
           op.channel_affine;
  }
  void disturb(Tensor& t, DType type, uint64_t place) const {
    if (!noise_ || !is_real(type)) return;
    double u = 2 * roundoff(type);
    Rng rng(combine(*noise_, place));
    for (double& x : t.data) x *= 1 + u * (2 * rng.unit() - 1);
  }

  const Graph& g_;
  std::optional<uint64_t> noise_;
  const Stop& stop_;
  std::map<int32_t, std::vector<Tensor>> values_;
};

}  // namespace

Result<std::optional<Deviation>> deviation(const Graph& g, Value a, Value b, const Stop& stop) {
  std::optional<Deviation> none;
  ASSIGN_OR_RETURN(auto x, Expression(g, std::nullopt, stop).value(a));
  ASSIGN_OR_RETURN(auto y, Expression(g, std::nullopt, stop).value(b));
  if (!x || !y || x->shape != y->shape) return none;
  DType type = g.type(a).dtype;
  if (is_integer(type) && !(exact_as_doubles(x->data) && exact_as_doubles(y->data))) return none;
  size_t n = x->data.size();
  std::vector<double> spread(n, 0);
  bool computed = g.node(a.node).kind == NodeKind::Call || g.node(b.node).kind == NodeKind::Call;
  uint64_t runs = !computed || !is_real(type) ? 0 : n > kLarge ? kRunsOfLarge : kRuns;
  for (uint64_t run = 0; run < runs; ++run)
    for (auto [value, plain] : {std::pair(a, &*x), std::pair(b, &*y)}) {
      if (g.node(value.node).kind != NodeKind::Call) continue;
      ASSIGN_OR_RETURN(auto other, Expression(g, run + 1, stop).value(value));
      if (!other) return none;
      for (size_t k = 0; k < n; ++k) {
        double d = std::abs(other->data[k] - plain->data[k]);
        if (d > spread[k]) spread[k] = d;
      }
    }
  Deviation r;
  double largest = 0, difference = 0;
  for (size_t k = 0; k < n; ++k) {
    double p = x->data[k], q = y->data[k];
    if (p == q || (std::isnan(p) && std::isnan(q))) continue;
    if (!std::isfinite(p) || !std::isfinite(q)) return std::optional(Deviation{HUGE_VAL, HUGE_VAL});
    double d = std::abs(p - q);
    double allowed =
        computed && is_real(type)
            ? kSpreads * spread[k] + kOwnRoundings * roundoff(type) * std::abs(p) + smallest(type)
            : 0;
    r.ratio = std::max(r.ratio, d <= allowed ? d / allowed : HUGE_VAL);
    difference = std::max(difference, d);
  }
  for (double p : x->data) largest = std::max(largest, std::abs(p));
  r.deviation = largest > 0 ? difference / largest : difference;
  return std::optional(r);
}

}  // namespace regraft::verify
