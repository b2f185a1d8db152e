#include "gen/minimise/rewrites.h"

#include <algorithm>

#include "gen/generalise/check.h"
#include "gen/generalise/generalise.h"
#include "ir/algebra/real_expression.h"
#include "ir/rule/pattern.h"

namespace regraft::gen {

/// Matches one directed rule at one application.
class RewriteMatcher {
 public:
  using Visit = FunctionRef<bool(const Rewritten&)>;
  RewriteMatcher(const Rewrites& rewrites, const Rewrites::Directed& rule, int size, Visit visit)
      : rewrites_(rewrites), graph_(rewrites.graph_), rule_(rule), size_(size), visit_(visit) {
    variables_.assign(rule.rule->variables.size(), kNoClass);
    nodes_.assign(rule.from->nodes.size(), kNoClass);
  }
  bool run(Application a) {
    PatternRef root = rule_.from->outputs[0];
    return match(root, a, [&] { return finish(); });
  }

 private:
  using Next = FunctionRef<bool()>;

  bool match(PatternRef ref, Application a, Next next) {
    const PatternNode& node = rule_.from->nodes[static_cast<size_t>(ref.node)];
    auto instance = static_cast<size_t>(a.instance());
    if (graph_.plans().then(instance)) return match_follower(node, a, next);
    const Label& label = graph_.plans().label(instance);
    if (label.op != node.op || a.output() != ref.output) return false;
    size_t lists = lists_.size(), numbers = numbers_.size(), expressions = expressions_.size();
    bool found = false;
    if (bind_attrs(node, label)) {
      Operands operands = graph_.operands(a);
      if (operands.count == node.inputs.size()) {
        found = match_operands(node, operands, 0, next);
        if (!found && label.op->commutative && operands.ids[0] != operands.ids[1]) {
          std::swap(operands.ids[0], operands.ids[1]);
          found = match_operands(node, operands, 0, next);
        }
      }
    }
    lists_.resize(lists);
    numbers_.resize(numbers);
    expressions_.resize(expressions);
    return found;
  }
  /// A call with a follower as the follower of what the call computes.
  bool match_follower(const PatternNode& node, Application a, Next next) {
    const Label& then = *graph_.plans().then(static_cast<size_t>(a.instance()));
    if (then.op != node.op) return false;
    auto inner = graph_.sibling(a, nullptr);
    if (!inner) return false;
    PatternRef ref = node.inputs[0];
    if (auto c = graph_.find(*inner)) return match_class(ref, *c, next);
    return !is_variable(ref) && match(ref, *inner, next);
  }
  bool match_operands(const PatternNode& node, const Operands& operands, size_t k, Next next) {
    if (k == operands.count) return next();
    return match_class(node.inputs[k], operands.ids[k],
                       [&] { return match_operands(node, operands, k + 1, next); });
  }
  bool match_class(PatternRef ref, ClassId c, Next next) {
    ClassId& slot = is_variable(ref) ? variables_[static_cast<size_t>(variable_of(ref))]
                                     : nodes_[static_cast<size_t>(ref.node)];
    bool shared = slot != kNoClass;
    if (shared && is_variable(ref)) return slot == c && next();
    if (shared && rule_.from->nodes[static_cast<size_t>(ref.node)].op->outputs == 1)
      return slot == c && next();
    ClassId before = slot;
    slot = c;
    bool found = false;
    if (is_variable(ref)) {
      found = next();
    } else if (!graph_.is_leaf(c)) {
      for (Application a : graph_.nodes_below(c, size_))
        if (found = match(ref, a, next); found) break;
    }
    slot = before;
    return found;
  }

