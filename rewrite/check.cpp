#include "rewrite/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/rng.h"
#include "ir/eval.h"
#include "rewrite/joint.h"

namespace regraft::rewrite {

namespace {

using Tensor = Array<double>;

/// Numbers for the symbols of one graph, by name, so that two graphs agree.
struct Sizes {
  int64_t leading = 1, others = 2;
  bool distinct = false;  ///< others differ among themselves by up to one
  int64_t of(const std::string& name, bool leads) const {
    if (leads) return leading;
    return others + (distinct ? static_cast<int64_t>(hash_text(name) % 2) : 0);
  }
};
/// Small first; larger ones for models whose windows need room.
constexpr Sizes kAttempts[] = {{1, 2, true},   {2, 2, false},  {1, 8, false},   {8, 8, false},
                               {1, 32, false}, {1, 64, false}, {1, 224, false}, {224, 224, false}};

void collect(const Poly& p, std::set<Var, SymbolLess>& symbols) {
  for (const auto& [monomial, coefficient] : p.terms())
    for (Var v : monomial) {
      if (!v->numerator) {
        symbols.insert(v);
        continue;
      }
      collect(*v->numerator, symbols);
      collect(*v->denominator, symbols);
    }
}

Valuation valuation(const Graph& g, const Sizes& sizes) {
  std::set<Var, SymbolLess> all, leading;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    for (const auto& list : g.node(id).attrs.ints)
      for (const Poly& p : list) collect(p, all);
    for (const TensorType& t : g.node(id).types)
      for (const Poly& p : t.shape.value_or(Shape{})) collect(p, all);
  }
  for (Value v : g.inputs())
    if (g.type(v).shape && !g.shape(v).empty()) collect(g.shape(v)[0], leading);
  Valuation values;
  for (Var v : all) values[v] = std::max(v->min, sizes.of(v->name, leading.count(v) > 0));
  return values;
}

/// Every known shape has at least one element.
bool feasible(const Graph& g, const Valuation& values) {
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id) || g.node(id).kind == NodeKind::Constant) continue;
    for (const TensorType& t : g.node(id).types)
      for (const Poly& p : t.shape.value_or(Shape{}))
        if (evaluate(p, values) < 1) return false;
  }
  return true;
}

std::optional<Tensor> random_tensor(const TensorType& t, const Valuation& sizes, Rng rng) {
  if (!t.shape) return std::nullopt;
  Tensor x;
  int64_t n = 1;
  for (const Poly& p : *t.shape) n *= x.shape.emplace_back(evaluate(p, sizes));
  x.data.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    if (is_real(t.dtype))
      x.data.push_back(2 * rng.unit() - 1);
    else
      x.data.push_back(static_cast<double>(rng.below(t.dtype == DType::Bool ? 2 : 8)));
  }
  return x;
}

double distance(double x, double y) {
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  double d = std::abs(x - y);
  return std::isfinite(d) ? d : std::numeric_limits<double>::infinity();
}

/// Largest absolute difference, and the same relative to the largest finite magnitude.
std::pair<double, double> difference(const Tensor& x, const Tensor& y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (x.shape != y.shape) return {kInfinity, kInfinity};
  double absolute = 0, scale = 1e-9;  // below the scale, sums that cancel are only rounding
  for (size_t i = 0; i < x.data.size(); ++i) {
    absolute = std::max(absolute, distance(x.data[i], y.data[i]));
    for (double v : {x.data[i], y.data[i]})
      if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  }
  return {absolute, absolute / scale};
}

/// Pairs of values that should be equal and are not the same computation.
struct Question {
  Value a, b;
  std::string place;
};

std::string name_of(const JointNode& n, size_t output, std::string otherwise) {
  bool named = output < n.node->names.size() && !n.node->names[output].empty();
  return named ? n.node->names[output] : otherwise;
}

/// Runs a joint program once.
class JointRun {
 public:
  JointRun(const Joint& joint, std::array<Valuation, 2> sizes, const Graph& first, uint64_t seed,
           const Stop& stop)
      : joint_(joint),
        sizes_(std::move(sizes)),
        first_(first),
        seed_(seed),
        stop_(stop),
        values_(joint.nodes.size()),
        pending_(joint.nodes.size(), 0),
        ran_(joint.nodes.size(), 0) {
    questions_.resize(joint.nodes.size() + 1);
    for (size_t k = 0; k < joint.outputs[0].size(); ++k)
      ask(joint.nodes.size(), joint.outputs[0][k], joint.outputs[1][k],
          "output " + std::to_string(k));
    for (size_t n = 0; n < joint.nodes.size(); ++n)
      for (size_t k = 0; k < joint.nodes[n].partner.size(); ++k)
        ask(n, joint.nodes[n].inputs[k], joint.nodes[n].partner[k],
            "operand " + std::to_string(k) + " of " + name_of(joint.nodes[n], 0, "an opaque node"));
    for (size_t n = joint.nodes.size(); n-- > 0;)
      if (pending_[n] > 0 && joint.nodes[n].node->kind == NodeKind::Call)
        for (Value v : joint.nodes[n].inputs) ++pending_[static_cast<size_t>(v.node)];
  }

