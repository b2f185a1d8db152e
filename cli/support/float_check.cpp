#include "cli/support/float_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/rng.h"
#include "cost/model/roofline.h"
#include "cost/runtime/cpu/executor.h"
#include "rewrite/compare/comparison.h"
#include "rewrite/compare/regimes.h"

namespace regraft::cli {
namespace {

using cost::cpu::Executor;
using rewrite::Comparison;
using Floats = Array<float>;
using Tensors = std::vector<Floats>;

/// What an element loses when a graph runs in float32, for each unit of its magnitude: a few
/// roundings. Samples are disturbed by as much in each input and constant.
constexpr double kFloatLevel = 0x1p-22;
constexpr int kSamples = 8;

Result<Executor> executor_of(const Graph& g) {
  cost::cpu::ExecutorOptions options;
  options.compile.tune = false;
  options.compile.winograd = false;
  return Executor::compile(g, options);
}

Result<Tensors> random_inputs(const Graph& g, rewrite::Regime regime, uint64_t seed) {
  Graph sized = cost::at_sizes(g);
  Tensors inputs;
  for (Value v : sized.inputs()) {
    const TensorType& t = sized.type(v);
    if (t.dtype != DType::F32 || !t.shape) return error("an input is not float32");
    auto x = rewrite::random_tensor(t.dtype, *numeric(*t.shape), regime,
                                    Rng(combine(seed, inputs.size())));
    inputs.push_back({std::move(x.shape), {x.data.begin(), x.data.end()}});
  }
  return inputs;
}

Array<double> widened(const Floats& x) { return {x.shape, {x.data.begin(), x.data.end()}}; }

Tensors disturbed(Tensors inputs, uint64_t seed) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    std::vector<double> values(inputs[k].data.begin(), inputs[k].data.end());
    rewrite::disturb(values, kFloatLevel, 0, Rng(combine(seed, k)));
    inputs[k].data.assign(values.begin(), values.end());
  }
  return inputs;
}

/// The graph with every float32 constant a little off.
Result<Graph> disturbed(const Graph& g, uint64_t seed) {
  Graph result = g;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id) || g.node(id).kind != NodeKind::Constant) continue;
    Node n = g.node(id);
    if (n.constant->dtype() != DType::F32) continue;
    ASSIGN_OR_RETURN(std::vector<double> values, n.constant->reals());
    rewrite::disturb(values, kFloatLevel, 0, Rng(combine(seed, static_cast<uint64_t>(id))));
    n.constant = make_constant(DType::F32, n.constant->dims(), values);
    result.replace_node(id, std::move(n));
  }
  return result;
}

class FloatCheck {
 public:
  FloatCheck(const Graph& a, const Graph& b, const rewrite::CheckOptions& options, const Stop& stop)
      : graphs_{&a, &b}, options_(options), stop_(stop) {}

  Result<rewrite::CheckReport> run() {
    ASSIGN_OR_RETURN(Executor first, executor_of(*graphs_[0]));
    ASSIGN_OR_RETURN(Executor second, executor_of(*graphs_[1]));
    report_.values_run =
        static_cast<int64_t>(first.plan().calls.size() + second.plan().calls.size());
    for (int r = 0; r < options_.runs && report_.agrees && report_.unfinished.empty(); ++r) {
      auto regime = static_cast<rewrite::Regime>(r % rewrite::kRegimes);
      uint64_t seed = combine(options_.seed, static_cast<uint64_t>(r));
      ASSIGN_OR_RETURN(Tensors inputs, random_inputs(*graphs_[0], regime, seed));
      ASSIGN_OR_RETURN(Tensors x, first.run(inputs));
      ASSIGN_OR_RETURN(Tensors y, second.run(inputs));
      std::vector<Comparison> comparisons;
      for (size_t k = 0; k < x.size(); ++k)
        comparisons.emplace_back(widened(x[k]), widened(y[k]), DType::F32, kFloatLevel);
      RETURN_IF_ERROR(explain(inputs, seed, comparisons));
      if (report_.unfinished.empty()) record(comparisons, regime);
    }
    report_.outputs_compared =
        report_.runs > 0 ? static_cast<int64_t>(graphs_[0]->outputs().size()) : 0;
    report_.outputs_not_compared =
        static_cast<int64_t>(graphs_[0]->outputs().size()) - report_.outputs_compared;
    return std::move(report_);
  }

