#include "cli/float_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "cost/cpu/executor.h"
#include "cost/roofline.h"

namespace regraft::cli {
namespace {

using cost::cpu::Executor;
using Floats = Array<float>;

Result<Executor> executor_of(const Graph& g) {
  cost::cpu::ExecutorOptions options;
  options.symbol_value = cost::Machine().symbol_value;
  options.compile.tune = false;
  options.compile.winograd = false;
  return Executor::compile(g, options);
}

Result<std::vector<Floats>> random_inputs(const Graph& g, Rng& rng) {
  Graph sized = cost::at_sizes(g, cost::Machine().symbol_value);
  std::vector<Floats> inputs;
  for (Value v : sized.inputs()) {
    const TensorType& t = sized.type(v);
    if (t.dtype != DType::F32 || !t.shape) return error("an input is not float32");
    Floats& x = inputs.emplace_back();
    x.shape = *numeric(*t.shape);
    int64_t count = 1;
    for (int64_t d : x.shape) count *= d;
    for (int64_t k = 0; k < count; ++k) x.data.push_back(static_cast<float>(2 * rng.unit() - 1));
  }
  return inputs;
}

void compare(const Floats& a, const Floats& b, size_t output, rewrite::CheckReport& report) {
  double magnitude = 0, difference = 0;
  bool comparable = a.shape == b.shape;
  for (size_t k = 0; comparable && k < a.data.size(); ++k) {
    magnitude = std::max(magnitude, std::abs(static_cast<double>(a.data[k])));
    double d = std::abs(static_cast<double>(a.data[k]) - static_cast<double>(b.data[k]));
    bool both_undefined = std::isnan(a.data[k]) && std::isnan(b.data[k]);
    if (!both_undefined) difference = std::max(difference, std::isnan(d) ? INFINITY : d);
  }
  double relative = difference == 0 ? 0 : difference / std::max(magnitude, 1e-30);
  if (!comparable) relative = difference = INFINITY;
  report.max_absolute = std::max(report.max_absolute, difference);
  if (relative > report.max_relative) {
    report.max_relative = relative;
    report.worst = fmt::format("output {}", output);
  }
  report.agrees = report.agrees && relative <= rewrite::kTolerance;
}

Result<rewrite::CheckReport> compare_on_cpu(const Graph& a, const Graph& b, int runs, uint64_t seed,
                                            const Stop& stop) {
  if (a.inputs().size() != b.inputs().size() || a.outputs().size() != b.outputs().size())
    return error("the models do not have the same inputs and outputs");
  ASSIGN_OR_RETURN(Executor first, executor_of(a));
  ASSIGN_OR_RETURN(Executor second, executor_of(b));
  rewrite::CheckReport report;
  report.values_run = static_cast<int64_t>(first.plan().calls.size() + second.plan().calls.size());
  Rng rng(seed);
  for (; report.runs < runs; ++report.runs) {
    if (stop.must_end()) {
      report.unfinished = stop.reason();
      break;
    }
    ASSIGN_OR_RETURN(auto inputs, random_inputs(a, rng));
    ASSIGN_OR_RETURN(auto x, first.run(inputs));
    ASSIGN_OR_RETURN(auto y, second.run(inputs));
    for (size_t k = 0; k < x.size(); ++k) compare(x[k], y[k], k, report);
  }
  return report;
}

}  // namespace

Result<rewrite::CheckReport> compare_on(const std::string& where, const Graph& a, const Graph& b,
                                        int runs, const Common& common, const Stop& stop) {
  return where == "cpu" ? compare_on_cpu(a, b, runs, common.seed, stop)
                        : rewrite::compare(a, b, runs, common.seed, stop, common.verbosity);
}

}  // namespace regraft::cli
