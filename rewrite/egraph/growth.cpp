#include "rewrite/egraph/growth.h"

#include <algorithm>
#include <limits>

namespace regraft::rewrite {

namespace {

constexpr size_t kMinMatches = 32;  ///< of one rule in one generation, before it waits

}  // namespace

Growth::Growth(const Graph& g, Sizes& sizes)
    : rules_(sizes.fitter.rules()),
      fitter_(sizes.fitter),
      graph_(g, sizes.interner),
      places_(graph_, kMaxTried),
      makers_(static_cast<size_t>(graph_.nodes().id_bound()), -1),
      schedules_(rules_.rules().size()),
      first_limit_(std::max(kMinMatches, 2 * static_cast<size_t>(graph_.nodes().calls()))) {}

/// The lowest of those that the symmetries of the rule make equal.
const Growth::Key& Growth::key(int32_t rule, std::span<const int32_t> nodes,
                               std::span<const Value> variables) {
  key_.assign(1, rule);
  for (int32_t id : nodes) key_.push_back(graph_.node(id));
  for (Value v : variables) {
    Value name = graph_.name(v);
    key_.insert(key_.end(), {name.node, name.output});
  }
  const auto& symmetries = rules_.rules()[static_cast<size_t>(rule)].symmetries();
  if (symmetries.empty()) return key_;
  const Key given = key_;
  for (const Symmetry& s : symmetries) {
    twin_.assign(1, rule);
    for (int32_t j : s.nodes) twin_.push_back(given[static_cast<size_t>(j) + 1]);
    for (int32_t v : s.variables) {
      size_t at = 1 + nodes.size() + 2 * static_cast<size_t>(v);
      twin_.insert(twin_.end(), {given[at], given[at + 1]});
    }
    if (twin_ < key_) std::swap(twin_, key_);
  }
  return key_;
}

int32_t Growth::find(int32_t rule, std::span<const int32_t> nodes,
                     std::span<const Value> variables) {
  auto it = keys_.find(key(rule, nodes, variables));
  return it == keys_.end() ? -1 : it->second;
}

/// Unions have changed the names in them.
void Growth::renew_keys() {
  keys_.clear();
  for (const Event& e : waiting_) keys_.try_emplace(key(e.rule, e.nodes, e.variables), -1);
  for (size_t k = 0; k < events_.size(); ++k) {
    const Event& e = events_[k];
    keys_.insert_or_assign(key(e.rule, e.nodes, e.variables), static_cast<int32_t>(k));
  }
}

/// Adds the new matches of a rule to those that wait. False: there are more than `limit`.
bool Growth::match(int32_t rule, size_t limit, Reporter& reporter) {
  size_t found = 0;
  auto visit = [&](const Place& place) {
    if (!keys_.try_emplace(key(place.rule, place.nodes, place.variables), -1).second) return true;
    const Fit* fit = fitter_.fit(graph_.nodes(), place);
    if (!fit) return true;
    waiting_.push_back({place.rule,
                        fit,
                        {place.nodes.begin(), place.nodes.end()},
                        {place.variables.begin(), place.variables.end()}});
    return ++found < limit && !reporter.over();
  };
  places_.find(rules_.rules()[static_cast<size_t>(rule)], rule, visit);
  return found < limit;
}

void Growth::collect(Reporter& reporter) {
  for (size_t k = 0; k < schedules_.size() && !reporter.over(); ++k) {
    Schedule& s = schedules_[k];
    if (s.free_from > generation_) continue;
    if (match(static_cast<int32_t>(k), first_limit_ << s.waits, reporter)) continue;
    ++s.waits;
    s.free_from = generation_ + (1 << s.waits);
  }
}

/// To the next generation; if nothing has changed and no event waits, to the first in which a rule
/// need not wait any more. False: there is none.
bool Growth::advance(bool changed) {
  if (changed || !waiting_.empty()) {
    ++generation_;
    return true;
  }
  int next = std::numeric_limits<int>::max();
  for (const Schedule& s : schedules_)
    if (s.free_from > generation_) next = std::min(next, s.free_from);
  generation_ = next;
  return next != std::numeric_limits<int>::max();
}

bool Growth::constant(const Event& e, PatternRef r) const {
  if (!is_variable(r)) return constants_[static_cast<size_t>(r.node)];
  return graph_.constant(e.variables[static_cast<size_t>(variable_of(r))]);
}

/// Which calls of the right side depend on constants only.
void Growth::find_constants(const Event& e) {
  constants_.clear();
  for (const PatternNode& n : e.fit->rule->rule.rhs.nodes)
    constants_.push_back(std::all_of(n.inputs.begin(), n.inputs.end(),
                                     [&](PatternRef r) { return constant(e, r); }));
}

/// What the right side costs more than the left side, if neither is shared.
double Growth::cost_change(const Event& e) {
  find_constants(e);
  double change = 0;
  for (size_t j = 0; j < constants_.size(); ++j)
    if (!constants_[j]) change += e.fit->calls[j].facts->cost;
  for (int32_t id : e.nodes) {
    const LiveGraph::Slot& s = graph_.nodes().slot(id);
    if (s.kind == NodeKind::Call && !s.constant) change -= s.cost;
  }
  return change;
}

/// As in Planner: it touches constants only, or would make one depend on more.
bool Growth::pointless(const Event& e) const {
  const Rule& rule = e.fit->rule->rule;
  bool runs = false;
  for (size_t k = 0; k < rule.lhs.outputs.size(); ++k) {
    PatternRef out = rule.lhs.outputs[k];
    bool from = graph_.constant(Value{e.nodes[static_cast<size_t>(out.node)], out.output});
    if (from && !constant(e, rule.rhs.outputs[k])) return true;
    runs = runs || !from;
  }
  return !runs;
}

void Growth::apply(Event event) {
  auto number = static_cast<int32_t>(events_.size());
  events_.push_back(std::move(event));
  const Event& e = events_.back();
  find_constants(e);
  if (pointless(e)) return;
  const Rule& rule = e.fit->rule->rule;
  std::vector<int32_t> placed;
  auto value = [&](PatternRef r) {
    if (is_variable(r)) return e.variables[static_cast<size_t>(variable_of(r))];
    return Value{placed[static_cast<size_t>(r.node)], r.output};
  };
  for (size_t j = 0; j < rule.rhs.nodes.size(); ++j) {
    const Fit::Call& call = e.fit->calls[j];
    std::vector<Value> operands;
    for (PatternRef r : rule.rhs.nodes[j].inputs) operands.push_back(value(r));
    bool possible = call.facts->writable || (constants_[j] && call.facts->foldable) ||
                    graph_.find(call.form, operands, call.facts->types[0]) >= 0;
    if (!possible) return;
    placed.push_back(graph_.add(call, operands));
    makers_.resize(static_cast<size_t>(graph_.nodes().id_bound()), number);
  }
  for (size_t k = 0; k < rule.lhs.outputs.size(); ++k) {
    PatternRef out = rule.lhs.outputs[k];
    graph_.unite({e.nodes[static_cast<size_t>(out.node)], out.output}, value(rule.rhs.outputs[k]));
  }
}

/// Takes those that save most out of those that wait, in the order of finding among equal ones.
std::vector<Event> Growth::choose(size_t count) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t k = 0; k < waiting_.size(); ++k) order.push_back({cost_change(waiting_[k]), k});
  std::sort(order.begin(), order.end());
  std::vector<Event> chosen, rest;
  for (size_t k = 0; k < order.size(); ++k)
    (k < count ? chosen : rest).push_back(std::move(waiting_[order[k].second]));
  waiting_ = std::move(rest);
  return chosen;
}

StopReason Growth::run(Reporter& reporter, uint64_t candidates, int32_t max_nodes, uint64_t batch) {
  auto limit = [&]() -> std::optional<StopReason> {
    if (auto over = reporter.over()) return over;
    if (candidates == 0 || places_.tired()) return StopReason::Budget;
    if (graph_.size() >= max_nodes) return StopReason::Memory;
    return std::nullopt;
  };
  bool changed;
  do {
    changed = false;
    collect(reporter);
    for (Event& e : choose(std::min(batch, candidates))) {
      if (limit()) break;
      reporter.look(1);
      --candidates;
      apply(std::move(e));
      changed = true;
    }
    graph_.rebuild();
    renew_keys();
    if (auto reason = limit()) return *reason;
  } while (advance(changed));
  return StopReason::Exhausted;
}

}  // namespace regraft::rewrite
