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
    : options_(options), tasks_(std::move(tasks)), rules_(rules), model_(model) {
  CHECK(!tasks_.empty() && options_.environments > 0);
  growth_ = std::max(1.0, tasks_[0].options.max_growth);
  auto threads = static_cast<size_t>(std::max(1, options_.threads));
  for (size_t group = 0; group < std::min(threads, options_.environments); ++group) {
    groups_.emplace_back();
    for (const Task& t : tasks_)
      groups_.back().push_back({Environment::sizes_of(t.graph, rules, model, t.options), {}});
  }
  learn_facts();
  capacity_ = needed();
  capacity_.locations = tasks_[0].options.max_locations;
  for (size_t k = 0; k < options_.environments; ++k)
    slots_.emplace_back(Rng(k), ArrayWriter(capacity_, options_.actions, options_.costs));
}

std::unique_ptr<Environment> VectorEnvironment::take(size_t group, size_t task) {
  Spare& spare = groups_[group][task];
  if (spare.free.empty()) {
    const Task& t = tasks_[task];
    return std::make_unique<Environment>(t.graph, rules_, model_, t.options, spare.sizes.get());
  }
  auto env = std::move(spare.free.back());
  spare.free.pop_back();
  return env;
}

/// Each group on a thread of its own: what its environments share is used one at a time.
void VectorEnvironment::for_slots(const std::function<void(size_t, size_t)>& work) {
  parallel_for(groups_.size(), options_.threads, [&](size_t group) {
    for (size_t k = group; k < slots_.size(); k += groups_.size()) work(k, group);
  });
}

void VectorEnvironment::learn_facts() {
  for (size_t task = 0; task < tasks_.size(); ++task) {
    auto env = take(0, task);
    const Observation& o = env->reset();
    facts_.push_back(
        {env->original(), static_cast<size_t>(o.nodes), o.edges(), o.matches(), env->max_steps()});
    groups_[0][task].free.push_back(std::move(env));
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
  return std::ranges::all_of(slots_, [](const Slot& s) { return s.env != nullptr; });
}

void VectorEnvironment::reset(std::span<const char> marked, std::optional<size_t> task) {
  for_slots([&](size_t k, size_t group) {
    if (marked[k]) begin(slots_[k], group, task);
  });
}

void VectorEnvironment::begin(Slot& s, size_t group, std::optional<size_t> task) {
  size_t drawn = task ? *task : s.rng.below(tasks_.size());
  if (s.env && drawn != s.task) groups_[group][s.task].free.push_back(std::move(s.env));
  if (!s.env) s.env = take(group, drawn);
  s.task = drawn;
  s.env->reset();
  s.best_depth = 0;
  s.over = false;
  StepInfo info;
  info.began = true;
  show(s, info);
}

void VectorEnvironment::step(std::span<const Request> requests) {
  CHECK(requests.size() == slots_.size() && was_reset());
  for_slots([&](size_t k, size_t group) { step_one(slots_[k], group, requests[k]); });
}

/// The environment's index of an action; nullopt: it is not allowed.
std::optional<size_t> VectorEnvironment::index_of(Slot& s, const Request& request) const {
  const auto& all = s.offered;
  if (options_.actions == Actions::Matches) {
    if (request.rule == 0) return s.env->stop();
    auto k = static_cast<size_t>(request.rule) - 1;
    if (request.rule < 0 || k >= all.size()) return std::nullopt;
    return static_cast<size_t>(all[k]);
  }
  if (request.rule == 0 && request.location == 0) return s.env->stop();
  if (request.rule <= 0 || request.location < 0) return std::nullopt;
  auto rule_of = [&](int32_t k) { return s.env->match(static_cast<size_t>(k)).rule; };
  auto wanted = request.rule - 1;
  auto first = std::ranges::partition_point(all, [&](int32_t k) { return rule_of(k) < wanted; });
  if (request.location >= all.end() - first) return std::nullopt;
  int32_t k = first[request.location];
  if (rule_of(k) != wanted) return std::nullopt;
  return static_cast<size_t>(k);
}

void VectorEnvironment::step_one(Slot& s, size_t group, const Request& request) {
  if (s.over) {
    begin(s, group, std::nullopt);
    return;
  }
  Environment& env = *s.env;
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
  Environment& env = *s.env;
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
  auto env = take(0, task);
  env->reset(moves);
  Graph g = env->engine().to_graph();
  groups_[0][task].free.push_back(std::move(env));
  return g;
}

}  // namespace regraft::rl