  /// Ends early, as the report says, when `stop` asks for it or leaves too little memory.
  Status run(CheckReport& report, Progress& progress) {
    for (size_t n : schedule()) {
      if (stop_.must_end()) report.unfinished = stop_.reason();
      if (pending_[n] > 0 && !fits(n)) report.unfinished = too_large(n);
      if (!report.unfinished.empty()) return {};
      answer(n, report);
      if (pending_[n] == 0) continue;
      if (auto done = evaluate_node(n); !done) {
        if (stop_.must_end()) report.unfinished = stop_.reason();
        return stop_.must_end() ? Status() : done;
      }
      progress.add();
    }
    answer(joint_.nodes.size(), report);
    count(report);
    return {};
  }

 private:
  /// The node's values fit into memory.
  bool fits(size_t index) const {
    constexpr int64_t kSmall = 1 << 16;
    const JointNode& n = joint_.nodes[index];
    int64_t most = 0;
    for (const TensorType& t : n.node->types) {
      int64_t count = 1;
      for (const Poly& p : t.shape.value_or(Shape{}))
        if (__builtin_mul_overflow(count, evaluate(p, sizes(n)), &count)) return false;
      most = std::max(most, count);
    }
    return most <= kSmall || most <= stop_.memory_left() / static_cast<int64_t>(sizeof(double));
  }
  std::string too_large(size_t index) const {
    const JointNode& n = joint_.nodes[index];
    return "'" + name_of(n, 0, "a value") +
           "' is too large for the memory that is left: " + to_string(n.node->types[0]);
  }

  void ask(size_t when, Value a, Value b, std::string place) {
    if (a == b) return;
    questions_[when].push_back({a, b, std::move(place)});
    ++pending_[static_cast<size_t>(a.node)];
    ++pending_[static_cast<size_t>(b.node)];
  }

