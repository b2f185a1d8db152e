#include "rl/vector/vector_environment.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/parallel.h"

namespace regraft::rl {
namespace {

constexpr size_t kReadersShown = 6;  // see Describer::for_near
constexpr size_t kSpare = 64;        // edges, and actions

size_t in_grains(size_t n) { return (n + kSpare - 1) / kSpare * kSpare; }

}  // namespace

VectorEnvironment::VectorEnvironment(std::vector<Task> tasks, const rewrite::RuleIndex& rules,
                                     const cost::CostModel& model, VectorOptions options)
    : options_(options), rules_(rules) {
  CHECK(!tasks.empty() && options_.environments > 0);
  growth_ = std::max(1.0, tasks[0].options.max_growth);
  size_t locations = tasks[0].options.max_locations;
  graphs_.reserve(tasks.size());
  for (Task& t : tasks) {
    graphs_.push_back({std::move(t.graph)});
    pools_.push_back(
        std::make_unique<EnvironmentPool>(graphs_.back(), rules, model, std::move(t.options)));
  }
  learn_facts();
  capacity_ = needed();
  capacity_.locations = locations;
  for (size_t k = 0; k < options_.environments; ++k)
    slots_.emplace_back(Rng(k), ArrayWriter(capacity_, options_.actions, options_.costs));
}

void VectorEnvironment::learn_facts() {
  for (auto& pool : pools_) {
    EnvironmentPool::Lease env(*pool, 0);
    const Observation& o = env->reset();
    facts_.push_back(
        {env->original(), static_cast<size_t>(o.nodes), o.edges(), o.matches(), env->max_steps()});
  }
}

/// Room for what the largest model may become, with edges and matches in proportion.
Capacity VectorEnvironment::needed() const {
  Capacity c;
  auto grown = [&](size_t n) {
    return static_cast<size_t>(std::ceil(growth_ * static_cast<double>(n)));
  };
  for (const TaskFacts& f : facts_) {
    c.nodes = std::max(c.nodes, grown(f.nodes));
    c.edges = std::max(c.edges, in_grains(grown(f.edges) + kSpare));
    c.actions = std::max(c.actions, in_grains(2 * f.matches + kSpare));
  }
  c.nodes = std::max<size_t>(1, options_.nodes > 0 ? options_.nodes : c.nodes);
  if (options_.edges > 0) c.edges = options_.edges;
  if (options_.match_actions > 0) c.actions = options_.match_actions + 1;
  c.rules = rules_.rules().size();
  c.inside = 1;
  for (const auto& compiled : rules_.rules()) {
    c.inside = std::max(c.inside, compiled.rule.lhs.nodes.size());
    c.near = std::max(c.near, compiled.rule.variables.size() + kReadersShown);
  }
  c.near = std::max<size_t>(1, c.near);
  return c;
}

void VectorEnvironment::bind(const std::vector<void*>& arrays) {
  auto specs = this->specs();
  CHECK(arrays.size() == specs.size());
  std::vector<std::vector<void*>> rows(slots_.size());
  for (size_t a = 0; a < specs.size(); ++a) {
    size_t bytes = specs[a].size() * bytes_of(specs[a].element);
    auto* first = static_cast<std::byte*>(arrays[a]);
    // Padding is 0 or -1, of integers: all bytes are the same.
    std::memset(first, specs[a].padding, bytes * slots_.size());
    for (size_t k = 0; k < slots_.size(); ++k) rows[k].push_back(first + k * bytes);
  }
  for (size_t k = 0; k < slots_.size(); ++k) slots_[k].writer.bind(std::move(rows[k]));
}

bool VectorEnvironment::was_reset() const {
  return std::ranges::all_of(slots_, [](const Slot& s) { return s.lease != nullptr; });
}

void VectorEnvironment::reset(std::span<const char> marked, std::optional<size_t> task) {
  parallel_for(slots_.size(), options_.threads, [&](size_t k) {
    if (marked[k]) begin(slots_[k], task);
  });
}

void VectorEnvironment::begin(Slot& s, std::optional<size_t> task) {
  size_t drawn = task ? *task : s.rng.below(pools_.size());
  if (!s.lease || drawn != s.task) {
    s.lease.reset();
    s.lease = std::make_unique<EnvironmentPool::Lease>(*pools_[drawn], 0);
  }
  s.task = drawn;
  s.env().reset();
  s.best_depth = 0;
  s.over = false;
  StepInfo info;
  info.began = true;
  show(s, info);
}

void VectorEnvironment::step(std::span<const Request> requests) {
  CHECK(requests.size() == slots_.size() && was_reset());
  parallel_for(slots_.size(), options_.threads,
               [&](size_t k) { step_one(slots_[k], requests[k]); });
}

/// The environment's index of an action; nullopt: it is not allowed.
std::optional<size_t> VectorEnvironment::index_of(Slot& s, const Request& request) const {
  const auto& all = s.offered;
  if (options_.actions == Actions::Matches) {
    if (request.rule == 0) return s.env().stop();
    auto k = static_cast<size_t>(request.rule) - 1;
    if (request.rule < 0 || k >= all.size()) return std::nullopt;
    return static_cast<size_t>(all[k]);
  }
  if (request.rule == 0 && request.location == 0) return s.env().stop();
  if (request.rule <= 0 || request.location < 0) return std::nullopt;
  auto rule_of = [&](int32_t k) { return s.env().match(static_cast<size_t>(k)).rule; };
  auto wanted = request.rule - 1;
  auto first = std::ranges::partition_point(all, [&](int32_t k) { return rule_of(k) < wanted; });
  if (request.location >= all.end() - first) return std::nullopt;
  int32_t k = first[request.location];
  if (rule_of(k) != wanted) return std::nullopt;
  return static_cast<size_t>(k);
}

void VectorEnvironment::step_one(Slot& s, const Request& request) {
  if (s.over) {
    begin(s, std::nullopt);
    return;
  }
  Environment& env = s.env();
  StepInfo info;
  double best = env.best();
  if (auto index = index_of(s, request)) {
    if (*index != env.stop()) info.rule = env.match(*index).rule + 1;
    info.result = env.step(*index);
  } else {
    info.invalid = true;
    info.result = env.skip();
  }
  if (env.best() < best) s.best_depth = env.engine().depth();
  s.over = info.result.done();
  show(s, info);
}

void VectorEnvironment::show(Slot& s, StepInfo info) {
  Environment& env = s.env();
  s.offered = offered(env, options_.costs, capacity_.actions - 1);
  info.cost = env.cost();
  info.best = env.best();
  info.original = env.original();
  info.moves = static_cast<int32_t>(env.engine().depth());
  info.steps = env.steps();
  info.model = static_cast<int32_t>(s.task);
  info.overflow = static_cast<int32_t>(env.overflow() + env.matches().size() - s.offered.size());
  s.writer.write(env, s.offered, info);
}

Graph VectorEnvironment::graph_after(size_t task, const std::vector<rewrite::Move>& moves) {
  EnvironmentPool::Lease env(*pools_[task], 0);
  env->reset(moves);
  return env->engine().to_graph();
}

}  // namespace regraft::rl
