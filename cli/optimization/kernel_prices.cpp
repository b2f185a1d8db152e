#include "cli/optimization/kernel_prices.h"

#include "cost/model/roofline.h"
#include "cost/profile/profiled.h"

namespace regraft::cli {
namespace {

std::vector<PricedKernel> of_plan(const Graph& sized, const cost::Profiled& profiled) {
  std::vector<PricedKernel> all;
  const cost::Profile& profile = profiled.profile();
  cost::KernelPlan plan = profiled.plan(sized);
  for (const cost::KernelCall& call : plan.calls) {
    if (call.nodes.empty()) continue;
    auto known = profile.kernels.find(call.signature);
    double time = known != profile.kernels.end()
                      ? known->second.microseconds
                      : cost::estimate(profile.machine, call.kernel).microseconds;
    all.push_back({call.nodes, time + profile.overhead, call.signature});
  }
  const cost::Roofline roofline(profile.machine);
  for (int32_t id : plan.opaque) {
    const Node& node = sized.node(id);
    double time = roofline.cost(node, cost::operand_types(sized, node)).microseconds;
    all.push_back({{id}, time + profile.overhead, "opaque " + std::to_string(id)});
  }
  return all;
}

/// Operators, types and attributes: what the price of a call depends on.
std::string likeness_of(const Graph& g, const Node& node) {
  std::string text(node.op->name);
  for (Value v : node.inputs) text += " " + to_string(g.type(v));
  for (const auto& list : node.attrs.ints) {
    text += " ;";
    for (const Poly& p : list) text += " " + to_string(p);
  }
  return text;
}

std::vector<PricedKernel> of_calls(const Graph& g, const cost::CostModel& model) {
  std::vector<PricedKernel> all;
  auto constant = constant_nodes(g);
  auto order = topological_order(g);
  if (!order) return all;
  for (int32_t id : *order) {
    const Node& node = g.node(id);
    bool call = node.kind == NodeKind::Call;
    if ((!call && node.kind != NodeKind::Opaque) || constant[static_cast<size_t>(id)]) continue;
    double time = model.cost(node, cost::operand_types(g, node)).microseconds;
    all.push_back({{id}, time, call ? likeness_of(g, node) : "opaque " + std::to_string(id)});
  }
  return all;
}

}  // namespace

std::vector<PricedKernel> priced_kernels(const Graph& g, const ChosenCost& cost) {
  Graph sized = cost::at_sizes(g);
  return cost.profiled ? of_plan(sized, *cost.profiled) : of_calls(sized, *cost.model);
}

}  // namespace regraft::cli
