#include "rl/training/learner.h"

#include <bit>

#include "base/hash.h"
#include "rl/nn/store.h"

namespace regraft::rl {

uint64_t training_hash(const std::vector<Graph>& graphs, const rewrite::RuleIndex& rules,
                       const cost::CostModel& model) {
  uint64_t h = hash_text(model.description());
  for (const auto& rule : rules.rules()) h = combine(h, hash_text(rule.rule.name));
  for (const Graph& g : graphs) {
    cost::GraphCost cost = cost::graph_cost(model, g);
    h = combine(combine(h, static_cast<uint64_t>(g.node_count())),
                std::bit_cast<uint64_t>(cost.total.microseconds));
  }
  return h;
}

Learner::Learner(const NetworkOptions& options, RuleTable table, Starts first_starts, uint64_t hash,
                 uint64_t first_seed)
    : training(hash),
      seed(first_seed),
      rules(std::move(table)),
      network(options, rules.columns, seed),
      adam(network.parameters()),
      starts(std::move(first_starts)) {}

Rng Learner::rng(uint64_t purpose) const {
  return Rng(combine(seed ^ purpose, static_cast<uint64_t>(iteration)));
}

Checkpoint Learner::save(const std::string& kind) const {
  Checkpoint file = network_file(network, kind);
  nn::store(file, "adam", adam, network.parameters());
  file.counters["iteration"] = static_cast<uint64_t>(iteration);
  file.counters["real_steps"] = real_steps;
  file.counters["searched"] = searched;
  file.counters["seed"] = seed;
  file.counters["training"] = training;
  starts.save(file);
  return file;
}

Status Learner::load(const Checkpoint& file, const std::string& kind) {
  ASSIGN_OR_RETURN(network, read_network(file, kind));
  ASSIGN_OR_RETURN(uint64_t of, counter(file, "training"));
  if (of != training) return error("it is of other models, rules or costs; start anew without it");
  RETURN_IF_ERROR(nn::load(file, "adam", adam, network.parameters()));
  ASSIGN_OR_RETURN(uint64_t number, counter(file, "iteration"));
  ASSIGN_OR_RETURN(real_steps, counter(file, "real_steps"));
  ASSIGN_OR_RETURN(searched, counter(file, "searched"));
  ASSIGN_OR_RETURN(seed, counter(file, "seed"));
  iteration = static_cast<int64_t>(number);
  return starts.load(file);
}

}  // namespace regraft::rl
