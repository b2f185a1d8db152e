#include "cli/optimization/obstacles.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cost/profile/objective.h"
#include "rewrite/engine/engine.h"

namespace regraft::cli {
namespace {

using rewrite::Misfit;

constexpr size_t kPriced = 3;         // matches at one place, those first that the sums like
constexpr double kLeastGain = 0.002;  // of the whole graph, that counts as one
constexpr rewrite::PlaceLimits kFewPlaces = {64, 256, 2048};

/// With what the runtime fuses marked, as the search sees it.
Graph with_fusions(const Graph& g, const ChosenCost& cost, const std::string& target) {
  if (!cost.profiled) return g;
  const cost::Runtime* runtime = cost::find_runtime(target);
  return cost::with_fusions(g, runtime ? *runtime : cost.profiled->runtime());
}

/// Directions that --numerics leaves out of this model.
std::vector<Rule> rules_left_out(const rewrite::RuleIndex& rules) {
  std::vector<Rule> all = rules.left_out();
  for (const auto& compiled : rules.rules())
    if (!rules.admits(compiled.rule, DType::F16)) all.push_back(compiled.rule);
  for (Rule& rule : all) rule.both = false;
  return all;
}

/// How a misfit counts; nullopt: it says nothing to anyone.
std::optional<Obstacle> obstacle_of(Misfit::Kind kind) {
  switch (kind) {
    case Misfit::Attribute:
    case Misfit::Equality:
    case Misfit::Number:
    case Misfit::Range:
    case Misfit::Condition:
    case Misfit::RightSide:
    case Misfit::Empty:
    case Misfit::Fusion:
    case Misfit::Axes:
      return Obstacle::Condition;
    case Misfit::Unknown:
    case Misfit::Float16:
    case Misfit::Ranks:
    case Misfit::Ones:
    case Misfit::Sizes:
      return Obstacle::Signature;
    case Misfit::None:
    case Misfit::Effect:
    case Misfit::Data:  // as nearly every weight
      break;
  }
  return std::nullopt;
}

/// By how many calls a rule makes the graph smaller.
int shrinks(const Rule& rule) {
  return static_cast<int>(size(rule.lhs)) - static_cast<int>(size(rule.rhs));
}

/// The rule that comes nearest: it leaves fewer calls, gets far, and has many operators in common.
struct Nearest {
  Reason reason;
  std::tuple<bool, int, size_t> rank;
  size_t rules = 0;
};

}  // namespace

/// All matches of some rules in the result.
class Obstacles::Matches {
 public:
  Matches(const Graph& g, const rewrite::RuleIndex& rules, const cost::Objective& objective,
          const cost::CostModel& model, Opset opset, const Stop& stop)
      : rules_(rules),
        objective_(objective),
        engine_(g, rules_, model, {opset, &stop}),
        before_(objective.price(g)),
        stop_(stop) {
    for (int32_t number : engine_.matches())
      for (int32_t id : engine_.match(number).nodes) at(id).push_back(number);
  }

  struct Best {
    size_t matches = 0;
    const Rule* rule = nullptr;
    double change = 0;  ///< microseconds of the whole graph
  };
  /// Of those that some of the nodes are part of.
  Best best_at(const std::vector<int32_t>& nodes) {
    std::set<int32_t> numbers;
    for (int32_t id : nodes) numbers.insert(at(id).begin(), at(id).end());
    std::vector<int32_t> order(numbers.begin(), numbers.end());
    std::ranges::stable_sort(order, [&](int32_t a, int32_t b) {
      return engine_.match(a).cost_change < engine_.match(b).cost_change;
    });
    Best best{order.size(), nullptr, 0};
    for (size_t k = 0; k < std::min(kPriced, order.size()); ++k) {
      double change = price(order[k]);
      if (best.rule && change >= best.change) continue;
      best.rule = &engine_.match(order[k]).fit->rule->rule;
      best.change = change;
    }
    return best;
  }

