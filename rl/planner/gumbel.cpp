#include "rl/planner/gumbel.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/check.h"
#include "base/hash.h"
#include "rewrite/search/paths.h"

namespace regraft::rl {
namespace {

struct Edge {
  int32_t child = -1;  ///< -1: not met yet
  int32_t visits = 0;
  double sum = 0;     ///< of the returns of its visits
  double reward = 0;  ///< what the move saves, once the child is met
};

/// A graph that was met, on the way that it was met first. The last edge is to stop.
struct State {
  double cost = 0, least = 0;  ///< microseconds: its own, the least on the way and in the episode
  double value = 0;            ///< what the policy says, at least 0
  double best = 0;             ///< what the cheapest graph met below saves
  std::vector<float> logits;
  std::vector<Edge> edges;
  bool on_path = false;
  size_t stop() const { return edges.size() - 1; }
};

struct IdentityHash {
  size_t operator()(const rewrite::Identity& id) const { return combine(id.outputs, id.nodes); }
};

/// How edges look to the choice between them.
enum class Look : uint8_t { Mean, MeanOrBest };

/// States are numbered as their ways are in `paths_`; 0 is the present one.
class Tree {
 public:
  Tree(Environment& env, const Policy& policy, const PlannerOptions& options, Rng& rng)
      : env_(env),
        engine_(env.engine()),
        policy_(policy),
        options_(options),
        observer_(engine_, env.original()),
        paths_(engine_.cost()),
        priced_(engine_.priced()) {
    known_.emplace(engine_.identity(), 0);
    add_state(env.best(), env.observation());
    for (size_t k = 0; k < states_[0].edges.size(); ++k)
      noise_.push_back(options.gumbel_scale == 0 ? 0 : options.gumbel_scale * gumbel(rng));
  }

  Plan run() {
    auto actions = static_cast<int>(states_[0].edges.size());
    for (int32_t visits :
         halving_schedule(std::min(options_.considered, actions), options_.simulations))
      simulate(best_at_root(visits, Look::Mean));
    paths_.go(engine_, here_, 0);
    Plan p = answer();
    env_.allowed(env_.best());  // so that Environment::overflow is of the present state
    return p;
  }

 private:
  State& at(int32_t k) { return states_[static_cast<size_t>(k)]; }
  const State& at(int32_t k) const { return states_[static_cast<size_t>(k)]; }
  double percent(double microseconds) const { return 100 * microseconds / env_.original(); }

  void add_state(double least, const Observation& o) {
    Judgement j = policy_.judge(o);
    ++judgements_;
    State s;
    s.cost = engine_.cost();
    s.least = std::min(least, s.cost);
    s.edges.resize(j.log_probs.size());
    if (s.stop() > 0) s.value = std::max(0.0, j.value);
    s.logits = std::move(j.log_probs);
    CHECK(s.edges.size() == o.matches() + 1);
    states_.push_back(std::move(s));
  }

  double q(const State& s, size_t action, Look look) const {
    const Edge& e = s.edges[action];
    double mean = e.sum / e.visits;
    if (look == Look::Mean || e.child <= 0) return mean;
    return std::max(mean, e.reward + at(e.child).best);
  }

  /// Of all actions: those that were not tried are worth what the others and the policy suggest.
  std::vector<double> completed(const State& s, Look look) const {
    double visits = 0, weight = 0, sum = 0;
    for (size_t k = 0; k < s.edges.size(); ++k) {
      if (s.edges[k].visits == 0) continue;
      double p = std::max(1e-30, std::exp(static_cast<double>(s.logits[k])));
      visits += s.edges[k].visits;
      weight += p;
      sum += p * q(s, k, look);
    }
    double mixed = visits > 0 ? (s.value + visits * sum / weight) / (1 + visits) : s.value;
    std::vector<double> all(s.edges.size(), mixed);
    for (size_t k = 0; k < all.size(); ++k)
      if (s.edges[k].visits > 0) all[k] = q(s, k, look);
    all.back() = 0;
    return all;
  }

  /// Logits of the better policy.
  std::vector<double> improved_logits(const State& s, Look look) const {
    std::vector<double> z = completed(s, look);
    auto [low, high] = std::ranges::minmax(z);
    int32_t most = 0;
    for (const Edge& e : s.edges) most = std::max(most, e.visits);
    double scale = (options_.c_visit + most) * options_.c_scale / std::max(high - low, 1e-8);
    for (size_t k = 0; k < z.size(); ++k) z[k] = s.logits[k] + scale * (z[k] - low);
    return z;
  }

  static std::vector<double> softmax(std::vector<double> z) {
    double most = std::ranges::max(z), sum = 0;
    for (double& x : z) sum += x = std::exp(x - most);
    for (double& x : z) x /= sum;
    return z;
  }

  /// Of the actions that were tried so often, at the root.
  size_t best_at_root(int32_t visits, Look look) const {
    const State& s = states_[0];
    std::vector<double> z = improved_logits(s, look);
    size_t best = z.size();
    for (size_t k = 0; k < z.size(); ++k) {
      z[k] += noise_[k];
      if (s.edges[k].visits == visits && (best == z.size() || z[k] > z[best])) best = k;
    }
    CHECK(best < z.size());
    return best;
  }

