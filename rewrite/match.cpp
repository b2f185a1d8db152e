#include "rewrite/match.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "ir/eval.h"

namespace regraft::rewrite {

namespace {

constexpr int32_t kFree = -1;

/// A partial match: what is bound, and what is still to be compared.
struct State {
  std::vector<int32_t> nodes;    // by pattern node; kFree
  std::vector<Value> variables;  // by variable; node kFree
  std::vector<std::pair<PatternRef, Value>> goals;
};

/// Enumerates the places of one rule's left side, whatever the shapes.
class Matcher {
 public:
  Matcher(const GraphView& view, const CompiledRule& rule, std::vector<State>& complete)
      : view_(view),
        lhs_(rule.rule.lhs),
        variables_(rule.rule.variables.size()),
        complete_(complete) {}

  void run(int32_t root) {
    State s{std::vector<int32_t>(lhs_.nodes.size(), kFree), std::vector<Value>(variables_), {}};
    s.goals.push_back({lhs_.outputs[0], {root, lhs_.outputs[0].output}});
    solve(std::move(s));
  }

 private:
  void solve(State s) {
    while (!s.goals.empty()) {
      auto [ref, value] = s.goals.back();
      s.goals.pop_back();
      if (is_variable(ref)) {
        Value& bound = s.variables[static_cast<size_t>(variable_of(ref))];
        if (bound.node == kFree) bound = value;
        if (bound != value) return;
      } else if (!enter(s, ref, value)) {
        return;
      }
    }
    next_root(s);
  }

  /// Compares a pattern node with a graph node and adds its operands to the goals.
  bool enter(State& s, PatternRef ref, Value value) {
    auto index = static_cast<size_t>(ref.node);
    if (ref.output != value.output) return false;
    if (s.nodes[index] != kFree) return s.nodes[index] == value.node;
    const PatternNode& pattern = lhs_.nodes[index];
    const Node& node = view_.node(value.node);
    if (node.kind == NodeKind::Constant && pattern.inputs.empty()) {
      s.nodes[index] = value.node;  // data: compared once the sizes are known
      return true;
    }
    if (node.kind != NodeKind::Call || node.op != pattern.op) return false;
    if (node.inputs.size() != pattern.inputs.size()) return false;
    if (std::find(s.nodes.begin(), s.nodes.end(), value.node) != s.nodes.end()) return false;
    s.nodes[index] = value.node;
    bool both_ways =
        node.op->commutative && node.inputs.size() >= 2 && node.inputs[0] != node.inputs[1];
    if (both_ways) {
      State commuted = s;
      std::vector<Value> inputs = node.inputs;
      std::swap(inputs[0], inputs[1]);
      push(commuted, pattern, inputs);
      solve(std::move(commuted));
    }
    push(s, pattern, node.inputs);
    return true;
  }

  static void push(State& s, const PatternNode& pattern, const std::vector<Value>& inputs) {
    for (size_t k = inputs.size(); k-- > 0;) s.goals.push_back({pattern.inputs[k], inputs[k]});
  }

  /// All goals are met: goes on with an output that is not placed yet, or is done.
  void next_root(const State& s) {
    for (PatternRef out : lhs_.outputs) {
      if (s.nodes[static_cast<size_t>(out.node)] != kFree) continue;
      for (int32_t candidate : candidates(s, out)) {
        State next = s;
        next.goals.push_back({out, {candidate, out.output}});
        solve(std::move(next));
      }
      return;
    }
    complete_.push_back(s);
  }

  /// Calls that might be this output: users of an operand that is bound already, else all of that
  /// kind.
  std::vector<int32_t> candidates(const State& s, PatternRef out) const {
    const PatternNode& pattern = lhs_.nodes[static_cast<size_t>(out.node)];
    for (PatternRef r : pattern.inputs) {
      int32_t id = is_variable(r) ? s.variables[static_cast<size_t>(variable_of(r))].node
                                  : s.nodes[static_cast<size_t>(r.node)];
      if (id == kFree) continue;
      std::vector<int32_t> users;
      for (auto [user, operand] : view_.uses[static_cast<size_t>(id)])
        if (view_.node(user).op == pattern.op && (users.empty() || users.back() != user))
          users.push_back(user);
      return users;
    }
    auto it = view_.by_op.find(pattern.op);
    return it == view_.by_op.end() ? std::vector<int32_t>{} : it->second;
  }

