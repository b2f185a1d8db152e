// The search for matches of one side of a rule.
#include <algorithm>
#include <bit>
#include <utility>

#include "gen/minimise/ematch.h"

namespace regraft::gen {

constexpr size_t kJoins = 2000;  // calls looked at beside another output's, in one run

/// One run of a side over a graph; undoes its bindings when it backtracks.
class SideMatcher {
 public:
  SideMatcher(const Matchable& rule, const Matchable::Side& side, const EGraph& graph,
              const std::vector<NodeId>& anything, size_t limit, const Matchable::Accept& accept)
      : rule_(rule),
        side_(side),
        graph_(graph),
        anything_(anything),
        limit_(limit),
        accept_(accept) {
    match_.tensors.assign(rule.rule_.variables.size(), -1);
    match_.lists.resize(rule.lists_.size());
    match_.numbers.resize(rule.numbers_.size());
    match_.reals.resize(rule.reals_.size());
    match_.roots.assign(side.pattern->outputs.size(), -1);
    classes_.assign(side.steps.size(), -1);
    nodes_.assign(side.steps.size(), -1);
    joins_calls_ = joins_calls();
  }

  std::vector<Match> run() {
    root(0);
    return std::move(found_);
  }

 private:
  size_t step_of(PatternRef r) const {
    return static_cast<size_t>(std::find(side_.steps.begin(), side_.steps.end(), r) -
                               side_.steps.begin());
  }
  bool full() const { return found_.size() >= limit_ || joins_ >= kJoins; }

  /// Output k of the side, then the ones after it.
  void root(size_t k) {
    if (k == side_.pattern->outputs.size()) return finish();
    size_t outer = std::exchange(root_, k);
    PatternRef r = side_.pattern->outputs[k];
    if (is_variable(r))
      root_variable(k, static_cast<size_t>(variable_of(r)));
    else
      root_call(k, r);
    root_ = outer;
  }
  void root_variable(size_t k, size_t variable) {
    NodeId old = match_.tensors[variable];
    for (NodeId n : anything_) {
      if (full()) return;
      if (old >= 0 && !graph_.equal(old, n)) continue;
      match_.tensors[variable] = old >= 0 ? old : n;
      match_.roots[k] = n;
      root(k + 1);
      match_.tensors[variable] = old;
    }
  }
  void root_call(size_t k, PatternRef r) {
    size_t s = step_of(r);
    if (classes_[s] >= 0) {  // an inner call of another output
      match_.roots[k] = classes_[s];
      return root(k + 1);
    }
    for (NodeId n : candidates(s)) {
      if (full()) break;
      if (!fits(s, n) || (joins_calls_ && !among(n))) continue;
      joins_ += k > 0;
      classes_[s] = match_.roots[k] = n;
      node(s, n);
    }
    classes_[s] = -1;
  }