  bool bind_attrs(const PatternNode& node, const Label& label) {
    for (size_t k = 0; k < label.attrs.ints.size(); ++k)
      if (!bind_list(node, k, label.attrs.ints[k])) return false;
    for (size_t k = 0; k < label.attrs.reals.size(); ++k) {
      const std::string& name = real_variable(node, k);
      if (is_expression(name)) {
        if (real_value(name) != label.attrs.reals[k].value) return false;
        continue;
      }
      if (name.empty()
              ? node.attrs.reals[k].value != label.attrs.reals[k].value
              : !bind_number("." + name, std::bit_cast<int64_t>(label.attrs.reals[k].value)))
        return false;
    }
    return true;
  }
  /// No numbers, or all at their fallback.
  static bool is_default(const PatternNode& node, size_t k, const std::vector<int64_t>& given) {
    auto fallback = node.op->ints[k].fallback;
    return given.empty() || (fallback && std::all_of(given.begin(), given.end(),
                                                     [&](int64_t n) { return n == *fallback; }));
  }
  bool bind_list(const PatternNode& node, size_t k, const std::vector<int64_t>& given) {
    if (const std::string& name = list_variable(node, k); !name.empty()) {
      for (const auto& [bound, value] : lists_)
        if (bound == name) return *value == given;
      lists_.emplace_back(name, &given);
      return true;
    }
    const auto& wanted = node.attrs.ints[k];
    if (wanted.empty()) return is_default(node, k, given);
    if (wanted.size() != given.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].is_constant()) {
        if (wanted[i].constant() != given[i]) return false;
      } else if (auto name = plain(wanted[i])) {
        if (!bind_number(*name, given[i])) return false;
      } else {
        expressions_.emplace_back(&wanted[i], given[i]);
      }
    }
    return true;
  }
  /// The name of the number variable that p is.
  static std::optional<std::string> plain(const Poly& p) {
    if (p.terms().size() != 1 || p.constant() != 0) return std::nullopt;
    const auto& [monomial, coefficient] = *p.terms().begin();
    if (coefficient != 1 || monomial.size() != 1) return std::nullopt;
    return number_name(*monomial[0]);
  }
  bool bind_number(const std::string& name, int64_t value) {
    for (const auto& [bound, v] : numbers_)
      if (bound == name) return v == value;
    numbers_.emplace_back(name, value);
    return true;
  }

  std::optional<int64_t> number(Var v) const {
    if (auto name = number_name(*v)) {
      for (const auto& [bound, value] : numbers_)
        if (bound == *name) return value;
      return std::nullopt;
    }
    auto size = size_name(*v);
    if (!size) return std::nullopt;
    const auto& names = rule_.rule->variables;
    auto it = std::find(names.begin(), names.end(), size->variable);
    if (it == names.end()) return std::nullopt;
    ClassId c = variables_[static_cast<size_t>(it - names.begin())];
    if (c == kNoClass) return std::nullopt;
    const Dims& dims = graph_.plans().info(graph_.shape(c)).dims;
    auto rank = static_cast<int>(dims.size());
    int axis = size->axis < 0 ? size->axis + rank : size->axis;
    if (axis < 0 || axis >= rank) return std::nullopt;
    return dims[static_cast<size_t>(axis)];
  }
  std::optional<int64_t> value(const Poly& p) const {
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

  /// The instance that a node of the other side is, with what was bound. Of instances that differ
  /// in what they fit only, the first that fits.
  std::optional<int> instance_of(const PatternNode& node, const Operands& operands) const {
    const auto& instances = graph_.plans().grammar().instances;
    auto same_op = rewrites_.instances_.find({node.op, operands.count});
    if (same_op == rewrites_.instances_.end()) return std::nullopt;
    std::array<const Dims*, kMaxArity> all{};
    std::span<const Dims*> dims(all.data(), operands.count);
    for (size_t k = 0; k < dims.size(); ++k)
      dims[k] = &graph_.plans().info(graph_.shape(operands.ids[k])).dims;
    for (int instance : same_op->second) {
      auto k = static_cast<size_t>(instance);
      const Label& label = graph_.plans().label(k);
      if (!has_attrs(node, label)) continue;
      if (fits(instances[k], dims)) return instance;
      if (!label.op->commutative || operands.count < 2) continue;
      std::swap(dims[0], dims[1]);
      if (fits(instances[k], dims)) return instance;
      std::swap(dims[0], dims[1]);
    }
    return std::nullopt;
  }
  bool has_attrs(const PatternNode& node, const Label& label) const {
    for (size_t k = 0; k < label.attrs.ints.size(); ++k)
      if (!has_list(node, k, label.attrs.ints[k])) return false;
    for (size_t k = 0; k < label.attrs.reals.size(); ++k) {
      double wanted = node.attrs.reals[k].value;
      const std::string& name = real_variable(node, k);
      if (is_expression(name)) {
        auto x = real_value(name);
        if (!x) return false;
        wanted = *x;
      } else if (!name.empty())
        for (const auto& [bound, v] : numbers_)
          if (bound == "." + name) wanted = std::bit_cast<double>(v);
      if (wanted != label.attrs.reals[k].value) return false;
    }
    return true;
  }
  bool has_list(const PatternNode& node, size_t k, const std::vector<int64_t>& given) const {
    if (const std::string& name = list_variable(node, k); !name.empty()) {
      for (const auto& [bound, v] : lists_)
        if (bound == name) return *v == given;
      return false;
    }
    const auto& wanted = node.attrs.ints[k];
    if (wanted.empty()) return is_default(node, k, given);
    if (wanted.size() != given.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (value(wanted[i]) != given[i]) return false;
    return true;
  }

  using Calls = std::vector<std::optional<std::pair<int, Operands>>>;

  /// Binds numbers that occur in expressions only; false when an expression has another value, or
  /// a condition of the rule does not hold.
  bool settle_expressions() {
    for (const auto& [p, given] : expressions_)
      if (!value(*p)) bind_by(*p, given);
    return std::all_of(expressions_.begin(), expressions_.end(),
                       [&](const auto& e) {
                         auto n = value(*e.first);
                         return !n || *n == e.second;
                       }) &&
           std::ranges::all_of(rule_.rule->where, [&](auto& c) { return known_to_hold(c); }) &&
           std::ranges::all_of(rule_.rule->real_where, [&](auto& c) { return known_to_hold(c); });
  }
  bool known_to_hold(const Condition& c) const {
    auto a = value(c.first), b = value(c.second);
    if (c.relation == Relation::Equal) return a == b;
    return a && b && (c.relation == Relation::AtMost ? *a <= *b : *a < *b);
  }
  bool known_to_hold(const RealCondition& c) const {
    auto a = real_value("=" + c.first), b = real_value("=" + c.second);
    return a && b && holds(*a, c.relation, *b);
  }
  /// The value of an expression of real numbers.
  std::optional<double> real_value(const std::string& expression) const {
    return value_of(expression_of(expression), [&](const std::string& name) {
      std::optional<double> x;
      for (const auto& [bound, v] : numbers_)
        if (name[0] == '?' && bound == "." + name.substr(1)) x = std::bit_cast<double>(v);
      if (name[0] == '?') return x;
      if (auto n = number(rule_.rule->pool->named(name))) x = static_cast<double>(*n);
      return x;
    });
  }
  /// Binds the one number that p is linear in, so that p has that value.
  void bind_by(const Poly& p, int64_t given) {
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
    if (!single || open == nullptr || !number_name(*open)) return;
    if (!solve_for(p - Poly(given), open, solution)) return;
    numbers_.emplace_back(*number_name(*open), evaluate(solution, known));
  }

  /// The rule was found at shapes like these, or holds at random ones like these.
  bool holds_here() const {
    std::vector<uint32_t> words;
    for (ClassId c : variables_) {
      if (c == kNoClass) return true;  // the other side's own
      words.push_back(rewrites_.word_of(c));
    }
    return rewrites_.holds_at(rule_, words);
  }

  bool finish() {
    size_t numbers = numbers_.size();
    bool found = settle_expressions() && holds_here() && build();
    numbers_.resize(numbers);
    return found;
  }
  bool build() {
    PatternRef root = rule_.to->outputs[0];
    if (is_variable(root)) {
      ClassId c = variables_[static_cast<size_t>(variable_of(root))];
      return c != kNoClass && visit_({c, {}, kind()});
    }
    Calls calls(rule_.to->nodes.size());
    auto top = call(root, calls);
    if (!top) top = followed_call(root, calls);
    return top && visit_({graph_.find(*top).value_or(kNoClass), *top, kind()});
  }
  /// A node as the follower of what its operand calls, whose value need not be stored.
  std::optional<Application> followed_call(PatternRef ref, Calls& calls) const {
    const PatternNode& node = rule_.to->nodes[static_cast<size_t>(ref.node)];
    if (node.inputs.size() != 1) return std::nullopt;
    PatternRef input = node.inputs[0];
    if (!is_variable(input)) {
      auto inner = call(input, calls);
      return inner ? graph_.sibling(*inner, node.op) : std::nullopt;
    }
    ClassId c = variables_[static_cast<size_t>(variable_of(input))];
    if (c == kNoClass || graph_.is_leaf(c)) return std::nullopt;
    for (Application inner : graph_.nodes_below(c, size_))
      if (auto whole = graph_.sibling(inner, node.op)) return whole;
    return std::nullopt;
  }
  /// The class that a node of the other side is; kNoClass when it is not stored.
  ClassId class_of(PatternRef ref, Calls& calls) const {
    auto inner = call(ref, calls);
    auto c = inner ? graph_.find(*inner) : std::nullopt;
    if (!c && (inner = followed_call(ref, calls))) c = graph_.find(*inner);
    bool known = c && graph_.operand_union(*inner) + 1 < size_;
    return known ? *c : kNoClass;
  }
  MatchKind kind() const {
    for (size_t k = 0; k < variables_.size(); ++k) {
      if (variables_[k] == kNoClass) continue;
      if (!graph_.is_leaf(variables_[k])) return MatchKind::Instance;
      for (size_t j = 0; j < k; ++j)
        if (variables_[j] == variables_[k]) return MatchKind::Instance;
    }
    return MatchKind::Renaming;
  }
  std::optional<Application> call(PatternRef ref, Calls& calls) const {
    auto index = static_cast<size_t>(ref.node);
    if (!calls[index]) {
      const PatternNode& node = rule_.to->nodes[index];
      Operands operands;
      for (PatternRef input : node.inputs) {
        ClassId c = kNoClass;
        if (is_variable(input)) {
          c = variables_[static_cast<size_t>(variable_of(input))];
        } else {
          c = class_of(input, calls);
        }
        if (c == kNoClass) return std::nullopt;
        operands.push_back(c);
      }
      auto instance = instance_of(node, operands);
      if (!instance) return std::nullopt;
      calls[index] = {*instance, operands};
    }
    return graph_.application(calls[index]->first, ref.output, calls[index]->second);
  }

  const Rewrites& rewrites_;
  const ValueGraph& graph_;
  const Rewrites::Directed& rule_;
  const int size_;
  const Visit visit_;
  std::vector<ClassId> variables_, nodes_;
  std::vector<std::pair<std::string, const std::vector<int64_t>*>> lists_;
  std::vector<std::pair<std::string, int64_t>> numbers_;
  std::vector<std::pair<const Poly*, int64_t>> expressions_;
};

bool Rewrites::holds_at(const Directed& rule, const std::vector<uint32_t>& words) const {
  KnownShapes& known = *rule.shapes;
  std::lock_guard lock(known.mutex);
  for (const auto& [seen, holds] : known.looked_up)
    if (seen == words) return holds;
  Signature here;
  for (uint32_t w : words) here.push_back(word_list_[w]);
  auto [it, fresh] = known.holds.try_emplace(here, false);
  if (fresh) it->second = check(*rule.rule, here, kShapeSeed, kShapes) == Evidence::Holds;
  known.looked_up.emplace_back(words, it->second);
  return it->second;
}

void Rewrites::add(const Rule& rule, const std::vector<Signature>& found) {
  if (rule.lhs.outputs.size() != 1) return;
  auto shared = std::make_shared<const Rule>(rule);
  added_.push_back({shared, found});
  auto shapes = std::make_shared<KnownShapes>();
  for (const Signature& s : found) shapes->holds.emplace(s, true);
  add_directed({shared, &shared->lhs, &shared->rhs, {}, shapes});
  add_directed({shared, &shared->rhs, &shared->lhs, {}, shapes});
}

Rewrites::Rewrites(const ValueGraph& graph) : graph_(graph) {
  ShapedOps& ops = graph.plans();
  const auto& instances = ops.grammar().instances;
  by_root_.resize(instances.size());
  for (size_t k = 0; k < instances.size(); ++k) {
    instance_ops_.push_back(bit_of(ops.root(k)));
    if (!ops.then(k))
      instances_[{ops.label(k).op, instances[k].operands.size()}].push_back(static_cast<int>(k));
  }
  std::map<std::string, uint32_t> words;
  for (ClassId c = 0; c < graph.size(); ++c) {
    add_word(graph.shape(c), words);
    uint64_t& bits = class_ops_.emplace_back(0);
    if (graph.is_leaf(c)) continue;
    for (Application a : graph.nodes(c)) bits |= instance_ops_[static_cast<size_t>(a.instance())];
  }
}

void Rewrites::add_word(ShapeId shape, std::map<std::string, uint32_t>& words) {
  if (words_.size() <= shape) words_.resize(shape + 1, kNoWord);
  if (words_[shape] != kNoWord) return;
  std::string word;
  for (int64_t d : graph_.plans().info(shape).dims) word += d == 1 ? '1' : 'n';
  if (word.empty()) word = "-";
  auto [it, fresh] = words.try_emplace(word, static_cast<uint32_t>(word_list_.size()));
  if (fresh) word_list_.push_back(word);
  words_[shape] = it->second;
}

/// The given numbers of a pattern's root are an instance's, as far as that can be said beforehand.
bool Rewrites::may_be(const PatternNode& node, const Label& label) const {
  for (size_t k = 0; k < label.attrs.ints.size(); ++k) {
    const auto& wanted = node.attrs.ints[k];
    const auto& given = label.attrs.ints[k];
    if (!list_variable(node, k).empty() || wanted.empty()) continue;
    if (wanted.size() != given.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].is_constant() && wanted[i].constant() != given[i]) return false;
  }
  return true;
}

