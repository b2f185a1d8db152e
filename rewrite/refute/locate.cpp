#include "rewrite/refute/locate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace regraft::rewrite {

namespace {

using Tensor = Array<double>;

/// Nodes of both graphs that are a place, rather than a part.
constexpr size_t kFew = 24;

double scale_of(const Tensor& x) {
  double scale = 0;
  for (double v : x.data)
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  return scale;
}

/// Elements differ by at most so much, or neither is finite.
bool is_near(const Tensor& x, const Tensor& y, double allowed) {
  if (x.shape != y.shape) return false;
  for (size_t i = 0; i < x.data.size(); ++i)
    if (!(std::abs(x.data[i] - y.data[i]) <= allowed) &&
        (std::isfinite(x.data[i]) || std::isfinite(y.data[i])))
      return false;
  return true;
}

double gap(const Tensor& x, const Tensor& y) {
  if (x.shape != y.shape) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (size_t i = 0; i < x.data.size(); ++i)
    if (double d = std::abs(x.data[i] - y.data[i]); !(d <= most)) most = d;
  return most;
}

/// All values that one run made, and those of the question.
struct Observed {
  Trial trial;
  std::map<Value, Tensor> values;  // in joint numbers
  std::optional<Tensor> first, second;
};

class Locator {
 public:
  Locator(const Judge& judge, const Found& found, double max_bytes, const Stop& stop)
      : p_(judge.program()),
        found_(found),
        question_(p_.questions[found.difference.question]),
        bytes_left_(max_bytes),
        stop_(stop),
        depth_(p_.order.size()) {
    for (size_t k = 0; k < p_.order.size(); ++k) depth_[p_.order[k]] = k;
  }

  Result<DifferenceStart> run() {
    if (!found_.difference.failure.empty())
      return start_of({}, {static_cast<int32_t>(found_.difference.failed_at)}, false);
    Probe general;
    general.seed = combine(found_.probe.seed, 1);
    Trial other = found_.trial;
    other.inputs = inputs_of(*p_.graphs[0], other.sizes, general);
    for (const Trial* trial : {&found_.trial, static_cast<const Trial*>(&other)}) {
      ASSIGN_OR_RETURN(bool observed, observe(*trial));
      if (!observed) return DifferenceStart{};
    }
    match();
    std::vector<Value> a = differing(0, question_.first), b = differing(1, question_.second);
    ASSIGN_OR_RETURN(auto pair, first_pair(a, b));
    if (pair) {
      auto first = nodes_of(differing(0, pair->first)),
           second = nodes_of(differing(1, pair->second));
      if (first.size() + second.size() <= kFew) return start_of(first, second, true);
    }
    if (b.empty()) return start_of(nodes_of(a), {}, false);
    // They may differ in several places: the first of these.
    std::vector<int32_t> beside;
    if (!a.empty() && has_shape_of(a.front(), b.front())) beside.push_back(a.front().node);
    return start_of(beside, {b.front().node}, false);
  }

 private:
  const JointNode& node(Value v) const { return p_.joint.nodes[static_cast<size_t>(v.node)]; }

  bool has_shape_of(Value a, Value b) const {
    const Tensor *x = value(0, a), *y = value(0, b);
    return x && y && x->shape == y->shape;
  }

  /// False: it was not evaluated to its end, or takes more memory than there is.
  Result<bool> observe(const Trial& trial) {
    Observed seen;
    seen.trial = trial;
    RunOptions options = run_options(seen.trial);
    options.seen = [&](size_t n, size_t k, Tensor& x) {
      bytes_left_ -= static_cast<double>(x.data.size() * sizeof(double));
      if (bytes_left_ > 0) seen.values[{static_cast<int32_t>(n), static_cast<int32_t>(k)}] = x;
    };
    auto keep = [&](size_t q, const Tensor* x, const Tensor* y) {
      if (q != found_.difference.question) return;
      if (x) seen.first = *x;
      if (y) seen.second = *y;
    };
    ASSIGN_OR_RETURN(RunResult run, run_once(p_, seen.trial.sizes, options, keep, stop_));
    if (run.end != RunEnd::Done || bytes_left_ <= 0 || !seen.first || !seen.second) return false;
    for (size_t n = 0; n < p_.joint.nodes.size(); ++n)
      if (int32_t k = p_.joint.nodes[n].input; k >= 0)
        seen.values[{static_cast<int32_t>(n), 0}] = trial.inputs[static_cast<size_t>(k)];
    runs_.push_back(std::move(seen));
    return true;
  }

  const Tensor* value(size_t run, Value v) const {
    auto it = runs_[run].values.find(v);
    return it == runs_[run].values.end() ? nullptr : &it->second;
  }

  /// Equal in all runs, but for what folding of constants loses.
  bool are_equal(Value a, Value b) const {
    constexpr double kRounding = 1e-6;
    for (size_t r = runs_.size(); r-- > 0;) {
      const Tensor *x = value(r, a), *y = value(r, b);
      if (!x || !y || x->shape != y->shape || !is_near(*x, *y, kRounding * scale_of(*x)))
        return false;
    }
    return true;
  }

