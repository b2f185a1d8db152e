#include "rl/search.h"

#include <algorithm>
#include <optional>

#include "rewrite/search/reporter.h"
#include "rewrite/windows/windows.h"
#include "rl/environment/environment.h"
#include "rl/environment/episodes.h"
#include "rl/network/follow.h"
#include "rl/planner/proposals.h"
#include "rl/planner/scheduler.h"

namespace regraft::rl {

using rewrite::Move;
using rewrite::Reporter;
using rewrite::SearchReport;
using rewrite::StopReason;

namespace {

constexpr std::pair<std::string_view, PolicyMode> kModes[] = {
    {"alone", PolicyMode::Alone},     {"greedy", PolicyMode::Greedy},
    {"sampled", PolicyMode::Sampled}, {"scheduled", PolicyMode::Scheduled},
    {"planned", PolicyMode::Planned}, {"proposed", PolicyMode::Proposed}};

constexpr int kIdle = 64;  // steps

/// Episodes on one graph, and the cheapest graph that any of them met.
class Episodes {
 public:
  Episodes(const Graph& g, const rewrite::RuleIndex& rules, const cost::CostModel& model,
           const Policy& policy, PolicyMode mode, const rewrite::SearchOptions& options,
           const Stop& stop)
      : policy_(policy),
        stop_(stop),
        environment_(g, rules, model, environment_options(g, mode, options)),
        reporter_("policy", environment_.original(), rules, options, stop, start_) {}

  StopReason alone() {
    return play(
        [&](const std::vector<float>& log_probs) { return most_wanted(environment_, log_probs); });
  }

  /// Downhill, so that no more is spent than that takes where nothing better is known; then the
  /// policy's way, and downhill again from the cheapest graph on it.
  StopReason greedy() {
    auto reason = descend();
    if (reason != StopReason::Exhausted) return reason;
    reason = can_follow() ? followed() : alone();
    if (reason != StopReason::Exhausted) return reason;
    rewrite::Engine& engine = environment_.engine();
    while (engine.depth() > least_depth_) engine.undo();
    return descend();
  }

  /// Downhill, and from there what the policy proposes, in turn, until it proposes nothing that
  /// pays.
  StopReason proposed(const ProposalOptions& options) {
    auto reason = descend();
    if (reason != StopReason::Exhausted) return reason;
    Proposals proposals(environment_, policy_, options, stop_);
    auto after = [&] {
      count();
      offer();
      return reporter_.over();
    };
    for (size_t k = 0; k < options.efforts.size();) {
      reason = proposals.round(options.efforts[k], after);
      reporter_.report.expanded = proposals.tried();
      if (reason != StopReason::Exhausted) return reason;
      k = proposals.kept() > 0 ? 0 : k + 1;
      if (proposals.kept() > 0) reason = descend();
      if (reason != StopReason::Exhausted) return reason;
    }
    return StopReason::Exhausted;
  }

  StopReason sampled(uint64_t seed) {
    Rng rng(seed);
    for (;;) {
      if (auto reason = reporter_.over()) return *reason;
      reporter_.look(1);  // so that it ends where nothing can be done
      play([&](const std::vector<float>& log_probs) { return sample(log_probs, rng); });
    }
  }

  StopReason planned(const PlannerOptions& planner, uint64_t seed) {
    auto reason = descend();
    if (reason != StopReason::Exhausted) return reason;
    Rng rng(seed);
    reset();
    for (bool done = environment_.stop() == 0; !done;) {
      count();
      if (auto over = reporter_.over()) return *over;
      Plan next = plan(environment_, policy_, planner, rng);
      if (next.best < reporter_.best()) {
        std::vector<Move> moves = environment_.engine().moves();
        moves.insert(moves.end(), next.moves.begin(), next.moves.end());
        offer(next.best, std::move(moves));
      }
      done = environment_.step(next.action).done();
      offer();
    }
    return StopReason::Exhausted;
  }

  SearchReport finish(StopReason reason) && {
    go_to_best();
    return std::move(reporter_).finish(reason, best_moves_, environment_.engine().to_graph());
  }

 private:
  /// From where the engine is. Where a match saves it does not stop; it ends where nothing became
  /// cheaper for a while.
  StopReason followed() {
    least_ = environment_.engine().cost();
    least_depth_ = environment_.engine().depth();
    Follower follower(*policy_.network(), rules(), environment_);
    for (int idle = 0; idle < kIdle; ++idle) {
      count();
      if (auto reason = reporter_.over()) return *reason;
      int32_t number = follower.best();
      if (number < 0) number = follower.best_saving();
      if (number < 0) break;
      double before = least_;
      follower.apply(number);
      offer();
      if (least_ < before) idle = 0;
    }
    return StopReason::Exhausted;
  }

  StopReason descend() {
    rewrite::Engine& engine = environment_.engine();
    double best = reporter_.best();
    count();
    StopReason reason = rewrite::descend(engine, reporter_, 0, counted_);
    if (reporter_.best() < best) best_moves_ = engine.moves();
    counted_ = engine.priced();
    return reason;
  }