void Rewrites::add_directed(Directed d) {
  PatternRef root = d.from->outputs[0];
  if (is_variable(root)) return;
  const PatternNode& node = d.from->nodes[static_cast<size_t>(root.node)];
  if (node.inputs.size() > kMaxArity) return;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    PatternRef input = node.inputs[k];
    if (!is_variable(input))
      d.wanted[k] = bit_of(d.from->nodes[static_cast<size_t>(input.node)].op);
  }
  ShapedOps& ops = graph_.plans();
  for (size_t instance = 0; instance < by_root_.size(); ++instance) {
    if (ops.root(instance) != node.op) continue;
    if (!ops.then(instance) && !may_be(node, ops.label(instance))) continue;
    auto& buckets = by_root_[instance];
    auto at = std::find_if(buckets.begin(), buckets.end(),
                           [&](const Bucket& b) { return b.wanted == d.wanted; });
    if (at == buckets.end()) at = buckets.insert(buckets.end(), {d.wanted, {}});
    at->rules.push_back(rules_.size());
  }
  rules_.push_back(std::move(d));
}

Rewrites::OperandOps Rewrites::operand_ops(Application a) const {
  OperandOps r{};
  auto instance = static_cast<size_t>(a.instance());
  if (graph_.plans().then(instance)) {
    auto plain = graph_.sibling(a, nullptr);
    auto c = plain ? graph_.find(*plain) : std::nullopt;
    r[0] = c ? class_ops_[*c] : bit_of(graph_.plans().label(instance).op);
    return r;
  }
  Operands operands = graph_.operands(a);
  for (size_t k = 0; k < operands.count; ++k) r[k] = class_ops_[operands.ids[k]];
  return r;
}

void Rewrites::at(Application a, size_t first, int size,
                  FunctionRef<bool(const Rewritten&)> visit) const {
  auto instance = static_cast<size_t>(a.instance());
  const auto& buckets = by_root_[instance];
  if (buckets.empty()) return;
  OperandOps has = operand_ops(a), swapped = has;
  if (graph_.plans().root(instance)->commutative) std::swap(swapped[0], swapped[1]);
  auto fits = [](const OperandOps& wanted, const OperandOps& ops) {
    for (size_t k = 0; k < kMaxArity; ++k)
      if (wanted[k] & ~ops[k]) return false;
    return true;
  };
  for (const Bucket& bucket : buckets) {
    if (bucket.rules.back() < first) continue;
    if (!fits(bucket.wanted, has) && !fits(bucket.wanted, swapped)) continue;
    for (auto k = std::lower_bound(bucket.rules.begin(), bucket.rules.end(), first);
         k != bucket.rules.end(); ++k)
      if (RewriteMatcher(*this, rules_[*k], size, visit).run(a)) return;
  }
}

}  // namespace regraft::gen
