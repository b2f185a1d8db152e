#include "cli/support/rewards.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "cost/profile/objective.h"
#include "cost/profile/timing.h"
#include "cost/runtime/cpu/executor.h"

namespace regraft::cli {
namespace {

Result<double> time_on_cpu(const Graph& g) {
  constexpr int kRuns = 9;
  cost::cpu::ExecutorOptions options;
  options.skip_opaque = true;
  ASSIGN_OR_RETURN(auto executor, cost::cpu::Executor::compile(g, options));
  std::vector<double> times;
  for (int k = 0; k < kRuns; ++k) times.push_back(executor.time_once(1));
  return cost::median(std::move(times));
}

}  // namespace

Status prepare_reward(rl::EnvironmentOptions& options, const ChosenCost& cost, const Graph& graph) {
  if (options.reward == rl::Reward::Measured) {
    if (auto time = time_on_cpu(graph); !time) return time.error();
    auto one = std::make_shared<std::mutex>();  // two timings at once would disturb each other
    const cost::CostModel* model = cost.model.get();
    options.measure = [one, model](const Graph& g) {
      std::lock_guard lock(*one);
      auto time = time_on_cpu(g);
      return time ? *time : cost::graph_cost(*model, g).total.microseconds;
    };
  }
  if (options.reward == rl::Reward::Mixed) {
    auto objective =
        std::make_shared<cost::Objective>(cost::Goal::Memory, *cost.model, cost.profiled, graph);
    options.memory = [objective](const Graph& g) {
      return static_cast<double>(objective->worth(g).peak_bytes);
    };
  }
  return {};
}

}  // namespace regraft::cli