  void go_to_best() {
    rewrite::Engine& engine = environment_.engine();
    while (engine.depth() > 0) engine.undo();
    for (const Move& m : best_moves_) rewrite::redo(engine, m);
  }
  static EnvironmentOptions environment_options(const Graph& g, PolicyMode mode,
                                                const rewrite::SearchOptions& options) {
    EnvironmentOptions o;
    // Beside other searches it is not cut off where an episode of training would be.
    if (mode == PolicyMode::Alone) o.max_steps = 64 + 2 * static_cast<int>(g.node_count());
    o.max_growth = options.max_growth;
    o.opset = options.opset;
    return o;
  }
  void count() {
    uint64_t priced = environment_.engine().priced();
    reporter_.look(priced - counted_);
    counted_ = priced;
  }
  void reset() {
    environment_.reset();
    least_ = environment_.cost();
    least_depth_ = 0;
  }
  void offer() {
    if (environment_.cost() < least_) {
      least_ = environment_.cost();
      least_depth_ = environment_.engine().depth();
    }
    offer(environment_.cost(), environment_.engine().moves());
  }
  void offer(double cost, const std::vector<Move>& moves) {
    if (moves.empty() || !reporter_.offer(cost, moves.back().rule, moves.size())) return;
    best_moves_ = moves;
  }

  bool can_follow() const { return policy_.network() && Follower::can_follow(*policy_.network()); }

  /// Encoded, for all episodes. REQUIRES: a network.
  std::shared_ptr<const Follower::Rows> rules() {
    if (!rules_) rules_ = Follower::encoded(*policy_.network(), describe(environment_.rules()));
    return rules_;
  }

  /// `choose`: an action, given the logarithms of their probabilities.
  template <class Choice>
  StopReason play(Choice choose) {
    reset();
    std::optional<Follower> follower;
    if (can_follow()) follower.emplace(*policy_.network(), rules(), environment_);
    for (bool done = environment_.stop() == 0; !done; offer()) {
      count();
      if (auto reason = reporter_.over()) return *reason;
      ++reporter_.report.expanded;
      Judgement said = follower ? follower->judge() : policy_.judge(environment_.observation());
      size_t action = choose(said.log_probs);
      bool applies = action != environment_.stop();
      done = environment_.step(action).done();
      if (follower && applies) follower->follow();
    }
    return StopReason::Exhausted;
  }

  const Policy& policy_;
  const Stop& stop_;
  Reporter::Clock::time_point start_ = Reporter::Clock::now();
  Environment environment_;
  Reporter reporter_;
  std::shared_ptr<const Follower::Rows> rules_;
  std::vector<Move> best_moves_;
  double least_ = 0;  // of the present episode, and how many moves lead there
  size_t least_depth_ = 0;
  uint64_t counted_ = 0;
};

/// Goes on from a report's best graph with windows in the policy's order.
void add_windows(SearchReport& report, const std::shared_ptr<const Policy>& policy,
                 const rewrite::RuleIndex& rules, const cost::CostModel& model,
                 rewrite::SearchOptions options, const Stop& stop) {
  if (report.candidates >= options.budget) return;
  options.budget -= report.candidates;
  rewrite::Windows windows(window_order(policy));
  SearchReport next = windows.search(report.best, rules, model, options, stop);
  report.stop = next.stop;
  uint64_t candidates = next.candidates, expanded = next.expanded;
  double seconds = next.seconds;
  rewrite::append(report, std::move(next), report.seconds);
  report.candidates += candidates;
  report.expanded += expanded;
  report.seconds += seconds;
}

}  // namespace

std::optional<PolicyMode> policy_mode_named(std::string_view name) {
  for (const auto& [known, mode] : kModes)
    if (known == name) return mode;
  return std::nullopt;
}

std::vector<std::string> policy_mode_names() {
  std::vector<std::string> names;
  for (const auto& [name, mode] : kModes) names.emplace_back(name);
  return names;
}

SearchReport PolicySearch::search(const Graph& g, const rewrite::RuleIndex& rules,
                                  const cost::CostModel& model,
                                  const rewrite::SearchOptions& options, const Stop& stop) const {
  Episodes episodes(g, rules, model, *policy_, mode_, options, stop);
  StopReason reason = mode_ == PolicyMode::Alone      ? episodes.alone()
                      : mode_ == PolicyMode::Planned  ? episodes.planned(planner_, options.seed)
                      : mode_ == PolicyMode::Proposed ? episodes.proposed({})
                                                      : episodes.greedy();
  if (mode_ == PolicyMode::Sampled && reason == StopReason::Exhausted)
    reason = episodes.sampled(options.seed);
  SearchReport report = std::move(episodes).finish(reason);
  bool windows = mode_ == PolicyMode::Scheduled || mode_ == PolicyMode::Planned;
  if (windows && reason == StopReason::Exhausted)
    add_windows(report, policy_, rules, model, options, stop);
  return report;
}

}  // namespace regraft::rl
