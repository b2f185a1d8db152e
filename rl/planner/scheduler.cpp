#include "rl/planner/scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

#include "base/hash.h"
#include "base/parallel.h"
#include "rewrite/search/paths.h"
#include "rewrite/search/reporter.h"
#include "rewrite/windows/window.h"
#include "rl/planner/gumbel.h"

namespace regraft::rl {

using rewrite::Engine;
using rewrite::Match;

namespace {

/// All matches, in the order of actions.
std::vector<int32_t> in_order(const Engine& engine) {
  std::vector<int32_t> all = engine.matches();
  std::ranges::sort(all, [&](int32_t a, int32_t b) {
    const Match &x = engine.match(a), &y = engine.match(b);
    return x.rule != y.rule ? x.rule < y.rule : rewrite::comes_first(x, y);
  });
  return all;
}

/// By node: the best of the matches that it is a node of.
std::vector<double> worth_of_nodes(const Engine& engine, const Policy& policy, double original) {
  std::vector<int32_t> matches = in_order(engine);
  double cost = original > 0 ? original : engine.cost();
  Standing standing{cost, engine.cost(), 0};
  Judgement j = policy.judge(Observer(engine, cost).observe(standing, matches));
  const std::vector<float>& worth = j.worth.empty() ? j.log_probs : j.worth;
  std::vector<double> best(static_cast<size_t>(engine.graph().id_bound()),
                           std::numeric_limits<double>::lowest());
  for (size_t k = 0; k < matches.size(); ++k)
    for (int32_t id : engine.match(matches[k]).nodes) {
      double& b = best[static_cast<size_t>(id)];
      b = std::max<double>(b, worth[k]);
    }
  return best;
}

/// Search from one graph in one window. Graphs are numbered as their ways are in `paths_`.
class Window {
 public:
  Window(Environment& env, rewrite::Region& region, uint64_t candidates)
      : env_(env),
        engine_(env.engine()),
        region_(region),
        candidates_(candidates),
        paths_(engine_.cost()) {}

  /// Best first, until nothing is left or the budget is used up. True: nothing was left.
  bool run() {
    met_.emplace(region_.identity(), 0);
    edges_.emplace_back();
    expand(0);
    while (!queue_.empty() && looked_ < candidates_) {
      Entry e = std::move(const_cast<Entry&>(queue_.top()));
      queue_.pop();
      paths_.go(engine_, here_, e.parent);
      rewrite::redo(engine_, e.move);
      here_ = e.parent;
      auto [met, added] = met_.try_emplace(region_.identity(), static_cast<int32_t>(paths_.size()));
      edges_[static_cast<size_t>(e.parent)].push_back(met->second);
      if (e.parent == 0 && met->second != 0) first_.emplace(e.action, met->second);
      if (!added) {
        engine_.undo();
        continue;
      }
      here_ = paths_.add(e.parent, std::move(e.move));
      edges_.emplace_back();
      expand(here_);
    }
    paths_.go(engine_, here_, 0);
    return queue_.empty();
  }

  /// By index of the match: microseconds that the best graph saves that it lies on a shortest way
  /// to, at least 0.
  std::map<int32_t, double> savings() const {
    std::vector<int> depth = depths();
    std::map<int32_t, double> result;
    for (const auto& [action, change] : changes_) {
      double saving = std::max(0.0, -change);
      if (auto at = first_.find(action); at != first_.end())
        saving = std::max(saving, paths_.cost(0) - least_below(at->second, depth));
      result.emplace(action, saving);
    }
    return result;
  }

 private:
  struct Entry {
    int32_t parent, action;  ///< the index of a first move
    uint64_t number;
    rewrite::Move move;
    bool operator<(const Entry& other) const {
      return std::tie(move.cost, number) > std::tie(other.move.cost, other.number);
    }
  };

  void expand(int32_t state) {
    std::unordered_map<int32_t, int32_t> actions;
    if (state == 0)
      for (int32_t number : env_.matches())
        actions.emplace(number, static_cast<int32_t>(actions.size()));
    double most = env_.options().ceiling * std::min(env_.best(), paths_.cost(0));
    auto push = [&](int32_t number) {
      const Match& m = engine_.match(number);
      auto action = actions.find(number);
      double cost = engine_.cost() + m.cost_change;
      bool allowed = state == 0 ? action != actions.end()
                                : cost <= most && engine_.calls() + m.growth <= env_.max_calls();
      if (!allowed || !region_.contains(m)) return;
      ++looked_;
      if (state == 0) changes_.emplace(action->second, m.cost_change);
      queue_.push({state,
                   state == 0 ? action->second : -1,
                   pushed_++,
                   {m.rule, m.nodes, m.variables, cost, m.cost_change}});
    };
    std::vector<int32_t> nodes = region_.nodes();
    for (int32_t id : nodes) engine_.for_matches_at(id, push);
  }

  /// Moves from the first graph to each.
  std::vector<int> depths() const {
    std::vector<int> depth(edges_.size(), -1);
    std::vector<int32_t> order{0};
    depth[0] = 0;
    for (size_t k = 0; k < order.size(); ++k)
      for (int32_t child : edges_[static_cast<size_t>(order[k])]) {
        int& d = depth[static_cast<size_t>(child)];
        if (d >= 0) continue;
        d = depth[static_cast<size_t>(order[k])] + 1;
        order.push_back(child);
      }
    return depth;
  }