  /// The action that is tried least for its share in the better policy. A graph of the present way
  /// is not entered again.
  size_t choose(const State& s) const {
    std::vector<double> p = softmax(improved_logits(s, Look::Mean));
    int32_t visits = 1;
    for (const Edge& e : s.edges) visits += e.visits;
    size_t best = s.stop();
    double score = -HUGE_VAL;
    for (size_t k = 0; k < p.size(); ++k) {
      const Edge& e = s.edges[k];
      if (e.child >= 0 && at(e.child).on_path) continue;
      double x = p[k] - static_cast<double>(e.visits) / visits;
      if (x <= score) continue;
      score = x;
      best = k;
    }
    return best;
  }

  /// Goes down to a graph that was not met, to the limit of depth or to where it stops.
  void simulate(size_t action) {
    ++simulations_;
    size_t deepest =
        static_cast<size_t>(std::max(1, std::min(options_.depth, env_.max_steps() - env_.steps())));
    path_.clear();
    double end = 0;
    for (int32_t state = 0;; action = choose(at(state))) {
      at(state).on_path = true;
      path_.emplace_back(state, action);
      if (action == at(state).stop()) break;
      int32_t child = at(state).edges[action].child;
      size_t met = states_.size();
      if (child < 0) child = meet(state, action);
      if (at(child).on_path) break;  // back again: as good as to stop
      end = at(child).value;
      size_t depth = std::max(path_.size(), paths_.depth(child));
      if (states_.size() > met || depth >= deepest || at(child).stop() == 0) break;
      state = child;
      end = 0;
    }
    back_up(end);
  }

  void back_up(double value) {
    for (size_t k = path_.size(); k-- > 0;) {
      auto [state, action] = path_[k];
      State& s = at(state);
      s.on_path = false;
      Edge& e = s.edges[action];
      ++e.visits;
      if (e.child >= 0 && !at(e.child).on_path)
        s.best = std::max(s.best, e.reward + at(e.child).best);
      e.sum += value += e.reward;
    }
  }

  /// Applies an action. Ways that lead to the same graph meet in one state.
  int32_t meet(int32_t state, size_t action) {
    paths_.go(engine_, here_, state);
    here_ = state;
    double least = at(state).least;
    engine_.apply(env_.allowed(least)[action]);
    auto next = static_cast<int32_t>(states_.size());
    auto [known, added] = known_.try_emplace(engine_.identity(), next);
    double reward = percent(at(state).cost - engine_.cost());
    if (added) {
      here_ = paths_.add(state, engine_.moves().back());
      least = std::min(least, engine_.cost());
      double time = static_cast<double>(env_.steps()) + static_cast<double>(paths_.depth(here_));
      Standing standing{env_.original(), least, time / env_.max_steps()};
      add_state(least, observer_.observe(standing, env_.allowed(least)));
    } else {
      engine_.undo();
    }
    Edge& e = at(state).edges[action];
    e.child = known->second;
    e.reward = reward;
    return e.child;
  }

  Plan answer() const {
    const State& root = states_[0];
    Plan p;
    for (const Edge& e : root.edges) p.visits.push_back(e.visits);
    p.action = best_at_root(std::ranges::max(p.visits), Look::MeanOrBest);
    std::vector<double> z = softmax(improved_logits(root, Look::MeanOrBest));
    std::vector<double> values = completed(root, Look::MeanOrBest);
    for (size_t k = 0; k < z.size(); ++k) p.value += z[k] * values[k];
    p.improved.assign(z.begin(), z.end());
    int32_t best = 0;
    for (int32_t k = 1; k < static_cast<int32_t>(states_.size()); ++k)
      if (at(k).cost < at(best).cost) best = k;
    p.best = at(best).cost;
    p.moves = paths_.moves(best);
    p.simulations = simulations_;
    p.judgements = judgements_;
    p.candidates = engine_.priced() - priced_;
    return p;
  }

  Environment& env_;
  rewrite::Engine& engine_;
  const Policy& policy_;
  const PlannerOptions& options_;
  Observer observer_;
  rewrite::Paths paths_;
  uint64_t priced_, simulations_ = 0, judgements_ = 0;
  std::vector<State> states_;
  std::unordered_map<rewrite::Identity, int32_t, IdentityHash> known_;
  std::vector<double> noise_;
  std::vector<std::pair<int32_t, size_t>> path_;
  int32_t here_ = 0;
};

}  // namespace

double gumbel(Rng& rng) { return -std::log(-std::log(std::max(rng.unit(), 0x1.0p-60))); }

std::vector<int32_t> halving_schedule(int considered, int simulations) {
  std::vector<int32_t> schedule, visits(static_cast<size_t>(considered), 0);
  int phases = 1;
  while ((1 << phases) < considered) ++phases;
  auto length = static_cast<size_t>(std::max(0, simulations));
  for (int left = considered; schedule.size() < length; left = std::max(2, left / 2)) {
    left = std::min(left, considered);
    for (int extra = std::max(1, simulations / (phases * left)); extra > 0; --extra)
      for (int k = 0; k < left; ++k) schedule.push_back(visits[static_cast<size_t>(k)]++);
  }
  schedule.resize(length);
  return schedule;
}

Plan plan(Environment& env, const Policy& policy, const PlannerOptions& options, Rng& rng) {
  return Tree(env, policy, options, rng).run();
}

}  // namespace regraft::rl
