// The search for matches of one side of a rule.
#include <algorithm>
#include <bit>
#include <utility>

#include "gen/derive/ematch.h"

namespace regraft::gen {

constexpr size_t kJoins = 2000;  // calls looked at beside another output's, in one run

/// What the e-matcher asks of a side: attributes, and limits.
class SideMatcher {
 public:
  SideMatcher(const Matchable& rule, const Matchable::Side& side, const SizedEGraph& graph,
              const TermSizes& sizes, const std::vector<EValue>& anything,
              const MatchLimits& limits, const Matchable::Accept& accept)
      : rule_(rule),
        side_(side),
        graph_(graph),
        anything_(anything),
        limits_(limits),
        accept_(accept),
        places_(graph, sizes, side.order, rule.rule_.variables.size(), limits.whole, *this),
        bound_(side.order.steps.size()) {
    match_.lists.resize(rule.lists_.size());
    match_.numbers.resize(rule.numbers_.size());
    match_.reals.resize(rule.reals_.size());
    const auto& outputs = side.pattern->outputs;
    joins_calls_ = std::any_of(outputs.begin(), outputs.end(),
                               [&](PatternRef r) { return r.node != outputs[0].node; });
  }

  Matches run() {
    places_.run();
    return {std::move(found_), steps_, !more()};
  }

  Matches run_at(const Placements& placements) {
    steps_ = placements.steps;
    size_t length = 2 * side_.order.steps.size() + side_.variables.size();
    for (size_t k = 0; k < placements.count; ++k) {
      places_.place(std::span(placements.values).subspan(k * length, length), side_.variables);
      for (size_t s = 0; s < side_.order.steps.size(); ++s) bind(s, places_.matched(s));
      found();
      leave(0);
    }
    return {std::move(found_), steps_, false};
  }

  const std::vector<EValue>& anything() const { return anything_; }
  bool more() const {
    return found_.size() < limits_.matches && joins_ < kJoins && steps_ < limits_.steps;
  }

  /// Different calls side by side could be any pairs: only calls of the classes in `anything` are
  /// looked at.
  bool enter(size_t s, EValue v) {
    ++steps_;
    if (!places_.is_call(s, v)) return false;
    bool root = step(s).is_root;
    if (root && joins_calls_ && !among(v)) return false;
    if (root && s > 0) ++joins_;
    if (bind(s, v)) return true;
    leave(s);
    return false;
  }
  void leave(size_t s) {
    for (; trail_.size() > bound_[s]; trail_.pop_back()) unbind(trail_.back());
  }

  /// All calls are matched: solves and checks expressions.
  bool found() {
    steps_ += kFoundSteps;
    match_.tensors = places_.variables();
    if (std::find(match_.tensors.begin(), match_.tensors.end(), -1) == match_.tensors.end()) {
      auto saved = match_.numbers;
      match_.axes.clear();
      if (axes() && solve() && check()) offer();
      match_.numbers = std::move(saved);
    }
    return more();
  }

 private:
  const EPattern::Step& step(size_t s) const { return side_.order.steps[s]; }
  const Matchable::Call& call(size_t s) const {
    return side_.calls[static_cast<size_t>(step(s).ref.node)];
  }
  bool bind(size_t s, EValue v) {
    bound_[s] = trail_.size();
    auto operands = graph_.classes().operands(v);
    int64_t rank = operands.empty() ? 0 : static_cast<int64_t>(graph_.shape(operands[0]).size());
    return attributes(call(s), graph_.attrs(v), rank);
  }
  bool among(EValue v) const {
    return std::binary_search(anything_.begin(), anything_.end(), graph_.classes().find(v));
  }

  void offer() {
    match_.roots.clear();
    for (int32_t output : side_.order.outputs) match_.roots.push_back(places_.at(output));
    if (!accept_(match_)) return;
    Match& match = found_.emplace_back(match_);
    for (size_t s = 0; s < side_.order.steps.size(); ++s)
      if (step(s).node) add_premises(s, match.premises);
  }
  /// What equalities make step s the call that it is matched with.
  void add_premises(size_t s, std::vector<std::pair<EValue, EValue>>& premises) const {
    auto add = [&](EValue a, EValue b) {
      if (a != b) premises.emplace_back(a, b);
    };
    add(places_.wanted(s), places_.matched(s));
    auto operands = graph_.classes().operands(places_.matched(s));
    auto wanted = [&](size_t k) { return places_.at(step(s).operands[k]); };
    bool straight = operands.size() < 2 ||
                    (graph_.equal(operands[0], wanted(0)) && graph_.equal(operands[1], wanted(1)));
    for (size_t k = 0; k < operands.size(); ++k)
      add(wanted(k), operands[straight || k > 1 ? k : 1 - k]);
  }

  /// A variable that a call's attributes bound.
  struct Bound {
    enum Kind : uint8_t { List, Number, Real } kind;
    size_t variable;
  };
  void unbind(Bound b) {
    if (b.kind == Bound::List) match_.lists[b.variable].reset();
    if (b.kind == Bound::Number) match_.numbers[b.variable].reset();
    if (b.kind == Bound::Real) match_.reals[b.variable].reset();
  }
  template <class T>
  bool bind(std::vector<std::optional<T>>& variables, Bound b, const T& value) {
    auto& variable = variables[b.variable];
    if (variable) return *variable == value;
    variable = value;
    trail_.push_back(b);
    return true;
  }

