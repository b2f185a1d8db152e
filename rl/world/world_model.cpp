#include "rl/world/world_model.h"

#include <cmath>
#include <unordered_map>

#include "rl/nn/store.h"

namespace regraft::rl {

using nn::Matrix;
using nn::Tape;

namespace {

constexpr float kHardlyEver = -20;  // log probability

WorldModelOptions consistent(WorldModelOptions o) {
  o.dynamics.latent = o.controller.latent = o.latent.size;
  o.dynamics.capacity = o.controller.capacity = o.latent.capacity;
  o.controller.locations = o.dynamics.locations;
  return o;
}

class ControllerPolicy final : public Policy {
 public:
  explicit ControllerPolicy(const WorldModel& world) : world_(world) {}
  Judgement judge(const Observation& o) const override {
    const Observation* state = &o;
    Matrix<float> z = world_.latent.encode(std::span(&state, 1), 1);
    Offers offers = world_.vocabulary.offers(o, world_.controller.options().locations);
    const Offers* offered = &offers;
    Tape<float> tape(world_.controller.parameters(), nullptr);
    auto out = world_.controller.forward(tape, z, std::span(&offered, 1));
    const auto& log_probs = tape.value(out.log_probs);
    Judgement j;
    j.value = tape.value(out.values)(0, 0);
    j.log_probs.assign(o.matches() + 1, kHardlyEver);
    j.log_probs.back() = log_probs(log_probs.rows() - 1, 0);
    std::vector<int64_t> first(offers.counts.size() + 2, -1);
    for (size_t k = out.choices.size(); k-- > 0;)
      first[static_cast<size_t>(out.choices[k].slot)] = static_cast<int64_t>(k);
    int32_t rule = -1, location = 0;
    for (int32_t match : in_order(o)) {
      auto at = static_cast<size_t>(match);
      location = o.rule[at] == rule ? location + 1 : 0;
      rule = o.rule[at];
      int64_t start = first[static_cast<size_t>(world_.vocabulary.slot(rule))];
      if (start >= 0 && location < world_.controller.options().locations)
        j.log_probs[at] = log_probs(start + location, 0);
    }
    normalise(j.log_probs);
    return j;
  }
  std::string description() const override { return "controller of a world model"; }

 private:
  static void normalise(std::vector<float>& log_probs) {
    double sum = 0;
    for (float p : log_probs) sum += std::exp(p);
    for (float& p : log_probs) p -= static_cast<float>(std::log(sum));
  }