  void match() {
    std::map<std::vector<int64_t>, std::vector<Value>> in_first, in_second;
    for (const auto& [v, x] : runs_[0].values) {
      if (node(v).in[0]) in_first[x.shape].push_back(v);
      if (node(v).in[1]) in_second[x.shape].push_back(v);
    }
    for (const auto& [shape, values] : in_second)
      for (Value b : values) {
        auto it = in_first.find(shape);
        if (it == in_first.end()) continue;
        for (Value a : it->second) {
          if (stop_.must_end()) return;
          if (a == b || ((!node(a).in[1] || !node(b).in[0]) && are_equal(a, b))) {
            matched_.insert(a);
            matched_.insert(b);
          }
        }
      }
  }

  /// Values of one graph alone, of which the other has none equal, that `last` depends on through
  /// such values; operands first.
  std::vector<Value> differing(size_t graph, Value last) const {
    std::set<Value> seen;
    std::vector<Value> open{last}, result;
    while (!open.empty()) {
      Value v = open.back();
      open.pop_back();
      const JointNode& n = node(v);
      bool alone = n.in[graph] && !n.in[1 - graph] && n.node->kind == NodeKind::Call;
      // The last one differs from what it should equal, whatever else it is equal to.
      if (!alone || (matched_.count(v) > 0 && v != last) || !seen.insert(v).second) continue;
      result.push_back(v);
      open.insert(open.end(), n.inputs.begin(), n.inputs.end());
    }
    std::sort(result.begin(), result.end(), [&](Value x, Value y) { return depth(x) < depth(y); });
    return result;
  }
  std::pair<size_t, int32_t> depth(Value v) const {
    return {depth_[static_cast<size_t>(v.node)], v.output};
  }

  /// Of the same shape: the first one, and the nearest.
  std::vector<Value> partners(const std::vector<Value>& a, Value b) const {
    const Tensor* y = value(0, b);
    std::vector<std::pair<double, Value>> near;
    for (Value v : a)
      if (const Tensor* x = value(0, v); x && y && x->shape == y->shape)
        near.emplace_back(gap(*x, *y), v);
    std::vector<Value> chosen;
    if (near.empty()) return chosen;
    chosen.push_back(near.front().second);
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& p, const auto& q) { return p.first < q.first; });
    for (size_t k = 0; k < std::min<size_t>(2, near.size()); ++k)
      if (near[k].second != chosen[0]) chosen.push_back(near[k].second);
    return chosen;
  }

  Result<std::optional<std::pair<Value, Value>>> first_pair(const std::vector<Value>& a,
                                                            const std::vector<Value>& b) {
    for (Value y : b)
      for (Value x : partners(a, y)) {
        if (stop_.must_end()) return std::optional<std::pair<Value, Value>>();
        ASSIGN_OR_RETURN(bool right, mends(x, y));
        if (right) return std::optional(std::pair(x, y));
      }
    return std::optional<std::pair<Value, Value>>();
  }

  /// The second graph's output is right with `x` in place of `y`, in all runs.
  Result<bool> mends(Value x, Value y) {
    constexpr double kRest = 1e-3, kRounding = 1e-6;
    for (size_t r = 0; r < runs_.size(); ++r) {
      const Observed& seen = runs_[r];
      RunOptions options = run_options(seen.trial);
      options.side = Side::Second;
      options.seen = [&](size_t n, size_t k, Tensor& made) {
        if (Value{static_cast<int32_t>(n), static_cast<int32_t>(k)} == y) made = *value(r, x);
      };
      bool right = false;
      auto compare = [&](size_t q, const Tensor*, const Tensor* made) {
        if (q != found_.difference.question || !made) return;
        double before = gap(*seen.first, *seen.second);
        double rest = std::isfinite(before) ? kRest * before : 0;
        right = is_near(*seen.first, *made, rest + kRounding * scale_of(*seen.first));
      };
      ASSIGN_OR_RETURN(RunResult run, run_once(p_, seen.trial.sizes, options, compare, stop_));
      if (run.end != RunEnd::Done || !right) return false;
    }
    return true;
  }

  static std::vector<int32_t> nodes_of(const std::vector<Value>& values) {
    std::vector<int32_t> nodes;
    for (Value v : values)
      if (nodes.empty() || nodes.back() != v.node) nodes.push_back(v.node);
    return nodes;
  }

  /// From joint numbers to ids.
  DifferenceStart start_of(const std::vector<int32_t>& a, const std::vector<int32_t>& b,
                           bool confirmed) const {
    return {ids_of(0, a), ids_of(1, b), confirmed};
  }
  std::vector<int32_t> ids_of(size_t graph, const std::vector<int32_t>& joint) const {
    const Graph& g = *p_.graphs[graph];
    std::map<const Node*, int32_t> ids;
    for (int32_t id = 0; id < g.id_bound(); ++id)
      if (g.contains(id)) ids.emplace(&g.node(id), id);
    std::vector<int32_t> result;
    for (int32_t n : joint)
      if (auto it = ids.find(p_.joint.nodes[static_cast<size_t>(n)].node); it != ids.end())
        result.push_back(it->second);
    return result;
  }

  const JointProgram& p_;
  const Found& found_;
  const Question& question_;
  double bytes_left_;
  const Stop& stop_;
  std::vector<size_t> depth_;  // place in the order of evaluation, by joint number
  std::vector<Observed> runs_;
  std::set<Value> matched_;
};

}  // namespace

Result<DifferenceStart> locate(const Judge& judge, const Found& found, double max_bytes,
                               const Stop& stop) {
  return Locator(judge, found, max_bytes, stop).run();
}

}  // namespace regraft::rewrite