  rewrite::Engine& engine() { return engine_; }
  const rewrite::RuleIndex& rules() const { return rules_; }
  double microseconds() const { return before_ * objective_.original().microseconds; }
  bool cut() const { return cut_ || engine_.left_out() > 0; }
  void cut_short() { cut_ = true; }

 private:
  std::vector<int32_t>& at(int32_t id) {
    if (by_node_.size() <= static_cast<size_t>(id)) by_node_.resize(static_cast<size_t>(id) + 1);
    return by_node_[static_cast<size_t>(id)];
  }
  /// As the runtime fuses what is there then; the sum over calls when there is no time for it.
  double price(int32_t number) {
    double sum = engine_.match(number).cost_change;
    cut_ = cut_ || stop_.must_end();
    if (stop_.must_end()) return sum;
    engine_.apply(number);
    // As the result was chosen: what is estimated counts a little more.
    double change =
        (objective_.price(engine_.to_graph()) - before_) * objective_.original().microseconds;
    engine_.undo();
    return change;
  }

  const rewrite::RuleIndex& rules_;
  const cost::Objective& objective_;
  rewrite::Engine engine_;
  double before_;  ///< price
  const Stop& stop_;
  bool cut_ = false;
  std::vector<std::vector<int32_t>> by_node_;
};

struct Obstacles::State {
  State(const Explained& explained, const NodeNames& names, const Stop& until)
      : done(explained),
        name(names),
        stop(until),
        result(with_fusions(done.choice.graph, *done.choice.cost, done.target)),
        objective(cost::Goal::Latency, *done.choice.cost->model, done.choice.cost->profiled,
                  done.model.graph),
        matches(result, done.rules, objective, *done.choice.cost->model, done.opset, until) {
    auto index = rewrite::RuleIndex::build(rules_left_out(done.rules), rewrite::Scope::Proved,
                                           Numerics::Unknown);
    if (!index) {
      status = index.error();
      return;
    }
    unsafe_rules.emplace(*std::move(index));
    unsafe.emplace(result, *unsafe_rules, objective, *done.choice.cost->model, done.opset, until);
  }

  std::optional<Reason> opaque(const std::vector<int32_t>& nodes) const {
    for (int32_t id : nodes)
      if (done.choice.graph.node(id).kind == NodeKind::Opaque)
        return Reason{Obstacle::Opaque, name.unknown(id), "", std::nullopt};
    return std::nullopt;
  }

  std::optional<Reason> numerics(const std::vector<int32_t>& nodes) {
    auto best = unsafe->best_at(nodes);
    if (!best.rule || best.change > -kLeastGain * unsafe->microseconds()) return std::nullopt;
    return Reason{Obstacle::Numerics,
                  fmt::format("{} would save {:.2f} us, but it is {} in floating point; "
                              "--numerics real lets it in",
                              best.rule->name, -best.change, to_string(best.rule->numerics.kind)),
                  best.rule->name, best.change};
  }

  std::string why_not_taken() const {
    if (done.simplify) return "simplify takes what leaves fewer nodes, optimize may take it";
    if (!done.discarded.empty()) return "the original was kept as it is";
    if (done.choice.kept && !done.choice.measured_with.empty())
      return "the original was kept, as nothing was surely faster when it was timed";
    if (done.choice.kept)
      return "the original was kept, as so little may be an error of prediction";
    if (done.choice.search.stop == rewrite::StopReason::Exhausted)
      return "the search took other rules";
    return fmt::format("the search ended before ({})", rewrite::to_string(done.choice.search.stop));
  }

  std::optional<Reason> matching(const std::vector<int32_t>& nodes) {
    auto best = matches.best_at(nodes);
    if (!best.rule) return std::nullopt;
    const std::string count =
        best.matches == 1 ? "one rewrite fits" : fmt::format("{} rewrites fit", best.matches);
    if (best.change <= -kLeastGain * matches.microseconds())
      return Reason{Obstacle::NotTaken,
                    fmt::format("{} is predicted to save {:.2f} us; {}", best.rule->name,
                                -best.change, why_not_taken()),
                    best.rule->name, best.change};
    std::string effect =
        std::abs(best.change) < 0.005
            ? "would change nothing in the predicted time"
            : fmt::format("is predicted to {} {:.2f} us", best.change > 0 ? "add" : "save only",
                          std::abs(best.change));
    return Reason{Obstacle::NotCheaper,
                  fmt::format("{}; the best, {}, {}", count, best.rule->name, effect),
                  best.rule->name, best.change};
  }

