#include "cli/optimization/trace.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "cost/profile/objective.h"
#include "rewrite/search/replay.h"

namespace regraft::cli {
namespace {

constexpr double kMostPriced = 1e6;  // nodes, of all graphs together

/// An index of the rules that the steps use, those of instruction selection too.
Result<rewrite::RuleIndex> index_of_used(const rewrite::RuleIndex& rules,
                                         const std::vector<rewrite::AppliedRule>& steps) {
  std::set<std::string> names;
  for (const auto& step : steps) names.insert(step.rule);
  std::vector<Rule> used;
  for (const rewrite::RuleIndex* part : {&rules, rules.selection()})
    for (size_t k = 0; part && k < part->rules().size(); ++k)
      if (const Rule& rule = part->rules()[k].rule; names.count(rule.name)) used.push_back(rule);
  return rewrite::RuleIndex::build(std::move(used), rewrite::Scope::Proved, Numerics::Unknown);
}

/// Groups steps that build on each other.
class Regions {
 public:
  explicit Regions(size_t steps) : parents_(steps) {
    std::iota(parents_.begin(), parents_.end(), size_t{0});
  }
  void join(size_t a, size_t b) { parents_[find(a)] = find(b); }
  size_t find(size_t k) {
    while (parents_[k] != k) k = parents_[k] = parents_[parents_[k]];
    return k;
  }

 private:
  std::vector<size_t> parents_;
};

/// Writes to an entry of a list that grows as it is needed.
template <class T>
T& grown(std::vector<T>& list, int32_t id) {
  if (list.size() <= static_cast<size_t>(id)) list.resize(static_cast<size_t>(id) + 1);
  return list[static_cast<size_t>(id)];
}

void number_regions(Trace& all) {
  std::vector<std::optional<size_t>> made_by;
  Regions regions(all.steps.size());
  for (size_t k = 0; k < all.steps.size(); ++k) {
    for (int32_t id : all.steps[k].removed)
      if (auto maker = grown(made_by, id)) regions.join(k, *maker);
    for (int32_t id : all.steps[k].added) grown(made_by, id) = k;
  }
  std::vector<std::optional<size_t>> numbers(all.steps.size());
  for (size_t k = 0; k < all.steps.size(); ++k) {
    auto& number = numbers[regions.find(k)];
    if (!number) number = all.regions++;
    all.steps[k].region = *number;
    for (int32_t id : all.steps[k].removed) grown(all.removed, id) = *number;
    for (int32_t id : all.steps[k].added) grown(all.added, id) = *number;
  }
}

/// The nodes that a change made, without those that only have other operands now.
std::vector<int32_t> nodes_made(const rewrite::Change& change) {
  std::vector<int32_t> made;
  for (int32_t id : change.fresh)
    if (std::ranges::find(change.redirected, id) == change.redirected.end()) made.push_back(id);
  return made;
}

}  // namespace

Result<Trace> trace(const Graph& original, const rewrite::RuleIndex& rules, const Choice& choice,
                    Opset opset) {
  Trace all;
  all.folded = choice.folded;
  const auto& steps = choice.search.steps;
  if (choice.kept || steps.empty()) return all;
  ASSIGN_OR_RETURN(auto index, index_of_used(rules, steps));
  const ChosenCost& cost = *choice.cost;
  cost::Objective objective(cost::Goal::Latency, *cost.model, cost.profiled, original);
  const double nodes = static_cast<double>(steps.size()) * original.node_count();
  const auto stride = static_cast<size_t>(1 + nodes / kMostPriced);
  all.priced_every = stride;
  double price = objective.original().microseconds;
  auto seen = [&](size_t k, const rewrite::Engine& engine) {
    TracedStep step;
    step.rule = index.rules()[static_cast<size_t>(engine.moves().back().rule)].rule;
    step.removed = engine.last_change().removed;
    step.added = nodes_made(engine.last_change());
    step.before = price;
    if (k % stride == 0 || k + 1 == steps.size()) price = objective.microseconds(engine.to_graph());
    step.after = price;
    all.steps.push_back(std::move(step));
  };
  RETURN_IF_ERROR(rewrite::replay(original, index, steps, *cost.model, {opset}, seen));
  number_regions(all);
  return all;
}

}  // namespace regraft::cli
