#pragma once
// Several environments that step at once, with their states in arrays.
#include <functional>
#include <memory>
#include <span>

#include "base/rng.h"
#include "rl/vector/arrays.h"

namespace regraft::rl {

struct VectorOptions {
  size_t environments = 1;
  int threads = 1;
  Actions actions = Actions::Matches;
  Costs costs = Costs::Shown;
  size_t nodes = 0, edges = 0, match_actions = 0;  ///< of the arrays; 0: what the models ask for
};

/// A graph to optimise, and the options of environments on it.
struct Task {
  Graph graph;
  EnvironmentOptions options;
};

/// What an episode on a task begins with.
struct TaskFacts {
  double cost = 0;  ///< microseconds
  size_t nodes = 0, edges = 0, matches = 0;
  int max_steps = 0;
};

/// What an environment is asked to do.
struct Request {
  int64_t rule = 0;      ///< with Actions::Matches the action, else the rule; 0 to stop
  int64_t location = 0;  ///< with Actions::Factorised
};

/// What comes out does not depend on the number of threads. Not thread-safe.
class VectorEnvironment {
 public:
  /// The rules and the model outlive this. REQUIRES: there is a task and an environment; all graphs
  /// are acyclic.
  VectorEnvironment(std::vector<Task> tasks, const rewrite::RuleIndex& rules,
                    const cost::CostModel& model, VectorOptions options);

  const VectorOptions& options() const { return options_; }
  const Capacity& capacity() const { return capacity_; }
  std::vector<ArraySpec> specs() const { return array_specs(capacity_, options_.actions); }
  /// Arrays of specs(), each with a row for each environment; they are filled with padding, and are
  /// written by reset and step only from now on. They outlive this, or the next bind().
  void bind(const std::vector<void*>& arrays);

  /// From now on environment k draws its models by this seed.
  void seed(size_t k, uint64_t seed) { slots_[k].rng = Rng(seed); }
  /// A new episode in environments that are marked, on a model that is drawn, or on this one.
  /// REQUIRES: bind() was called.
  void reset(std::span<const char> marked, std::optional<size_t> task);
  /// A step in each. An episode that was over begins anew instead, with no reward (the action is
  /// not looked at). What is not allowed is a step that does nothing. REQUIRES: all were reset.
  void step(std::span<const Request> requests);
  bool was_reset() const;
  bool was_reset(size_t k) const { return slots_[k].env != nullptr; }

  /// Where environment k stands, and the moves that led to the cheapest graph of its episode.
  /// REQUIRES: it was reset.
  size_t task(size_t k) const { return slots_[k].task; }
  const std::vector<rewrite::Move>& moves(size_t k) const {
    return slots_[k].env->engine().moves();
  }
  size_t best_depth(size_t k) const { return slots_[k].best_depth; }
  /// The graph of a task after moves that were made in it.
  Graph graph_after(size_t task, const std::vector<rewrite::Move>& moves);
  const TaskFacts& facts(size_t task) const { return facts_[task]; }

 private:
  /// Environments of a task that none uses, and what all of them in a group share.
  struct Spare {
    std::unique_ptr<rewrite::Sizes> sizes;
    std::vector<std::unique_ptr<Environment>> free;
  };
  using Group = std::vector<Spare>;  // by task; of the slots that one thread works on
  struct Slot {
    Slot(Rng r, ArrayWriter w) : rng(std::move(r)), writer(std::move(w)) {}
    Rng rng;
    ArrayWriter writer;
    std::unique_ptr<Environment> env;
    size_t task = 0, best_depth = 0;
    bool over = false;
    std::vector<int32_t> offered;
  };
  std::unique_ptr<Environment> take(size_t group, size_t task);
  void for_slots(const std::function<void(size_t slot, size_t group)>& work);
  void learn_facts();
  Capacity needed() const;
  void begin(Slot& s, size_t group, std::optional<size_t> task);
  void step_one(Slot& s, size_t group, const Request& request);
  std::optional<size_t> index_of(Slot& s, const Request& request) const;
  void show(Slot& s, StepInfo info);

  VectorOptions options_;
  std::vector<Task> tasks_;
  std::vector<Group> groups_;
  std::vector<TaskFacts> facts_;
  double growth_;
  const rewrite::RuleIndex& rules_;
  const cost::CostModel& model_;
  Capacity capacity_;
  std::vector<Slot> slots_;
};

}  // namespace regraft::rl