  /// Rules whose left side nearly lies there: one for each kind of obstacle.
  std::map<Obstacle, Nearest> near(const std::vector<int32_t>& nodes) {
    std::map<Obstacle, Nearest> found;
    std::map<Obstacle, std::set<int32_t>> rules;
    rewrite::Engine& engine = matches.engine();
    auto visit = [&](const rewrite::Place& place, const Misfit& why) {
      auto kind = obstacle_of(why.kind);
      if (!kind) return;
      const auto& compiled = matches.rules().rules()[static_cast<size_t>(place.rule)];
      rules[*kind].insert(place.rule);
      Nearest& nearest = found[*kind];
      int smaller = shrinks(compiled.rule);
      std::tuple rank{smaller > 0, static_cast<int>(why.kind), place.nodes.size()};
      if (!nearest.reason.rule.empty() && rank <= nearest.rank) return;
      nearest.rank = rank;
      nearest.reason = {*kind,
                        compiled.rule.name + " does not apply: " +
                            rewrite::to_string(why, compiled, engine.graph(), place),
                        compiled.rule.name, std::nullopt};
    };
    for (int32_t id : nodes) {
      if (result.node(id).kind != NodeKind::Call) continue;
      if (stop.must_end()) matches.cut_short();
      if (!stop.must_end()) engine.diagnose(id, kFewPlaces, visit);
    }
    for (auto& [kind, nearest] : found) nearest.rules = rules[kind].size();
    return found;
  }

  Reason none(const std::vector<int32_t>& nodes) const {
    std::set<const OpDef*> ops;
    for (int32_t id : nodes)
      if (const Node& node = result.node(id); node.kind == NodeKind::Call) ops.insert(node.op);
    auto has = [&](const rewrite::CompiledRule& compiled) {
      return std::ranges::any_of(compiled.rule.lhs.nodes,
                                 [&](const PatternNode& n) { return ops.count(n.op) > 0; });
    };
    auto count = std::ranges::count_if(done.rules.rules(), has);
    return {Obstacle::NoRule,
            count == 0
                ? "no rule is about this operator"
                : fmt::format("{} rules have this operator, all with other neighbours or constants",
                              count),
            "", std::nullopt};
  }

  std::vector<Reason> of(const std::vector<int32_t>& nodes) {
    std::vector<Reason> all;
    if (auto reason = opaque(nodes)) return {*std::move(reason)};
    if (auto reason = numerics(nodes)) all.push_back(*std::move(reason));
    if (auto reason = matching(nodes)) all.push_back(*std::move(reason));
    for (auto& [kind, nearest] : near(nodes)) {
      if (nearest.rules > 1)
        nearest.reason.text +=
            fmt::format(" (nor {} {} more)", nearest.rules > 2 ? "do" : "does", nearest.rules - 1);
      all.push_back(std::move(nearest.reason));
    }
    if (all.empty()) all.push_back(none(nodes));
    std::ranges::stable_sort(all, {}, &Reason::why);
    return all;
  }

  const Explained& done;
  const NodeNames& name;
  const Stop& stop;
  Graph result;
  cost::Objective objective;
  Matches matches;
  std::optional<rewrite::RuleIndex> unsafe_rules;
  std::optional<Matches> unsafe;
  Status status;
};

Obstacles::Obstacles(const Explained& done, const NodeNames& names, const Stop& stop)
    : state_(std::make_unique<State>(done, names, stop)) {}
Obstacles::~Obstacles() = default;

Status Obstacles::ready() const { return state_->status; }
std::vector<Reason> Obstacles::of(const std::vector<int32_t>& nodes) { return state_->of(nodes); }
bool Obstacles::complete() const { return !state_->matches.cut() && !state_->unsafe->cut(); }

}  // namespace regraft::cli