  WorldModel world_;
};

/// By rule of the index. Several rules may have one name: the second is "name#2" here.
std::vector<std::string> names_of(const rewrite::RuleIndex& rules) {
  std::unordered_map<std::string, int> met;
  std::vector<std::string> names;
  for (const auto& r : rules.rules()) {
    int number = ++met[r.rule.name];
    names.push_back(r.rule.name + (number > 1 ? "#" + std::to_string(number) : ""));
  }
  return names;
}

/// Sizes that decide how many parameters there are.
std::map<std::string, int64_t> sizes(const WorldModel& w) {
  const LatentOptions& v = w.latent.options();
  const DynamicsOptions& m = w.dynamics.options();
  return {{"v.size", v.size},
          {"v.hidden", v.hidden},
          {"v.capacity", v.capacity},
          {"v.width", v.network.width},
          {"v.network", v.network.hidden},
          {"v.rounds", v.network.rounds},
          {"v.global", v.network.global_messages},
          {"v.factorised", v.network.factorised},
          {"m.hidden", m.hidden},
          {"m.components", m.components},
          {"m.locations", m.locations},
          {"m.action", m.action},
          {"m.heads", m.heads},
          {"c.hidden", w.controller.options().hidden}};
}

Result<WorldModelOptions> options_of(const Checkpoint& file) {
  constexpr int64_t kMost = 4096;
  std::optional<std::string> missing;
  auto size = [&](const std::string& name) {
    auto at = file.counters.find(name);
    const int64_t* n = at == file.counters.end() ? nullptr : std::get_if<int64_t>(&at->second);
    bool may_be_0 = name == "v.rounds" || name == "v.global" || name == "v.factorised";
    if (!n || *n < (may_be_0 ? 0 : 1) || *n > kMost) missing = name;
    return missing ? 1 : static_cast<int>(*n);
  };
  WorldModelOptions o;
  o.latent.size = size("v.size"), o.latent.hidden = size("v.hidden");
  o.latent.capacity = size("v.capacity"), o.latent.network.width = size("v.width");
  o.latent.network.hidden = size("v.network"), o.latent.network.rounds = size("v.rounds");
  o.latent.network.global_messages = size("v.global") != 0;
  o.latent.network.factorised = size("v.factorised") != 0;
  o.dynamics.hidden = size("m.hidden"), o.dynamics.components = size("m.components");
  o.dynamics.locations = size("m.locations"), o.dynamics.action = size("m.action");
  o.dynamics.heads = size("m.heads"), o.controller.hidden = size("c.hidden");
  if (missing) return error("the file has no number '" + *missing + "' of a size");
  return o;
}

/// Error unless V and C in the file have as many numbers as their largest matrices need.
Status check_sizes(const Checkpoint& file, const WorldModelOptions& o) {
  int64_t width = o.latent.network.width, of_network = o.latent.network.hidden;
  int64_t hidden = o.latent.hidden, capacity = o.latent.capacity, size = o.latent.size;
  int64_t v = width * width * (3 + 7 * o.latent.network.rounds) +
              of_network * (of_network + 4 * width) + size * (width + hidden) +
              3 * hidden * capacity;
  int64_t c = o.controller.hidden * (o.controller.hidden + size + capacity + o.dynamics.locations);
  if (v > nn::count(file, "v") || c > nn::count(file, "c"))
    return error("the file's networks are of larger sizes than their matrices");
  return {};
}

template <class Part>
Status load_part(const Checkpoint& from, const std::string& name, Part& part) {
  RETURN_IF_ERROR(nn::load(from, name, part.parameters()));
  return nn::load(from, name + ".adam", part.adam(), part.parameters());
}

template <class Part>
void store_part(Checkpoint& into, const std::string& name, const Part& part) {
  nn::store(into, name, part.parameters());
  nn::store(into, name + ".adam", part.adam(), part.parameters());
}

/// Sizes, and the rules of the vocabulary.
void put_facts(Checkpoint& into, const WorldModel& world, const rewrite::RuleIndex& rules,
               const std::string& prefix) {
  into.feature_hash = feature_hash();
  for (const auto& [name, size] : sizes(world)) into.counters[name] = size;
  auto& list = into.lists[prefix + "rules"];
  auto names = names_of(rules);
  for (int32_t rule : world.vocabulary.rules())
    list.push_back(rule < 0 ? "" : names[static_cast<size_t>(rule)]);
}

Status load_vocabulary(const Checkpoint& from, WorldModel& world, const rewrite::RuleIndex& rules,
                       const std::string& prefix) {
  auto names = from.lists.find(prefix + "rules");
  if (names == from.lists.end()) return error("the file has no list '" + prefix + "rules'");
  std::unordered_map<std::string, int32_t> numbers;
  for (const std::string& name : names_of(rules))
    numbers.emplace(name, static_cast<int32_t>(numbers.size()));
  std::vector<int32_t> known;
  for (const std::string& name : names->second) {
    auto at = numbers.find(name);
    known.push_back(at == numbers.end() ? -1 : at->second);
  }
  if (static_cast<int32_t>(known.size()) > world.vocabulary.capacity())
    return error("the file has more rules than the model has room for");
  world.vocabulary = Vocabulary(world.vocabulary.capacity(), known);
  return {};
}

}  // namespace

WorldModel::WorldModel(const WorldModelOptions& options, size_t rule_columns, uint64_t seed)
    : latent(options.latent, rule_columns, combine(seed, 1)),
      dynamics(consistent(options).dynamics, combine(seed, 2)),
      controller(consistent(options).controller, combine(seed, 3)),
      vocabulary(options.latent.capacity) {}

Track track_of(const WorldModel& world, const Trajectory& e, int threads) {
  std::vector<const Observation*> states;
  Track t;
  for (const Observation& o : e.observations) {
    states.push_back(&o);
    t.offers.push_back(world.vocabulary.offers(o, world.dynamics.options().locations));
    t.saved.push_back(100 * (1 - o.global[0]));
  }
  t.z = world.latent.encode(states, threads);
  for (const Action& a : e.actions)
    t.choices.push_back({world.vocabulary.slot(a.rule), a.location});
  t.terminated = e.terminated;
  return t;
}

std::unique_ptr<Policy> controller_policy(const WorldModel& world) {
  return std::make_unique<ControllerPolicy>(world);
}

void store(Checkpoint& into, const WorldModel& world, const rewrite::RuleIndex& rules,
           const std::string& prefix) {
  put_facts(into, world, rules, prefix);
  store_part(into, prefix + "v", world.latent);
  store_part(into, prefix + "m", world.dynamics);
  store_part(into, prefix + "c", world.controller);
}

Status load(const Checkpoint& from, WorldModel& world, const rewrite::RuleIndex& rules,
            const std::string& prefix) {
  for (const auto& [name, size] : sizes(world)) {
    auto at = from.counters.find(name);
    if (at == from.counters.end() || !(at->second == std::variant<int64_t, uint64_t>(size)))
      return error("the file's '" + name + "' is not " + std::to_string(size));
  }
  RETURN_IF_ERROR(load_part(from, prefix + "v", world.latent));
  RETURN_IF_ERROR(load_part(from, prefix + "m", world.dynamics));
  RETURN_IF_ERROR(load_part(from, prefix + "c", world.controller));
  return load_vocabulary(from, world, rules, prefix);
}

Checkpoint controller_file(const WorldModel& world, const rewrite::RuleIndex& rules) {
  Checkpoint file;
  file.kind = kWorldModel;
  put_facts(file, world, rules, "");
  nn::store(file, "v", world.latent.parameters());
  nn::store(file, "c", world.controller.parameters());
  return file;
}

Result<std::unique_ptr<Policy>> read_controller(const Checkpoint& file,
                                                const rewrite::RuleIndex& rules) {
  RETURN_IF_ERROR(file.expect(kWorldModel, feature_hash()));
  ASSIGN_OR_RETURN(WorldModelOptions options, options_of(file));
  RETURN_IF_ERROR(check_sizes(file, options));
  // M is not in the file and asked for nothing.
  options.dynamics.hidden = options.dynamics.heads = 1;
  options.dynamics.action = options.dynamics.components = 1;
  WorldModel world(options, describe(rules).columns, 0);
  RETURN_IF_ERROR(nn::load(file, "v", world.latent.parameters()));
  RETURN_IF_ERROR(nn::load(file, "c", world.controller.parameters()));
  RETURN_IF_ERROR(load_vocabulary(file, world, rules, ""));
  return controller_policy(world);
}

}  // namespace regraft::rl