  const GraphView& view_;
  const Pattern& lhs_;
  size_t variables_;
  std::vector<State>& complete_;
};

bool bind_shape(const std::vector<std::optional<Var>>& sizes, const Shape& shape, Binding& b) {
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] ? !b.bind(*sizes[d], shape[d]) : !is_one(shape[d])) return false;
  return true;
}

/// What can be compared only once all symbols are bound: a pattern's size and the actual one.
using Later = std::vector<std::pair<Poly, Poly>>;

/// A symbol alone is bound or compared.
bool bind_number(const Poly& want, const Poly& have, Binding& b, Later& later) {
  if (want.is_constant()) return same(want, have);
  auto terms = want.terms();
  bool symbol = terms.size() == 1 && want.constant() == 0 && terms[0].coefficient == 1 &&
                terms[0].monomial.size() == 1 && !terms[0].monomial[0]->numerator;
  if (symbol) return b.bind(terms[0].monomial[0], have);
  later.push_back({want, have});
  return true;
}

bool bind_attrs(const Node& form, const Node& node, int rank, Binding& b, Later& later) {
  for (size_t k = 0; k < form.attrs.ints.size(); ++k) {
    const IntAttr& attr = form.op->ints[k];
    auto want = normal_axes(attr, form.attrs.ints[k], rank);
    auto have = normal_axes(attr, node.attrs.ints[k], rank);
    if (want.size() != have.size()) return false;
    for (size_t i = 0; i < want.size(); ++i)
      if (!bind_number(want[i], have[i], b, later)) return false;
  }
  for (size_t k = 0; k < form.attrs.reals.size(); ++k) {
    const Real &want = form.attrs.reals[k], &have = node.attrs.reals[k];
    if (want.symbol ? !b.bind(want.symbol, have.value) : want.value != have.value) return false;
  }
  return true;
}

constexpr int64_t kMaxCompared = 1 << 16;  ///< elements of a constant that is compared with a maker

/// Is the constant what the maker `form` makes under the binding? A real that nothing has bound is
/// its first number.
bool makes(const Node& form, const Node& constant, Binding& b, SymbolPool& pool) {
  int64_t count = constant.constant->count();
  if (count < 1 || count > kMaxCompared || !is_real(constant.constant->dtype())) return false;
  auto data = constant.constant->reals();
  if (!data) return false;
  for (const Real& r : form.attrs.reals)
    if (r.symbol) b.reals.emplace(r.symbol, data->front());
  auto attrs = translate(form.attrs, b, pool);
  auto numbers = attrs ? numeric(*attrs) : std::nullopt;
  if (!numbers) return false;
  auto made = evaluate_reals(*form.op, {}, *numbers);
  return made && (*made)[0].shape == constant.constant->dims() && *data == (*made)[0].data;
}

/// Symbols stand for integers >= their minimum; a binding outside is outside the proof.
bool in_range(const Binding& b) {
  return std::all_of(b.sizes.begin(), b.sizes.end(), [](const auto& bound) {
    return holds(non_negative(bound.second - Poly(bound.first->min)));
  });
}