  /// Binds variables and compares given numbers; expressions wait for finish().
  bool attributes(const Matchable::Call& c, const Attrs<int64_t>& given_attrs, int64_t rank) {
    for (size_t k = 0; k < c.ints.size(); ++k)
      if (!integers(c.ints[k], c.node->op->ints[k], given_attrs.ints[k], rank)) return false;
    for (size_t k = 0; k < c.reals.size(); ++k) {
      double given = given_attrs.reals[k].value, own = c.node->attrs.reals[k].value;
      bool fits = c.reals[k] < 0
                      ? std::bit_cast<uint64_t>(own) == std::bit_cast<uint64_t>(given)
                      : bind(match_.reals, {Bound::Real, static_cast<size_t>(c.reals[k])}, given);
      if (!fits) return false;
    }
    return true;
  }
  bool integers(const Matchable::Ints& own, const IntAttr& attr, const std::vector<int64_t>& given,
                int64_t rank) {
    if (own.list >= 0)
      return bind(match_.lists, {Bound::List, static_cast<size_t>(own.list)}, given);
    if (own.axes) return true;  // once all calls are matched
    if (own.numbers.empty())
      return std::all_of(given.begin(), given.end(),
                         [&](int64_t n) { return attr.fallback && n == *attr.fallback; });
    if (own.numbers.size() != given.size()) return false;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto& n = own.numbers[i];
      bool from_back = n.value < 0 && attr.kind == IntKind::Axis;
      bool fits =
          n.kind != Matchable::Number::Given || n.value + (from_back ? rank : 0) == given[i];
      if (n.kind == Matchable::Number::Variable)
        fits = bind(match_.numbers, {Bound::Number, static_cast<size_t>(n.value)}, given[i]);
      if (!fits) return false;
    }
    return true;
  }

  /// The values of a family's variables, and whether it is meant for them.
  bool axes() {
    if (!rule_.family_) return true;
    auto given = [&](size_t node, size_t k) -> std::optional<std::vector<int64_t>> {
      for (size_t s = 0; s < side_.order.steps.size(); ++s)
        if (step(s).node && static_cast<size_t>(step(s).ref.node) == node)
          return graph_.attrs(places_.matched(s)).ints[k];
      return std::nullopt;
    };
    if (!bind_side(*side_.pattern, given, match_.axes)) return false;
    return std::all_of(rule_.rule_.axis_where.begin(), rule_.rule_.axis_where.end(),
                       [&](const AxisCondition& c) { return holds(c, match_.axes); });
  }

  /// Calls visit(expression, the number it must have) for each expression.
  template <class F>
  bool all_expressions(F&& visit) {
    for (size_t s = 0; s < side_.order.steps.size(); ++s) {
      if (!step(s).node) continue;
      const auto& attrs = graph_.attrs(places_.matched(s));
      for (size_t k = 0; k < call(s).ints.size(); ++k)
        for (size_t i = 0; i < call(s).ints[k].numbers.size(); ++i) {
          const auto& n = call(s).ints[k].numbers[i];
          if (n.kind == Matchable::Number::Expression && !visit(n, attrs.ints[k][i])) return false;
        }
    }
    return true;
  }

  /// Number variables that occur in linear expressions only.
  bool solve() {
    bool open = true;
    for (size_t round = 0; open && round <= match_.numbers.size(); ++round) {
      open = false;
      bool fits = all_expressions([&](const Matchable::Number& n, int64_t given) {
        std::vector<size_t> unknown;
        for (size_t id : n.unknowns)
          if (!match_.numbers[id]) unknown.push_back(id);
        if (unknown.size() == 1) return solve(n, unknown[0], given);
        open = open || !unknown.empty();
        return true;
      });
      if (!fits) return false;
    }
    return !open;
  }
  bool solve(const Matchable::Number& n, size_t id, int64_t given) {
    match_.numbers[id] = 0;
    auto at_zero = rule_.valuation(graph_, match_);
    match_.numbers[id] = 1;
    auto at_one = rule_.valuation(graph_, match_);
    match_.numbers[id] = std::nullopt;
    if (!at_zero || !at_one) return false;
    int64_t base = evaluate(*n.poly, *at_zero), slope = evaluate(*n.poly, *at_one) - base;
    if (slope == 0 || (given - base) % slope != 0) return false;
    match_.numbers[id] = (given - base) / slope;
    return true;
  }
  bool check() {
    auto values = rule_.valuation(graph_, match_);
    return values && all_expressions([&](const Matchable::Number& n, int64_t given) {
             return evaluate(*n.poly, *values) == given;
           });
  }

  const Matchable& rule_;
  const Matchable::Side& side_;
  const SizedEGraph& graph_;
  const std::vector<EValue>& anything_;
  const MatchLimits& limits_;
  const Matchable::Accept& accept_;
  SizedMatcher<SideMatcher> places_;
  bool joins_calls_;
  size_t joins_ = 0;
  uint64_t steps_ = 0;
  Match match_;
  std::vector<Bound> trail_;
  std::vector<size_t> bound_;  // by step: how much of the trail is older
  std::vector<Match> found_;
};

Matches Matchable::matches(const SizedEGraph& graph, const TermSizes& sizes, Direction d,
                           const std::vector<EValue>& anything, const MatchLimits& limits,
                           const Accept& accept) const {
  return SideMatcher(*this, sides_[d], graph, sizes, anything, limits, accept).run();
}

Matches Matchable::matches_at(const Placements& placements, const SizedEGraph& graph,
                              const TermSizes& sizes, Direction d, const Accept& accept) const {
  if (placements.count == 0) return {{}, placements.steps, false};
  const MatchLimits limits{0, ~uint64_t{0}, ~size_t{0}};
  return SideMatcher(*this, sides_[d], graph, sizes, {}, limits, accept).run_at(placements);
}

}  // namespace regraft::gen