 private:
  Status explain(const Tensors& inputs, uint64_t seed, std::vector<Comparison>& comparisons) {
    auto open = [](const Comparison& c) { return c.ratio() > 1; };
    for (int k = 0; k < kSamples; ++k) {
      if (stop_.must_end()) report_.unfinished = stop_.reason();
      bool any = std::any_of(comparisons.begin(), comparisons.end(), open);
      if (!any || !report_.unfinished.empty()) return {};
      size_t side = k % 2 == 0 ? 1 : 0;
      uint64_t noise = combine(seed, static_cast<uint64_t>(k));
      ASSIGN_OR_RETURN(Graph graph, disturbed(*graphs_[side], noise));
      ASSIGN_OR_RETURN(Executor executor, executor_of(graph));
      ASSIGN_OR_RETURN(Tensors sample, executor.run(disturbed(inputs, noise)));
      for (size_t o = 0; o < comparisons.size(); ++o)
        if (side == 0)
          comparisons[o].sample_first(widened(sample[o]));
        else
          comparisons[o].sample_second(widened(sample[o]));
    }
    return {};
  }

  void record(const std::vector<Comparison>& comparisons, rewrite::Regime regime) {
    ++report_.runs;
    report_.regimes.emplace_back(to_string(regime));
    for (size_t k = 0; k < comparisons.size(); ++k) {
      const Comparison& c = comparisons[k];
      report_.elements_compared += c.compared();
      report_.elements_unclaimed += c.unclaimed();
      report_.max_absolute = std::max(report_.max_absolute, c.max_absolute());
      report_.max_relative = std::max(report_.max_relative, c.max_relative());
      if (c.ratio() > report_.max_ratio || report_.worst.empty())
        report_.worst = fmt::format("output {}, {} inputs", k, to_string(regime));
      report_.max_ratio = std::max(report_.max_ratio, c.ratio());
      report_.agrees = report_.agrees && c.agrees();
    }
  }

  const Graph* graphs_[2];
  const rewrite::CheckOptions& options_;
  const Stop& stop_;
  rewrite::CheckReport report_;
};

}  // namespace

Result<rewrite::CheckReport> compare_on(const std::string& where, const Graph& a, const Graph& b,
                                        int runs, const Common& common, const Stop& stop) {
  rewrite::CheckOptions options;
  options.runs = std::max(2, runs);
  options.seed = common.seed;
  options.verbosity = common.verbosity;
  if (where == kReference) return rewrite::compare(a, b, options, stop);
  RETURN_IF_ERROR(rewrite::check_interfaces(a, b));
  return FloatCheck(a, b, options, stop).run();
}

std::string describe(const rewrite::CheckReport& r) {
  std::string rest = rewrite::incomplete(r);
  if (!r.agrees && r.max_ratio <= 1) return "THE MODELS DIFFER: " + r.worst;
  if (r.runs == 0 && !rest.empty()) return "NOT COMPARED: " + rest;
  std::string s = fmt::format(
      "{}; largest difference {:.2g} of what rounding explains{}, {:.2g} of its tensor's largest "
      "value, in {} run{}",
      !r.agrees      ? "THE MODELS DIFFER"
      : rest.empty() ? "the models agree"
                     : "no difference found",
      r.max_ratio, r.worst.empty() ? "" : " (" + r.worst + ")", r.max_relative, r.runs,
      r.runs == 1 ? "" : "s");
  s += fmt::format("; {} values run, {} of them shared", r.values_run, r.values_shared);
  if (r.values_not_run > 0)
    s += fmt::format(", {} behind operators of unknown shape not run", r.values_not_run);
  if (r.opaque > 0) s += fmt::format(", {} opaque operators not run", r.opaque);
  if (!rest.empty()) s += "; INCOMPLETE: " + rest;
  return s;
}

nlohmann::json json_of(const rewrite::CheckReport& r) {
  return {{"passed", r.agrees},
          {"complete", rewrite::incomplete(r).empty()},
          {"incomplete_because", rewrite::incomplete(r)},
          {"unfinished", r.unfinished},
          {"runs", r.runs},
          {"regimes", r.regimes},
          {"sizes", r.sizes},
          {"max_ratio", r.max_ratio},
          {"max_absolute", r.max_absolute},
          {"max_relative", r.max_relative},
          {"worst", r.worst},
          {"outputs_compared", r.outputs_compared},
          {"outputs_not_compared", r.outputs_not_compared},
          {"elements_compared", r.elements_compared},
          {"elements_unclaimed", r.elements_unclaimed},
          {"values_run", r.values_run},
          {"values_shared", r.values_shared},
          {"values_not_run", r.values_not_run},
          {"opaque", r.opaque}};
}

}  // namespace regraft::cli
