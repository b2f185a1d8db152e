#include "rl/planner/proposals.h"

#include <algorithm>
#include <numeric>

#include "base/hash.h"
#include "rewrite/search/reporter.h"

namespace regraft::rl {

using rewrite::Match;
using rewrite::StopReason;

Proposals::Proposals(Environment& env, const Policy& policy, const ProposalOptions& options,
                     const Stop& stop)
    : env_(env),
      engine_(env.engine()),
      policy_(policy),
      options_(options),
      stop_(stop),
      original_(engine_.cost()),
      observer_(engine_, original_),
      region_(engine_) {}

/// Numbers of matches, the most probable first.
std::vector<int32_t> Proposals::ranked() {
  std::vector<int32_t> shown = env_.allowed(engine_.cost());
  Judgement j = policy_.judge(observer_.observe({original_, engine_.cost(), 0}, shown));
  std::vector<size_t> order(shown.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t k) { return j.log_probs[k]; });
  if (order.size() > options_.looked_at) order.resize(options_.looked_at);
  std::vector<int32_t> numbers;
  for (size_t k : order) numbers.push_back(shown[k]);
  return numbers;
}

/// What is near the match, which `region_` is from now on, and where in it the match is.
uint64_t Proposals::name_of(const Match& m, int radius) {
  region_.grow(m.root(), radius);
  return combine(region_.likeness(m), static_cast<uint64_t>(radius));
}

/// Makes what is most probable nearby, until the graph is cheaper than `before`.
void Proposals::follow(double before, int steps) {
  for (int k = 0; k < steps && !rewrite::cheaper(engine_.cost(), before); ++k) {
    if (stop_.must_end()) return;
    std::vector<int32_t> shown = env_.allowed(before);
    Judgement j = policy_.judge(observer_.observe({original_, before, 0}, shown));
    int32_t best = -1;
    float most = 0;
    for (size_t i = 0; i < shown.size(); ++i) {
      if ((best >= 0 && j.log_probs[i] <= most) || !region_.contains(engine_.match(shown[i])))
        continue;
      best = shown[i];
      most = j.log_probs[i];
    }
    if (best < 0) return;
    engine_.apply(best);
  }
}

/// Makes a match and what is best after it nearby, or nothing.
bool Proposals::pays(int32_t number, const ProposalEffort& effort) {
  const double before = engine_.cost();
  const size_t depth = engine_.depth();
  engine_.apply(number);
  if (effort.followed > 0) follow(before, effort.followed);
  if (effort.followed == 0) {
    rewrite::WindowLimits limits{effort.expansions, effort.candidates, env_.max_calls()};
    rewrite::search_window(engine_, region_, limits, stop_);
  }
  ++tried_;
  if (rewrite::cheaper(engine_.cost(), before)) return true;
  while (engine_.depth() > depth) engine_.undo();
  return false;
}

StopReason Proposals::round(const ProposalEffort& effort, const AfterTry& after) {
  kept_ = 0;
  std::vector<rewrite::Move> moves;
  for (int32_t number : ranked()) {
    const Match& m = engine_.match(number);
    moves.push_back({m.rule, m.nodes, m.variables, 0, 0, 0});
  }
  size_t left = effort.tries;
  for (const rewrite::Move& move : moves) {
    if (left == 0) break;
    auto alive = [&](int32_t id) { return engine_.graph().alive(id); };
    if (!std::ranges::all_of(move.nodes, alive)) continue;
    const int32_t number = engine_.find(move);
    if (number < 0) continue;
    const uint64_t name = name_of(engine_.match(number), effort.radius);
    if (failed_.contains(name)) continue;
    --left;
    if (pays(number, effort))
      ++kept_;
    else
      failed_.insert(name);
    if (auto over = after()) return *over;
  }
  return StopReason::Exhausted;
}

}  // namespace regraft::rl
