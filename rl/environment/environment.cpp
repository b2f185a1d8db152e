#include "rl/environment/environment.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/check.h"
#include "rewrite/search/reporter.h"

namespace regraft::rl {

using rewrite::Match;

namespace {

constexpr std::pair<std::string_view, Reward> kRewards[] = {
    {"change", Reward::Change}, {"final", Reward::Final},       {"best", Reward::Best},
    {"shaped", Reward::Shaped}, {"measured", Reward::Measured}, {"mixed", Reward::Mixed}};

constexpr double kLeastCost = 1e-9;  // microseconds; of a graph in which nothing runs

int default_steps(int32_t calls) { return std::min(64 + calls / 4, 256); }

}  // namespace

std::string to_string(Reward r) { return std::string(kRewards[static_cast<size_t>(r)].first); }
std::optional<Reward> reward_named(std::string_view name) {
  for (const auto& [known, reward] : kRewards)
    if (known == name) return reward;
  return std::nullopt;
}
std::vector<std::string> reward_names() {
  std::vector<std::string> names;
  for (const auto& [name, reward] : kRewards) names.emplace_back(name);
  return names;
}

Environment::Environment(const Graph& g, const rewrite::RuleIndex& rules,
                         const cost::CostModel& model, EnvironmentOptions options,
                         rewrite::Sizes* sizes)
    : rules_(rules),
      options_(std::move(options)),
      engine_(g, rules, model, {options_.opset, nullptr, sizes}),
      ordered_(engine_),
      observer_(engine_, std::max(engine_.cost(), kLeastCost)),
      original_(std::max(engine_.cost(), kLeastCost)),
      max_calls_(options_.max_growth * engine_.calls()),
      max_steps_(options_.max_steps > 0 ? options_.max_steps : default_steps(engine_.calls())) {
  CHECK(options_.reward != Reward::Measured || options_.measure);
  CHECK(options_.reward != Reward::Mixed || options_.memory);
  reset();
}

std::unique_ptr<rewrite::Sizes> Environment::sizes_of(const Graph& g,
                                                      const rewrite::RuleIndex& rules,
                                                      const cost::CostModel& model,
                                                      const EnvironmentOptions& options) {
  return std::make_unique<rewrite::Sizes>(rules, g.shared_pool(), model,
                                          rewrite::for_model({options.opset}, g));
}

const Observation& Environment::reset(const std::vector<rewrite::Move>& moves) {
  auto same = [](const rewrite::Move& a, const rewrite::Move& b) {
    return a.rule == b.rule && a.nodes == b.nodes && a.variables == b.variables;
  };
  // What was done in this order before is as it would be.
  auto [made, wanted] = std::ranges::mismatch(engine_.moves(), moves, same);
  auto kept = static_cast<size_t>(wanted - moves.begin());
  while (engine_.depth() > kept) engine_.undo();
  for (size_t k = kept; k < moves.size(); ++k) rewrite::redo(engine_, moves[k]);
  best_ = engine_.cost();
  steps_ = 0;
  paid_ = 0;
  if (options_.reward == Reward::Measured || options_.reward == Reward::Mixed) {
    const auto& price = options_.reward == Reward::Measured ? options_.measure : options_.memory;
    measured_ = price(engine_.to_graph());
    if (measured_0_ == 0) measured_0_ = measured_;
  }
  refresh();
  potential_ = potential();
  return observation();
}

std::vector<int32_t> Environment::allowed(double best) {
  double most = options_.ceiling * best;
  std::vector<int32_t> kept;
  overflow_ = 0;
  int32_t rule = -1;
  size_t locations = 0;
  for (const OrderedMatches::Entry& m : ordered_.now()) {
    if (engine_.cost() + m.cost_change > most || engine_.calls() + m.growth > max_calls_) continue;
    locations = m.rule == rule ? locations + 1 : 1;
    rule = m.rule;
    if (locations <= options_.max_locations)
      kept.push_back(m.number);
    else
      ++overflow_;
  }
  return kept;
}

void Environment::refresh() {
  matches_ = allowed(best_);
  observation_ = nullptr;
}

Standing Environment::standing() const {
  return {original_, best_, static_cast<double>(steps_) / max_steps_};
}

const Observation& Environment::observation() {
  if (!observation_) observation_ = &observer_.observe(standing(), matches_);
  return *observation_;
}

/// What a greedy set of matches that share no node saves.
double Environment::potential() const {
  if (options_.reward != Reward::Shaped) return 0;
  std::vector<int32_t> saving;
  for (int32_t number : matches_)
    if (engine_.match(number).cost_change < 0) saving.push_back(number);
  std::sort(saving.begin(), saving.end(), [&](int32_t a, int32_t b) {
    return rewrite::comes_first(engine_.match(a), engine_.match(b));
  });
  std::unordered_set<int32_t> taken;
  double sum = 0;
  for (int32_t number : saving) {
    const Match& m = engine_.match(number);
    if (std::ranges::any_of(m.nodes, [&](int32_t id) { return taken.count(id) > 0; })) continue;
    taken.insert(m.nodes.begin(), m.nodes.end());
    sum -= m.cost_change;
  }
  return 100 * sum / original_;
}

double Environment::reward_of(double before, bool done) {
  double change = 100 * (before - engine_.cost()) / original_;
  double best = std::min(best_, engine_.cost());
  switch (options_.reward) {
    case Reward::Change:
      return change;
    case Reward::Final:
      paid_ += change;
      return done ? paid_ : 0;
    case Reward::Best:
      return 100 * (best_ - best) / original_;
    case Reward::Shaped: {
      double next = done ? 0 : potential();
      return change + options_.discount * next - std::exchange(potential_, next);
    }
    case Reward::Measured: {
      if (!done && steps_ % options_.measure_every != 0) return 0;
      double now = options_.measure(engine_.to_graph());
      return 100 * (std::exchange(measured_, now) - now) / measured_0_;
    }
    case Reward::Mixed: {
      double now = options_.memory(engine_.to_graph());
      double memory = 100 * (std::exchange(measured_, now) - now) / std::max(1.0, measured_0_);
      return (1 - options_.memory_weight) * change + options_.memory_weight * memory;
    }
  }
  return 0;
}

StepResult Environment::step(size_t action) {
  CHECK(action <= stop());
  double before = engine_.cost();
  bool terminated = action == stop();
  ++steps_;
  if (!terminated) {
    engine_.apply(matches_[action]);
    matches_ = allowed(std::min(best_, engine_.cost()));
    observation_ = nullptr;
    terminated = matches_.empty();
  }
  return finish(before, terminated);
}

StepResult Environment::skip() {
  ++steps_;
  observation_ = nullptr;
  return finish(engine_.cost(), false);
}

StepResult Environment::finish(double before, bool terminated) {
  StepResult result;
  result.terminated = terminated;
  result.truncated = !terminated && steps_ >= max_steps_;
  result.reward = reward_of(before, result.done());
  best_ = std::min(best_, engine_.cost());
  return result;
}

Action Environment::action(size_t index) const {
  if (index == stop()) return {};
  int32_t rule = match(index).rule, location = 0;
  while (index > static_cast<size_t>(location) &&
         match(index - static_cast<size_t>(location) - 1).rule == rule)
    ++location;
  return {rule, location};
}

std::optional<size_t> Environment::index(const Action& a) const {
  if (a.rule < 0) return stop();
  auto first = std::partition_point(matches_.begin(), matches_.end(), [&](int32_t number) {
    return engine_.match(number).rule < a.rule;
  });
  size_t k = static_cast<size_t>(first - matches_.begin()) + static_cast<size_t>(a.location);
  if (a.location < 0 || k >= matches_.size() || match(k).rule != a.rule) return std::nullopt;
  return k;
}

Masks Environment::masks() const {
  Masks m;
  m.locations.assign(rules_.rules().size(), 0);
  for (int32_t number : matches_) ++m.locations[static_cast<size_t>(engine_.match(number).rule)];
  for (int32_t n : m.locations) m.rules.push_back(n > 0);
  m.rules.push_back(1);
  return m;
}

}  // namespace regraft::rl
