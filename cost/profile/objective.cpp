#include "cost/profile/objective.h"

#include <fmt/format.h>

#include <algorithm>

#include "cost/model/memory.h"

namespace regraft::cost {
namespace {

constexpr double kDoubt = 0.1;      // of an estimate, as a part of it
constexpr double kTieBreak = 1e-3;  // of latency where memory is what counts

double bytes_of(std::span<const TensorType> types) {
  double bytes = 0;
  for (const TensorType& t : types) {
    if (!t.shape) continue;
    double n = static_cast<double>(size_of(t.dtype));
    for (const Poly& d : *t.shape) n *= static_cast<double>(typical(d));
    bytes += n;
  }
  return bytes;
}

/// Time and the bytes that a call makes, weighed and in microseconds of the original.
class Weighted final : public CostModel {
 public:
  Weighted(const CostModel& model, double per_microsecond, double per_byte)
      : model_(model), per_microsecond_(per_microsecond), per_byte_(per_byte) {}
  Cost cost(const Node& node, std::span<const TensorType> operands) const override {
    Cost c = model_.cost(node, operands);
    bool makes = node.kind == NodeKind::Call && !node.op->view;
    double made = makes ? bytes_of(node.types) : 0;
    c.microseconds = per_microsecond_ * c.microseconds + per_byte_ * made;
    return c;
  }
  std::string description() const override {
    return fmt::format("{}; weighed with the bytes that are made", model_.description());
  }

 private:
  const CostModel& model_;
  double per_microsecond_, per_byte_;
};

/// What is planned when no profile says what the runtime is.
KernelPlan plan_of(const Graph& g, const Profiled* profiled) {
  if (profiled) return profiled->plan(g, false);
  return plan_kernels(g, runtimes().front(), false);
}

double made_bytes(const Graph& g) {
  Roofline time;
  Weighted bytes(time, 0, 1);
  double sum = 0;
  auto constant = constant_nodes(g);
  for (int32_t id : full_order(g))
    if (g.node(id).kind == NodeKind::Call && !constant[static_cast<size_t>(id)])
      sum += bytes.cost(g.node(id), operand_types(g, g.node(id))).microseconds;
  return sum;
}

}  // namespace

std::optional<Goal> goal_named(std::string_view name) {
  if (name == "latency") return Goal::Latency;
  if (name == "memory") return Goal::Memory;
  if (name == "mixed") return Goal::Mixed;
  return std::nullopt;
}

Objective::Objective(Goal goal, const CostModel& model, const Profiled* profiled,
                     const Graph& original)
    : goal_(goal),
      model_(model),
      profiled_(profiled),
      original_(worth(original)),
      doubtful_(doubtful(original_)) {
  if (goal == Goal::Latency) return;
  double us = std::max(graph_cost(model, original).total.microseconds, 1e-9);
  double per_byte = us / std::max(made_bytes(original), 1.0);
  bool mixed = goal == Goal::Mixed;
  mixed_ =
      std::make_unique<Weighted>(model, mixed ? 0.5 : kTieBreak, mixed ? per_byte / 2 : per_byte);
}

Worth Objective::worth(const Graph& g) const {
  Graph sized = at_sizes(g);
  KernelPlan plan = plan_of(sized, profiled_);
  Worth w;
  if (profiled_) {
    Prediction p = profiled_->predict(sized, plan);
    w = {p.microseconds, kDoubt * p.estimated_microseconds, 0, p.kernels, p.estimated};
  } else {
    w.microseconds = graph_cost(model_, g).total.microseconds;
  }
  w.peak_bytes = schedule(plan, sized).peak_bytes;
  return w;
}

double Objective::microseconds(const Graph& g) const {
  if (!profiled_) return graph_cost(model_, g).total.microseconds;
  Graph sized = at_sizes(g);
  return profiled_->predict(sized, profiled_->plan(sized, false)).microseconds;
}

Worth Objective::doubtful(Worth w) const {
  w.microseconds += w.doubt;
  return w;
}

/// Without what the goal does not ask for.
Worth Objective::doubtful(const Graph& g) const {
  if (goal_ != Goal::Latency) return doubtful(worth(g));
  Worth w;
  if (!profiled_) {
    w.microseconds = graph_cost(model_, g).total.microseconds;
    return w;
  }
  Prediction p = profiled_->predict(g, profiled_->plan(g, false));
  w.microseconds = p.microseconds + kDoubt * p.estimated_microseconds;
  return w;
}

double Objective::price(const Worth& w, const Worth& original) const {
  double time = w.microseconds / std::max(original.microseconds, 1e-9);
  double memory = static_cast<double>(w.peak_bytes) /
                  static_cast<double>(std::max<int64_t>(original.peak_bytes, 1));
  switch (goal_) {
    case Goal::Memory:
      return (memory + kTieBreak * time) / (1 + kTieBreak);
    case Goal::Mixed:
      return (time + memory) / 2;
    case Goal::Latency:
      break;
  }
  return time;
}

}  // namespace regraft::cost