  /// Different calls side by side could be any pairs: only calls of the classes in `anything` are
  /// looked at.
  bool joins_calls() const {
    const auto& outputs = side_.pattern->outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](PatternRef r) { return r.node != outputs[0].node; });
  }
  bool among(NodeId n) const {
    return std::binary_search(anything_.begin(), anything_.end(), graph_.find(n));
  }
  /// What a root may be: the users of an operand that an earlier output has bound, or all calls.
  const std::vector<NodeId>& candidates(size_t s) {
    for (int operand : call(s).operands)
      if (slot(operand) >= 0) return graph_.users(slot(operand));
    return graph_.nodes_of(*call(s).node->op, side_.steps[s].output);
  }

  /// After step s, the next one of the output under way: those with a class and no node yet.
  void advance(size_t s) {
    for (++s; s < side_.steps.size() && (classes_[s] < 0 || nodes_[s] >= 0);) ++s;
    if (s == side_.steps.size()) return root(root_ + 1);
    for (NodeId n : graph_.members(classes_[s])) {
      if (full()) return;
      if (!fits(s, n)) continue;
      match_.premises.emplace_back(classes_[s], n);
      node(s, n);
      match_.premises.pop_back();
    }
  }

  bool fits(size_t s, NodeId n) const {
    if (graph_.is_leaf(n) || graph_.is_duplicate(n)) return false;
    const auto& label = graph_.label(n);
    return label.op == call(s).node->op && label.output == side_.steps[s].output;
  }
  const Matchable::Call& call(size_t s) const {
    return side_.calls[static_cast<size_t>(side_.steps[s].node)];
  }

  /// Step s is node n: its attributes, then its operands in both orders where they commute.
  void node(size_t s, NodeId n) {
    auto operands = graph_.operands(n);
    if (operands.size() != call(s).node->inputs.size()) return;
    size_t bound = trail_.size();
    int64_t rank = operands.empty() ? 0 : static_cast<int64_t>(graph_.shape(operands[0]).size());
    if (attributes(call(s), graph_.label(n), rank)) {
      nodes_[s] = n;
      operand(s, operands, 0);
      bool commutes = call(s).node->op->commutative && operands.size() >= 2;
      if (commutes && !graph_.equal(operands[0], operands[1])) {
        std::vector<NodeId> exchanged(operands.begin(), operands.end());
        std::swap(exchanged[0], exchanged[1]);
        operand(s, exchanged, 0);
      }
      nodes_[s] = -1;
    }
    for (; trail_.size() > bound; trail_.pop_back()) unbind(trail_.back());
  }

  NodeId& slot(int operand) {
    return operand >= 0 ? match_.tensors[static_cast<size_t>(operand)]
                        : classes_[static_cast<size_t>(~operand)];
  }
  void operand(size_t s, std::span<const NodeId> operands, size_t k) {
    if (full()) return;
    if (k == operands.size()) return advance(s);
    NodeId& place = slot(call(s).operands[k]);  // vectors keep their size
    NodeId given = operands[k];
    if (place < 0) {
      place = given;
      operand(s, operands, k + 1);
      place = -1;
    } else if (graph_.equal(place, given)) {
      match_.premises.emplace_back(place, given);
      operand(s, operands, k + 1);
      match_.premises.pop_back();
    }
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
  bool attributes(const Matchable::Call& c, const EGraph::Label& label, int64_t rank) {
    for (size_t k = 0; k < c.ints.size(); ++k)
      if (!integers(c.ints[k], c.node->op->ints[k], label.attrs.ints[k], rank)) return false;
    for (size_t k = 0; k < c.reals.size(); ++k) {
      double given = label.attrs.reals[k].value, own = c.node->attrs.reals[k].value;
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

  /// All calls are matched: solves and checks expressions.
  void finish() {
    if (std::find(match_.tensors.begin(), match_.tensors.end(), -1) != match_.tensors.end()) return;
    auto saved = match_.numbers;
    if (solve() && check() && accept_(match_)) found_.push_back(match_);
    match_.numbers = std::move(saved);
  }

  /// Calls visit(expression, the number it must have) for each expression.
  template <class F>
  bool all_expressions(F&& visit) {
    for (size_t s = 0; s < side_.steps.size(); ++s) {
      const auto& attrs = graph_.label(nodes_[s]).attrs;
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
  const EGraph& graph_;
  const std::vector<NodeId>& anything_;
  size_t limit_;
  const Matchable::Accept& accept_;
  size_t root_ = 0;  // the output under way
  bool joins_calls_;
  size_t joins_ = 0;
  Match match_;
  std::vector<NodeId> classes_, nodes_;  // of each step
  std::vector<Bound> trail_;
  std::vector<Match> found_;
};

std::vector<Match> Matchable::matches(const EGraph& graph, Direction d,
                                      const std::vector<NodeId>& anything, size_t limit,
                                      const Accept& accept) const {
  const Side& side = sides_[d];
  for (PatternRef step : side.steps)  // most rules have an operator that the graph lacks
    if (graph.nodes_of(*side.pattern->nodes[static_cast<size_t>(step.node)].op, step.output)
            .empty())
      return {};
  return SideMatcher(*this, side, graph, anything, limit, accept).run();
}

}  // namespace regraft::gen