  /// Operands first, both graphs side by side, so that few values are alive at a time.
  std::vector<size_t> schedule() const {
    std::vector<int> depth(joint_.nodes.size(), 0);
    std::vector<size_t> order;
    for (size_t n = 0; n < joint_.nodes.size(); ++n) {
      order.push_back(n);
      for (const auto* list : {&joint_.nodes[n].inputs, &joint_.nodes[n].partner})
        for (Value v : *list) depth[n] = std::max(depth[n], depth[static_cast<size_t>(v.node)] + 1);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t x, size_t y) { return depth[x] < depth[y]; });
    return order;
  }

  const Valuation& sizes(const JointNode& n) const { return sizes_[n.graph == &first_ ? 0 : 1]; }

  Status evaluate_node(size_t index) {
    const JointNode& n = joint_.nodes[index];
    auto& outputs = values_[index];
    if (n.node->kind == NodeKind::Call) return call(index);
    if (n.node->kind == NodeKind::Input || n.node->kind == NodeKind::Opaque) {
      for (size_t k = 0; k < n.node->types.size(); ++k) {
        uint64_t key = n.input >= 0 ? static_cast<uint64_t>(n.input) : index + (uint64_t{1} << 32);
        outputs.push_back(
            random_tensor(n.node->types[k], sizes(n), Rng(combine(combine(seed_, key), k))));
      }
      ran_[index] = 1;
    }
    return {};  // a constant is read when it is needed
  }

  Status call(size_t index) {
    const JointNode& n = joint_.nodes[index];
    std::vector<const Tensor*> operands;
    for (Value v : n.inputs) {
      ASSIGN_OR_RETURN(const Tensor* x, read(v));
      operands.push_back(x);
    }
    bool complete = std::find(operands.begin(), operands.end(), nullptr) == operands.end();
    if (complete) {
      auto results =
          evaluate_reals(*n.node->op, operands, evaluate(n.node->attrs, sizes(n)), stop_);
      if (!results)
        return error(name_of(n, 0, std::string(n.node->op->name)) + ": " + results.error().message);
      for (Tensor& t : *results) values_[index].push_back(std::move(t));
      ran_[index] = 1;
    }
    for (Value v : n.inputs) release(v);
    return {};
  }

  /// The value, or nullptr when it could not be run.
  Result<const Tensor*> read(Value v) {
    auto& outputs = values_[static_cast<size_t>(v.node)];
    const Node& node = *joint_.nodes[static_cast<size_t>(v.node)].node;
    if (node.kind == NodeKind::Constant && outputs.empty()) {
      ran_[static_cast<size_t>(v.node)] = 1;
      auto data = node.constant->dtype() == DType::Text ? Result<std::vector<double>>(error("text"))
                                                        : node.constant->reals();
      if (!data && is_real(node.constant->dtype())) return data.error();
      if (data) outputs.push_back(Tensor{node.constant->dims(), *std::move(data)});
    }
    auto k = static_cast<size_t>(v.output);
    if (k >= outputs.size() || !outputs[k]) return static_cast<const Tensor*>(nullptr);
    return static_cast<const Tensor*>(&*outputs[k]);
  }

  void release(Value v) {
    if (--pending_[static_cast<size_t>(v.node)] == 0) values_[static_cast<size_t>(v.node)] = {};
  }

  void answer(size_t when, CheckReport& report) {
    for (const Question& q : questions_[when]) {
      auto x = read(q.a), y = read(q.b);
      if (!x || !y || !*x || !*y) {
        ++report.outputs_not_compared;
      } else {
        auto [absolute, relative] = difference(**x, **y);
        report.max_absolute = std::max(report.max_absolute, absolute);
        if (relative > report.max_relative || report.worst.empty()) report.worst = q.place;
        report.max_relative = std::max(report.max_relative, relative);
        report.agrees = report.agrees && relative <= kTolerance;
      }
      release(q.a);
      release(q.b);
    }
  }

  void count(CheckReport& report) const {
    report.values_run = report.values_shared = report.values_not_run = 0;
    for (size_t n = 0; n < joint_.nodes.size(); ++n) {
      const JointNode& node = joint_.nodes[n];
      bool both = node.in[0] && node.in[1];
      report.values_run += ran_[n];
      report.values_shared += ran_[n] && both;
      report.values_not_run += !ran_[n] && !both && node.node->kind == NodeKind::Call;
    }
  }

  const Joint& joint_;
  std::array<Valuation, 2> sizes_;
  const Graph& first_;
  uint64_t seed_;
  const Stop& stop_;
  std::vector<std::vector<std::optional<Tensor>>> values_;  // by joint number, by output
  std::vector<int64_t> pending_;                            // uses to come
  std::vector<char> ran_;
  std::vector<std::vector<Question>> questions_;  // by the opaque node that asks; last: the outputs
};

Status check_interfaces(const Graph& a, const Graph& b) {
  if (a.inputs().size() != b.inputs().size())
    return error("the graphs have different numbers of inputs");
  if (a.outputs().size() != b.outputs().size())
    return error("the graphs have different numbers of outputs");
  for (size_t k = 0; k < a.inputs().size(); ++k)
    if (to_string(a.type(a.inputs()[k])) != to_string(b.type(b.inputs()[k])))
      return error("input " + std::to_string(k) + " has type " + to_string(a.type(a.inputs()[k])) +
                   " in one graph and " + to_string(b.type(b.inputs()[k])) + " in the other");
  return {};
}

Result<CheckReport> run_with(const Graph& a, const Graph& b, const Joint& joint, const Sizes& sizes,
                             int runs, uint64_t seed, const Stop& stop, Verbosity verbosity) {
  CheckReport report;
  std::array<Valuation, 2> values{valuation(a, sizes), valuation(b, sizes)};
  if (!feasible(a, values[0]) || !feasible(b, values[1]))
    return error("no sizes were found at which every tensor has elements");
  auto total = static_cast<uint64_t>(runs) * joint.nodes.size();
  Progress progress("check", "values", total, verbosity);
  for (int r = 0; r < runs && report.unfinished.empty(); ++r) {
    JointRun run(joint, values, a, combine(seed, static_cast<uint64_t>(r)), stop);
    RETURN_IF_ERROR(run.run(report, progress));
    report.runs += report.unfinished.empty();
  }
  return report;
}

}  // namespace

Result<CheckReport> compare(const Graph& a, const Graph& b, int runs, uint64_t seed,
                            const Stop& stop, Verbosity verbosity) {
  RETURN_IF_ERROR(check_interfaces(a, b));
  ASSIGN_OR_RETURN(Joint joint, join(a, b));
  std::optional<Error> first;
  for (const Sizes& sizes : kAttempts) {
    auto report = run_with(a, b, joint, sizes, runs, seed, stop, verbosity);
    if (report) return report;
    if (!first) first = report.error();
    bool symbolic = !valuation(a, sizes).empty() || !valuation(b, sizes).empty();
    if (stop.must_end() || !symbolic) break;
  }
  return *first;
}

}  // namespace regraft::rewrite
