#include "cli/optimization/page/kernels.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraft::cli {
namespace {

constexpr size_t kMostNamed = 4;  // operators of a kernel

std::string name_of_kernel(const std::vector<std::string>& operators) {
  std::string s;
  for (size_t k = 0; k < std::min(operators.size(), kMostNamed); ++k)
    s += (k == 0 ? "" : " + ") + operators[k];
  if (operators.size() > kMostNamed) s += fmt::format(" + {} more", operators.size() - kMostNamed);
  return s.empty() ? "change of layout" : s;
}

std::vector<PlannedKernel> planned(const Graph& g, const cost::Profiled& model,
                                   const TypeOfOpaque& type_of) {
  std::vector<PlannedKernel> all;
  const Graph sized = cost::at_sizes(g);
  const cost::KernelPlan plan = model.plan(sized);
  auto add = [&](std::vector<std::string> operators, std::vector<int32_t> nodes,
                 const cost::KernelPrice& price) {
    all.push_back({name_of_kernel(operators), std::move(nodes),
                   price.microseconds + model.profile().overhead, price.measured});
  };
  for (const cost::KernelCall& call : plan.calls) {
    std::vector<std::string> operators;
    for (int32_t id : call.nodes)
      if (const Node& n = g.node(id); n.op) operators.emplace_back(n.op->name);
    add(std::move(operators), call.nodes, model.price(call));
  }
  for (int32_t id : plan.opaque) add({type_of(id)}, {id}, model.price_of_opaque(sized, id));
  return all;
}

/// Each call by itself.
std::vector<PlannedKernel> calls_of(const Graph& g, const cost::CostModel& model,
                                    const TypeOfOpaque& type_of) {
  std::vector<PlannedKernel> all;
  auto order = topological_order(g);
  if (!order) return all;
  const auto constant = constant_nodes(g);
  for (int32_t id : *order) {
    const Node& n = g.node(id);
    bool runs = n.kind == NodeKind::Call || n.kind == NodeKind::Opaque;
    if (!runs || constant[static_cast<size_t>(id)]) continue;
    double price = model.cost(n, cost::operand_types(g, n)).microseconds;
    all.push_back({n.op ? std::string(n.op->name) : type_of(id), {id}, price, false});
  }
  return all;
}

}  // namespace

std::vector<PlannedKernel> kernels_of(const Graph& g, const ChosenCost& cost,
                                      const TypeOfOpaque& type_of) {
  return cost.profiled ? planned(g, *cost.profiled, type_of) : calls_of(g, *cost.model, type_of);
}

}  // namespace regraft::cli