std::optional<Binding> bind_instance(const GraphView& view, const CompiledRule& rule,
                                     const RuleInstance& instance, const State& s) {
  Binding b;
  SymbolPool& pool = view.graph.pool();
  for (size_t v = 0; v < s.variables.size(); ++v)
    if (!bind_shape(instance.sizes[v], view.graph.shape(s.variables[v]), b)) return std::nullopt;
  Later later;
  for (size_t j = 0; j < rule.rule.lhs.nodes.size(); ++j) {
    const Node& node = view.node(s.nodes[j]);
    if (node.kind == NodeKind::Constant) continue;
    int rank = node.inputs.empty() ? 0 : static_cast<int>(view.graph.shape(node.inputs[0]).size());
    if (!bind_attrs(instance.lhs.node(instance.lhs_ids[j]), node, rank, b, later))
      return std::nullopt;
  }
  for (const auto& [want, have] : later) {
    auto value = translate(want, b.sizes, pool);
    if (!value || !same(*value, have)) return std::nullopt;
  }
  for (size_t j = 0; j < rule.rule.lhs.nodes.size(); ++j) {
    const Node& node = view.node(s.nodes[j]);
    if (node.kind == NodeKind::Constant &&
        !makes(instance.lhs.node(instance.lhs_ids[j]), node, b, pool))
      return std::nullopt;
  }
  if (!in_range(b)) return std::nullopt;
  for (const Formula& f : instance.requires_lhs) {
    auto condition = translate(f, b.sizes, pool);
    if (!condition || !holds(*condition)) return std::nullopt;
  }
  return b;
}

/// Ranks of the bound variables; nullopt when one is unknown, not real, or of another element type.
std::optional<std::vector<int>> ranks_of(const GraphView& view, const State& s) {
  std::vector<int> ranks;
  for (Value v : s.variables) {
    if (v.node == kFree) return std::nullopt;
    const TensorType& t = view.graph.type(v);
    if (!t.shape || !is_real(t.dtype) || t.dtype != view.graph.type(s.variables[0]).dtype)
      return std::nullopt;
    ranks.push_back(static_cast<int>(t.shape->size()));
  }
  return ranks;
}

bool only_constants(const GraphView& view, const CompiledRule& rule, const State& s) {
  const auto& outputs = rule.rule.lhs.outputs;
  return std::all_of(outputs.begin(), outputs.end(), [&](PatternRef out) {
    return view.constant[static_cast<size_t>(s.nodes[static_cast<size_t>(out.node)])] != 0;
  });
}

/// The first instance whose shapes and conditions fit; all of them have the same right side.
std::optional<Found> fit(const GraphView& view, const CompiledRule& rule, const State& s) {
  if (s.variables.empty() || only_constants(view, rule, s)) return std::nullopt;
  auto ranks = ranks_of(view, s);
  if (!ranks) return std::nullopt;
  auto instances = rule.by_ranks.find(*ranks);
  if (instances == rule.by_ranks.end()) return std::nullopt;
  for (int k : instances->second) {
    const RuleInstance& instance = rule.instances[static_cast<size_t>(k)];
    auto binding = bind_instance(view, rule, instance, s);
    if (binding) return Found{&rule, &instance, s.nodes, s.variables, *std::move(binding)};
  }
  return std::nullopt;
}

void add_match(const GraphView& view, int number, const CompiledRule& rule, const State& s,
               const cost::CostModel& model, const PlanOptions& options,
               std::vector<Match>& matches) {
  try {
    auto found = fit(view, rule, s);
    if (!found) return;
    auto plan = make_plan(view, *found, model, options);
    if (plan) matches.push_back({number, *std::move(found), *std::move(plan)});
  } catch (const PolyOverflow&) {
    // Sizes beyond 64 bits: the rule's conditions cannot be decided here.
  }
}

}  // namespace

std::vector<Match> find_matches_at(const GraphView& view, const RuleIndex& rules, int number,
                                   int32_t root, const cost::CostModel& model,
                                   const PlanOptions& options) {
  std::vector<Match> matches;
  std::vector<State> places;
  const CompiledRule& rule = rules.rules()[static_cast<size_t>(number)];
  Matcher(view, rule, places).run(root);
  for (const State& s : places) add_match(view, number, rule, s, model, options, matches);
  return matches;
}

std::vector<Match> find_matches(const GraphView& view, const RuleIndex& rules,
                                const cost::CostModel& model, const PlanOptions& options) {
  std::vector<Match> matches;
  for (int32_t id : view.order) {
    const Node& node = view.node(id);
    if (node.kind != NodeKind::Call) continue;
    for (int number : rules.rooted_at(node.op)) {
      auto here = find_matches_at(view, rules, number, id, model, options);
      std::move(here.begin(), here.end(), std::back_inserter(matches));
    }
  }
  return matches;
}

}  // namespace regraft::rewrite