  /// The least cost of graphs that the shortest ways from here lead to.
  double least_below(int32_t state, const std::vector<int>& depth) const {
    double least = paths_.cost(state);
    std::set<int32_t> seen{state};
    std::vector<int32_t> order{state};
    for (size_t k = 0; k < order.size(); ++k)
      for (int32_t child : edges_[static_cast<size_t>(order[k])]) {
        auto d = [&](int32_t s) { return depth[static_cast<size_t>(s)]; };
        if (d(child) != d(order[k]) + 1 || !seen.insert(child).second) continue;
        least = std::min(least, paths_.cost(child));
        order.push_back(child);
      }
    return least;
  }

  Environment& env_;
  Engine& engine_;
  rewrite::Region& region_;
  uint64_t candidates_, looked_ = 0, pushed_ = 0;
  rewrite::Paths paths_;
  std::priority_queue<Entry> queue_;
  std::unordered_map<uint64_t, int32_t> met_;  // by identity of the region: as good as equal
  std::vector<std::vector<int32_t>> edges_;    // by graph
  std::map<int32_t, int32_t> first_;           // by first move: the graph it leads to
  std::map<int32_t, double> changes_;          // by first move: of the cost
  int32_t here_ = 0;
};

/// Where matches end, as many as asked for, in random order.
std::vector<int32_t> random_centres(const Environment& env, int count, Rng& rng) {
  std::set<int32_t> roots;
  for (int32_t number : env.matches()) roots.insert(env.engine().match(number).root());
  std::vector<int32_t> all(roots.begin(), roots.end());
  for (size_t k = all.size(); k > 1; --k) std::swap(all[k - 1], all[rng.below(k)]);
  all.resize(std::min(all.size(), static_cast<size_t>(count)));
  return all;
}

/// The moves of greedy descent, and then random ones.
std::vector<rewrite::Move> random_walk(Environment& env, bool descend, uint64_t length, Rng& rng) {
  Engine& engine = env.engine();
  auto before = [&](int32_t a, int32_t b) {
    return rewrite::comes_first(engine.match(a), engine.match(b));
  };
  while (descend && !engine.matches().empty()) {
    int32_t number = *std::ranges::min_element(engine.matches(), before);
    double cost = engine.cost() + engine.match(number).cost_change;
    if (!rewrite::cheaper(cost, engine.cost())) break;
    engine.apply(number);
  }
  double best = std::min(env.best(), engine.cost());
  for (uint64_t k = 0; k < length; ++k) {
    std::vector<int32_t> matches = env.allowed(best);
    if (matches.empty()) break;
    engine.apply(matches[rng.below(matches.size())]);
    best = std::min(best, engine.cost());
  }
  return engine.moves();
}

}  // namespace

rewrite::WindowOrder window_order(std::shared_ptr<const Policy> policy, ScheduleOptions options) {
  return [policy, options](const Engine& engine, std::span<const int32_t> centres) {
    std::vector<double> worth = worth_of_nodes(engine, *policy, options.original), scores;
    for (int32_t id : centres) {
      double score = worth[static_cast<size_t>(id)];
      Rng rng(combine(options.seed, static_cast<uint64_t>(id)));
      if (score < options.threshold)
        score = std::numeric_limits<double>::lowest();
      else if (options.temperature > 0)
        score += options.temperature * gumbel(rng);
      scores.push_back(score);
    }
    return scores;
  };
}

Worths search_worths(Environment& env, const LabelOptions& options, Rng& rng) {
  struct Best {
    double saving = 0;
    bool exact = true;
  };
  std::map<int32_t, Best> best;
  const uint64_t priced = env.engine().priced();
  rewrite::Region region(env.engine());
  for (int32_t centre : random_centres(env, options.centres, rng)) {
    region.grow(centre, options.radius);
    Window window(env, region, options.candidates);
    bool exact = window.run();
    for (const auto& [match, saving] : window.savings()) {
      Best& b = best[match];
      b.saving = std::max(b.saving, saving);
      b.exact = b.exact && exact;
    }
  }
  Worths w;
  w.candidates = env.engine().priced() - priced;
  for (const auto& [match, b] : best) {
    w.match.push_back(match);
    w.worth.push_back(static_cast<float>(100 * b.saving / env.original()));
    w.exact.push_back(b.exact);
  }
  return w;
}

std::vector<WindowLabel> window_labels(const Graph& g, const rewrite::RuleIndex& rules,
                                       const cost::CostModel& model,
                                       const EnvironmentOptions& environment,
                                       const LabelOptions& options) {
  std::vector<WindowLabel> labels(static_cast<size_t>(std::max(0, options.states)));
  parallel_for(labels.size(), options.threads, [&](size_t k) {
    Rng rng(combine(options.seed, k));
    Environment env(g, rules, model, environment);
    uint64_t length = rng.below(static_cast<uint64_t>(options.walk) + 1);
    env.reset(random_walk(env, k % 2 == 1, length, rng));
    labels[k].observation = env.observation();
    labels[k].worths = search_worths(env, options, rng);
  });
  return labels;
}

}  // namespace regraft::rl
