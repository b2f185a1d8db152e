#include "gen/rewrites/rewrite_matcher.h"

#include <algorithm>
#include <bit>

#include "ir/algebra/real_expression.h"
#include "ir/rule/pattern.h"

namespace regraft::gen {
namespace {

constexpr uint64_t kMostSteps = 20'000;  // makes no difference to taso 4 and core 3

/// No numbers, or all at their fallback.
bool is_default(const RuleCode::Ints& ints, const std::vector<int64_t>& given) {
  return given.empty() || (ints.fallback && std::all_of(given.begin(), given.end(), [&](int64_t n) {
                             return n == *ints.fallback;
                           }));
}

}  // namespace

RewriteMatcher::RewriteMatcher(const Rewrites& rewrites, const Rewrites::Directed& rule, int size,
                               RewriteState& state, Visit visit)
    : rewrites_(rewrites),
      graph_(rewrites.graph_),
      rule_(rule),
      code_(*rule.code),
      from_(code_.calls(*rule.from)),
      to_(code_.calls(*rule.to)),
      size_(size),
      s_(state),
      visit_(visit) {
  s_.variables.assign(rule.rule->variables.size(), kNoClass);
  s_.nodes.assign(from_.size(), kNoClass);
  s_.numbers.resize(code_.number_places());
  s_.bound.assign(code_.number_places(), 0);
  s_.lists.assign(code_.list_places(), nullptr);
  s_.trail.clear();
  s_.expressions.clear();
}

bool RewriteMatcher::run(Application a) {
  return match(rule_.from->outputs[0], a, [&] { return finish(); });
}

void RewriteMatcher::undo(Mark m) {
  for (; s_.trail.size() > m.trail; s_.trail.pop_back()) {
    size_t place = s_.trail.back();
    if (place < s_.bound.size())
      s_.bound[place] = 0;
    else
      s_.lists[place - s_.bound.size()] = nullptr;
  }
  s_.expressions.resize(m.expressions);
}

// --- the side that is matched ---

bool RewriteMatcher::match(PatternRef ref, Application a, Next next) {
  if (++steps_ > kMostSteps) return false;
  const Call& call = from_[static_cast<size_t>(ref.node)];
  auto instance = static_cast<size_t>(a.instance());
  if (graph_.plans().then(instance)) return match_follower(call, a, next);
  const Label& label = graph_.plans().label(instance);
  if (label.op != call.node->op || a.output() != ref.output) return false;
  Mark before = mark();
  bool found = false;
  if (bind_attrs(call, label)) {
    Operands operands = graph_.operands(a);
    if (operands.count == call.node->inputs.size()) {
      found = match_operands(call, operands, 0, next);
      if (!found && label.op->commutative && operands.ids[0] != operands.ids[1]) {
        std::swap(operands.ids[0], operands.ids[1]);
        found = match_operands(call, operands, 0, next);
      }
    }
  }
  undo(before);
  return found;
}

/// A call with a follower as the follower of what the call computes.
bool RewriteMatcher::match_follower(const Call& call, Application a, Next next) {
  const Label& then = *graph_.plans().then(static_cast<size_t>(a.instance()));
  if (then.op != call.node->op) return false;
  auto inner = graph_.sibling(a, nullptr);
  if (!inner) return false;
  PatternRef ref = call.node->inputs[0];
  if (auto c = graph_.find(*inner)) return match_class(ref, *c, next);
  return !is_variable(ref) && match(ref, *inner, next);
}

bool RewriteMatcher::match_operands(const Call& call, const Operands& operands, size_t k,
                                    Next next) {
  if (k == operands.count) return next();
  return match_class(call.node->inputs[k], operands.ids[k],
                     [&] { return match_operands(call, operands, k + 1, next); });
}

bool RewriteMatcher::match_class(PatternRef ref, ClassId c, Next next) {
  bool variable = is_variable(ref);
  ClassId& slot = variable ? s_.variables[static_cast<size_t>(variable_of(ref))]
                           : s_.nodes[static_cast<size_t>(ref.node)];
  bool shared = slot != kNoClass;
  if (shared && (variable || from_[static_cast<size_t>(ref.node)].node->op->outputs == 1))
    return slot == c && next();
  if (!variable && !(rewrites_.class_ops_[c] & rule_.from_ops[static_cast<size_t>(ref.node)]))
    return false;
  ClassId before = slot;
  slot = c;
  bool found = false;
  if (variable) {
    found = next();
  } else if (!graph_.is_leaf(c)) {
    for (Application a : graph_.nodes_below(c, size_))
      if (found = match(ref, a, next); found) break;
  }
  slot = before;
  return found;
}

bool RewriteMatcher::bind_attrs(const Call& call, const Label& label) {
  for (size_t k = 0; k < label.attrs.ints.size(); ++k)
    if (!bind_list(call.ints[k], label.attrs.ints[k])) return false;
  for (size_t k = 0; k < label.attrs.reals.size(); ++k) {
    const RuleCode::RealNumber& wanted = call.reals[k];
    double given = label.attrs.reals[k].value;
    bool fits = false;
    switch (wanted.kind) {
      case RuleCode::Kind::Given:
        fits = wanted.value == given;
        break;
      case RuleCode::Kind::Place:
        fits = bind_number(wanted.place, std::bit_cast<int64_t>(given));
        break;
      case RuleCode::Kind::Expression:
        fits = real_value(*wanted.expression) == given;
        break;
    }
    if (!fits) return false;
  }
  return true;
}

bool RewriteMatcher::bind_list(const RuleCode::Ints& wanted, const std::vector<int64_t>& given) {
  if (wanted.list) {
    auto& list = s_.lists[*wanted.list];
    if (list) return *list == given;
    list = &given;
    s_.trail.push_back(s_.bound.size() + *wanted.list);
    return true;
  }
  if (wanted.numbers.empty()) return is_default(wanted, given);
  if (wanted.numbers.size() != given.size()) return false;
  for (size_t i = 0; i < given.size(); ++i) {
    const RuleCode::Number& n = wanted.numbers[i];
    if (n.kind == RuleCode::Kind::Given && n.value != given[i]) return false;
    if (n.kind == RuleCode::Kind::Place && !bind_number(n.place, given[i])) return false;
    if (n.kind == RuleCode::Kind::Expression) s_.expressions.emplace_back(n.poly, given[i]);
  }
  return true;
}

bool RewriteMatcher::bind_number(size_t place, int64_t value) {
  if (s_.bound[place]) return s_.numbers[place] == value;
  s_.bound[place] = 1;
  s_.numbers[place] = value;
  s_.trail.push_back(place);
  return true;
}

// --- numbers ---

std::optional<int64_t> RewriteMatcher::number(Var v) const {
  RuleCode::Meaning m = code_.meaning(v);
  if (m.place) return s_.bound[*m.place] ? std::optional(s_.numbers[*m.place]) : std::nullopt;
  if (!m.variable || s_.variables[*m.variable] == kNoClass) return std::nullopt;
  const Dims& dims = graph_.dims(s_.variables[*m.variable]);
  auto rank = static_cast<int>(dims.size());
  int axis = m.axis < 0 ? m.axis + rank : m.axis;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return dims[static_cast<size_t>(axis)];
}

std::optional<int64_t> RewriteMatcher::value(const Poly& p) const {
  if (p.is_constant()) return p.constant();
  Valuation values;
  bool known = true;
  for_each_symbol(p, [&](Var v) {
    if (v->numerator) return;
    auto n = number(v);
    known = known && n;
    if (n) values[v] = *n;
  });
  if (!known) return std::nullopt;
  return evaluate(p, values);
}

/// The value of an expression of real numbers.
std::optional<double> RewriteMatcher::real_value(const std::string& expression) const {
  return value_of(expression_of(expression), [&](const std::string& name) -> std::optional<double> {
    if (name[0] == '?') {
      auto place = code_.real_place(name.substr(1));
      if (!place || !s_.bound[*place]) return std::nullopt;
      return std::bit_cast<double>(s_.numbers[*place]);
    }
    auto n = number(rule_.rule->pool->named(name));
    return n ? std::optional(static_cast<double>(*n)) : std::nullopt;
  });
}

/// Binds numbers that occur in expressions only; false when an expression has another value, or
/// a condition of the rule does not hold.
bool RewriteMatcher::settle_expressions() {
  for (const auto& [p, given] : s_.expressions)
    if (!value(*p)) bind_by(*p, given);
  return std::all_of(s_.expressions.begin(), s_.expressions.end(),
                     [&](const auto& e) {
                       auto n = value(*e.first);
                       return !n || *n == e.second;
                     }) &&
         std::ranges::all_of(rule_.rule->where, [&](auto& c) { return known_to_hold(c); }) &&
         std::ranges::all_of(rule_.code->real_conditions(),
                             [&](auto& c) { return known_to_hold(c); });
}

bool RewriteMatcher::known_to_hold(const Condition& c) const {
  auto a = value(c.first), b = value(c.second);
  if (c.relation == Relation::Equal) return a == b;
  return a && b && (c.relation == Relation::AtMost ? *a <= *b : *a < *b);
}

bool RewriteMatcher::known_to_hold(const RealCondition& c) const {
  auto a = real_value("=" + c.first), b = real_value("=" + c.second);
  return a && b && holds(*a, c.relation, *b);
}

/// Binds the one number that p is linear in, so that p has that value.
void RewriteMatcher::bind_by(const Poly& p, int64_t given) {
  Valuation known;
  Var open = nullptr;
  bool single = true;
  for_each_symbol(p, [&](Var v) {
    auto n = number(v);
    if (n)
      known[v] = *n;
    else
      single = single && !v->numerator && (open == nullptr || open == v), open = v;
  });
  Poly solution;
  if (!single || open == nullptr) return;
  auto place = code_.meaning(open).place;
  if (!place || !solve_for(p - Poly(given), open, solution)) return;
  bind_number(*place, evaluate(solution, known));
}

/// The rule was found at shapes like these, or holds at random ones like these.
bool RewriteMatcher::holds_here() const {
  for (ClassId c : s_.variables)
    if (c == kNoClass) return true;  // the other side's own
  return rewrites_.holds_at(rule_, s_.variables);
}

bool RewriteMatcher::finish() {
  Mark before = mark();
  bool found = settle_expressions() && holds_here() && build();
  undo(before);
  return found;
}

// --- the other side ---

/// The instance that a node of the other side is, with what was bound. Of instances that differ
/// in what they fit only, the first that fits.
std::optional<int> RewriteMatcher::instance_of(size_t node, const Operands& operands) const {
  for (int instance : rule_.instances[node]) {
    const Label& label = graph_.plans().label(static_cast<size_t>(instance));
    if (!has_attrs(to_[node], label)) continue;
    if (graph_.fits(instance, operands)) return instance;
    if (!label.op->commutative || operands.count < 2) continue;
    Operands mirrored = operands;
    std::swap(mirrored.ids[0], mirrored.ids[1]);
    if (graph_.fits(instance, mirrored)) return instance;
  }
  return std::nullopt;
}

bool RewriteMatcher::has_attrs(const Call& call, const Label& label) const {
  for (size_t k = 0; k < label.attrs.ints.size(); ++k)
    if (!has_list(call.ints[k], label.attrs.ints[k])) return false;
  for (size_t k = 0; k < label.attrs.reals.size(); ++k) {
    const RuleCode::RealNumber& real = call.reals[k];
    double wanted = real.value;
    if (real.kind == RuleCode::Kind::Expression) {
      auto x = real_value(*real.expression);
      if (!x) return false;
      wanted = *x;
    } else if (real.kind == RuleCode::Kind::Place && s_.bound[real.place]) {
      wanted = std::bit_cast<double>(s_.numbers[real.place]);
    }
    if (wanted != label.attrs.reals[k].value) return false;
  }
  return true;
}

bool RewriteMatcher::has_list(const RuleCode::Ints& wanted,
                              const std::vector<int64_t>& given) const {
  if (wanted.list) return s_.lists[*wanted.list] && *s_.lists[*wanted.list] == given;
  if (wanted.numbers.empty()) return is_default(wanted, given);
  if (wanted.numbers.size() != given.size()) return false;
  for (size_t i = 0; i < given.size(); ++i) {
    const RuleCode::Number& n = wanted.numbers[i];
    bool fits = n.kind == RuleCode::Kind::Given ? n.value == given[i]
                : n.kind == RuleCode::Kind::Place
                    ? s_.bound[n.place] && s_.numbers[n.place] == given[i]
                    : value(*n.poly) == given[i];
    if (!fits) return false;
  }
  return true;
}

bool RewriteMatcher::build() {
  PatternRef root = rule_.to->outputs[0];
  if (is_variable(root)) {
    ClassId c = s_.variables[static_cast<size_t>(variable_of(root))];
    return c != kNoClass && visit_({c, {}, kind()});
  }
  s_.calls.assign(to_.size(), std::nullopt);
  auto top = call(root);
  if (!top) top = followed_call(root);
  return top && visit_({graph_.find(*top).value_or(kNoClass), *top, kind()});
}

/// A node as the follower of what its operand calls, whose value need not be stored.
std::optional<Application> RewriteMatcher::followed_call(PatternRef ref) {
  const PatternNode& node = *to_[static_cast<size_t>(ref.node)].node;
  if (node.inputs.size() != 1) return std::nullopt;
  PatternRef input = node.inputs[0];
  if (!is_variable(input)) {
    auto inner = call(input);
    return inner ? graph_.sibling(*inner, node.op) : std::nullopt;
  }
  ClassId c = s_.variables[static_cast<size_t>(variable_of(input))];
  if (c == kNoClass || graph_.is_leaf(c)) return std::nullopt;
  for (Application inner : graph_.nodes_below(c, size_))
    if (auto whole = graph_.sibling(inner, node.op)) return whole;
  return std::nullopt;
}

/// The class that a node of the other side is; kNoClass when it is not stored.
ClassId RewriteMatcher::class_of(PatternRef ref) {
  auto inner = call(ref);
  auto c = inner ? graph_.find_below(*inner, size_) : ValueGraph::Below{};
  if (!c.stored && (inner = followed_call(ref))) c = graph_.find_below(*inner, size_);
  return c.known;
}

MatchKind RewriteMatcher::kind() const {
  for (size_t k = 0; k < s_.variables.size(); ++k) {
    if (s_.variables[k] == kNoClass) continue;
    if (!graph_.is_leaf(s_.variables[k])) return MatchKind::Instance;
    for (size_t j = 0; j < k; ++j)
      if (s_.variables[j] == s_.variables[k]) return MatchKind::Instance;
  }
  return MatchKind::Renaming;
}

std::optional<Application> RewriteMatcher::call(PatternRef ref) {
  auto index = static_cast<size_t>(ref.node);
  if (!s_.calls[index]) {
    Operands operands;
    for (PatternRef input : to_[index].node->inputs) {
      ClassId c = is_variable(input) ? s_.variables[static_cast<size_t>(variable_of(input))]
                                     : class_of(input);
      if (c == kNoClass) return std::nullopt;
      operands.push_back(c);
    }
    auto instance = instance_of(index, operands);
    if (!instance) return std::nullopt;
    s_.calls[index] = {*instance, operands};
  }
  return graph_.application(s_.calls[index]->first, ref.output, s_.calls[index]->second);
}

}  // namespace regraft::gen
