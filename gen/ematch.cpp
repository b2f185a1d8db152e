#include "gen/ematch.h"

#include <algorithm>
#include <bit>

#include "ir/pattern.h"

namespace regraft::gen {

size_t Matchable::number_of(Names& names, const std::string& name) {
  auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) it = names.insert(it, name);
  return static_cast<size_t>(it - names.begin());
}

Matchable::Matchable(const Rule& rule) : rule_(rule) {
  sides_[Forward] = compile(rule_.lhs);
  sides_[Backward] = compile(rule_.rhs);
  find_bound(sides_[Forward]);
  find_bound(sides_[Backward]);
}

Matchable::Ints Matchable::compile_ints(const PatternNode& node, size_t k) {
  Ints ints;
  if (!list_variable(node, k).empty()) {
    ints.list = static_cast<int>(number_of(lists_, list_variable(node, k)));
    return ints;
  }
  for (const Poly& p : node.attrs.ints[k]) {
    Number number;
    number.poly = &p;
    number.kind = p.is_constant() ? Number::Given : Number::Expression;
    number.value = p.constant();
    for_each_symbol(p, [&](Var v) {
      if (auto name = number_name(*v)) {
        size_t id = number_of(numbers_, *name);
        number_symbols_.resize(numbers_.size(), nullptr);
        number_symbols_[id] = v;
        number.unknowns.push_back(id);
        if (same(p, Poly::symbol(v))) {
          number.kind = Number::Variable;
          number.value = static_cast<int64_t>(id);
        }
      } else if (auto size = size_name(*v)) {
        auto it = std::find(rule_.variables.begin(), rule_.variables.end(), size->variable);
        auto known = std::find_if(sizes_.begin(), sizes_.end(),
                                  [&](const SizeSymbol& s) { return s.symbol == v; });
        if (known == sizes_.end())
          sizes_.push_back({v, static_cast<size_t>(it - rule_.variables.begin()), size->axis});
      }
    });
    std::sort(number.unknowns.begin(), number.unknowns.end());
    auto last = std::unique(number.unknowns.begin(), number.unknowns.end());
    number.unknowns.erase(last, number.unknowns.end());
    ints.numbers.push_back(std::move(number));
  }
  return ints;
}

Matchable::Side Matchable::compile(const Pattern& pattern) {
  Side side;
  side.pattern = &pattern;
  for (const PatternNode& node : pattern.nodes) {
    Call call;
    call.node = &node;
    for (size_t k = 0; k < node.op->ints.size(); ++k) call.ints.push_back(compile_ints(node, k));
    for (size_t k = 0; k < node.op->reals.size(); ++k) {
      const std::string& name = real_variable(node, k);
      call.reals.push_back(name.empty() ? -1 : static_cast<int>(number_of(reals_, name)));
    }
    side.calls.push_back(std::move(call));
  }
  for (PatternRef r : pattern.outputs) add_steps(side, r);
  return side;
}

void Matchable::add_steps(Side& side, PatternRef r) const {
  if (is_variable(r)) return;
  if (std::find(side.steps.begin(), side.steps.end(), r) != side.steps.end()) return;
  side.steps.push_back(r);
  for (PatternRef x : side.pattern->nodes[static_cast<size_t>(r.node)].inputs) add_steps(side, x);
}

/// A side binds all when its calls and outputs mention every tensor variable, list and real, and
/// every number variable can be solved for, one after the other.
void Matchable::find_bound(Side& side) const {
  std::vector<char> tensors(rule_.variables.size(), 0), lists(lists_.size(), 0),
      numbers(numbers_.size(), 0), reals(reals_.size(), 0);
  auto tensor = [&](PatternRef r) {
    if (is_variable(r)) tensors[static_cast<size_t>(variable_of(r))] = 1;
  };
  for (PatternRef r : side.pattern->outputs) tensor(r);
  for (const Call& call : side.calls) {
    for (PatternRef r : call.node->inputs) tensor(r);
    for (const Ints& ints : call.ints)
      if (ints.list >= 0) lists[static_cast<size_t>(ints.list)] = 1;
    for (int r : call.reals)
      if (r >= 0) reals[static_cast<size_t>(r)] = 1;
  }
  for (size_t round = 0; round <= numbers.size(); ++round)
    for (const Call& call : side.calls)
      for (const Ints& ints : call.ints)
        for (const Number& n : ints.numbers) {
          auto open = std::count_if(n.unknowns.begin(), n.unknowns.end(),
                                    [&](size_t id) { return numbers[id] == 0; });
          if (open == 1)
            for (size_t id : n.unknowns) numbers[id] = 1;
        }
  auto all = [](const std::vector<char>& v) { return std::find(v.begin(), v.end(), 0) == v.end(); };
  side.binds_all = all(tensors) && all(lists) && all(numbers) && all(reals);
}

const OpDef* Matchable::root(Direction d) const {
  PatternRef r = sides_[d].pattern->outputs[0];
  return is_variable(r) ? nullptr : sides_[d].pattern->nodes[static_cast<size_t>(r.node)].op;
}

std::optional<Valuation> Matchable::valuation(const EGraph& graph, const Match& match) const {
  Valuation values;
  for (const SizeSymbol& s : sizes_) {
    if (s.variable >= match.tensors.size()) return std::nullopt;
    const auto& shape = graph.shape(match.tensors[s.variable]);
    int axis = s.axis < 0 ? s.axis + static_cast<int>(shape.size()) : s.axis;
    if (axis < 0 || axis >= static_cast<int>(shape.size())) return std::nullopt;
    values[s.symbol] = shape[static_cast<size_t>(axis)];
  }
  for (size_t k = 0; k < number_symbols_.size(); ++k)
    if (number_symbols_[k]) values[number_symbols_[k]] = match.numbers[k].value_or(0);
  return values;
}

std::optional<Attrs<int64_t>> Matchable::attributes(const Call& call, int rank, const Match& match,
                                                    const Valuation& values) const {
  Attrs<int64_t> attrs;
  for (size_t k = 0; k < call.ints.size(); ++k) {
    const IntAttr& attr = call.node->op->ints[k];
    attrs.ints.emplace_back();
    if (call.ints[k].list >= 0) {
      attrs.ints[k] = *match.lists[static_cast<size_t>(call.ints[k].list)];
    } else if (call.ints[k].numbers.empty()) {
      attrs.ints[k].assign(attr_length(attr, rank).value_or(0), attr.fallback.value_or(0));
    } else {
      for (const Number& n : call.ints[k].numbers)
        attrs.ints[k].push_back(n.kind == Number::Given ? n.value : evaluate(*n.poly, values));
    }
  }
  for (size_t k = 0; k < call.reals.size(); ++k)
    attrs.reals.push_back(call.reals[k] < 0
                              ? call.node->attrs.reals[k]
                              : Real{*match.reals[static_cast<size_t>(call.reals[k])], nullptr});
  return attrs;
}

int32_t Matchable::result_size(const EGraph& graph, Direction d, const Match& match) const {
  const Side& side = sides_[d == Forward ? Backward : Forward];
  std::vector<int32_t> sizes;
  auto size_of = [&](PatternRef r) {
    return is_variable(r) ? graph.term_size(match.tensors[static_cast<size_t>(variable_of(r))])
                          : sizes[static_cast<size_t>(r.node)];
  };
  for (const PatternNode& node : side.pattern->nodes) {
    sizes.push_back(1);
    for (PatternRef r : node.inputs) sizes.back() = std::min(sizes.back() + size_of(r), 1 << 20);
  }
  int32_t largest = 0;
  for (PatternRef r : side.pattern->outputs) largest = std::max(largest, size_of(r));
  return largest;
}

std::optional<std::vector<NodeId>> Matchable::result(EGraph& graph, Direction d,
                                                     const Match& match) const {
  const Side& side = sides_[d == Forward ? Backward : Forward];
  auto values = valuation(graph, match);
  if (!values) return std::nullopt;
  std::map<PatternRef, NodeId> made;
  std::function<std::optional<NodeId>(PatternRef)> value =
      [&](PatternRef r) -> std::optional<NodeId> {
    if (is_variable(r)) return match.tensors[static_cast<size_t>(variable_of(r))];
    if (auto it = made.find(r); it != made.end()) return it->second;
    const Call& call = side.calls[static_cast<size_t>(r.node)];
    std::vector<NodeId> operands;
    for (PatternRef x : call.node->inputs) {
      auto operand = value(x);
      if (!operand) return std::nullopt;
      operands.push_back(*operand);
    }
    int rank = operands.empty() ? 0 : static_cast<int>(graph.shape(operands[0]).size());
    auto attrs = attributes(call, rank, match, *values);
    if (!attrs) return std::nullopt;
    auto node = graph.add(*call.node->op, *std::move(attrs), r.output, operands);
    if (node) made[r] = *node;
    return node;
  };
  std::vector<NodeId> outputs;
  for (PatternRef r : side.pattern->outputs) {
    auto node = value(r);
    if (!node) return std::nullopt;
    outputs.push_back(*node);
  }
  return outputs;
}

// --- matching ---

/// One run of a side over a graph; undoes its bindings when it backtracks.
class SideMatcher {
 public:
  SideMatcher(const Matchable& rule, const Matchable::Side& side, const EGraph& graph,
              const std::vector<NodeId>& anything, size_t limit)
      : rule_(rule), side_(side), graph_(graph), anything_(anything), limit_(limit) {
    match_.tensors.assign(rule.rule_.variables.size(), -1);
    match_.lists.resize(rule.lists_.size());
    match_.numbers.resize(rule.numbers_.size());
    match_.reals.resize(rule.reals_.size());
    match_.roots.assign(side.pattern->outputs.size(), -1);
    classes_.assign(side.steps.size(), -1);
    nodes_.assign(side.steps.size(), -1);
  }

  std::vector<Match> run() {
    root(0);
    return std::move(found_);
  }

 private:
  using Next = std::function<void()>;
  size_t step_of(PatternRef r) const {
    return static_cast<size_t>(std::find(side_.steps.begin(), side_.steps.end(), r) -
                               side_.steps.begin());
  }
  bool full() const { return found_.size() >= limit_; }

  /// Output k of the side, then the ones after it, then what is open among the calls.
  void root(size_t k) {
    if (k == side_.pattern->outputs.size()) return finish();
    PatternRef r = side_.pattern->outputs[k];
    if (is_variable(r)) {
      auto variable = static_cast<size_t>(variable_of(r));
      NodeId old = match_.tensors[variable];
      for (NodeId n : anything_) {
        if (full()) return;
        if (old >= 0 && !graph_.equal(old, n)) continue;
        match_.tensors[variable] = old >= 0 ? old : n;
        match_.roots[k] = n;
        root(k + 1);
        match_.tensors[variable] = old;
      }
      return;
    }
    size_t s = step_of(r);
    if (classes_[s] >= 0) {
      match_.roots[k] = classes_[s];
      return root(k + 1);
    }
    const OpDef& op = *side_.pattern->nodes[static_cast<size_t>(r.node)].op;
    for (NodeId n : graph_.nodes_of(op, r.output)) {
      if (full()) return;
      if (graph_.is_duplicate(n)) continue;
      classes_[s] = n;
      match_.roots[k] = n;
      node(s, n, [&] { down(s + 1, [&] { root(k + 1); }); });
      classes_[s] = -1;
    }
  }

  /// The steps from s on that belong to the output under way: those with a class and no node.
  void down(size_t s, const Next& next) {
    while (s < side_.steps.size() && (classes_[s] < 0 || nodes_[s] >= 0)) ++s;
    if (s == side_.steps.size()) return next();
    for (NodeId n : graph_.members(classes_[s])) {
      if (full()) return;
      if (!fits(s, n)) continue;
      size_t premises = match_.premises.size();
      match_.premises.emplace_back(classes_[s], n);
      node(s, n, [&] { down(s + 1, next); });
      match_.premises.resize(premises);
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
  void node(size_t s, NodeId n, const Next& next) {
    auto operands = graph_.operands(n);
    const auto& inputs = call(s).node->inputs;
    if (operands.size() != inputs.size()) return;
    size_t bound = trail_.size();
    int64_t rank = operands.empty() ? 0 : static_cast<int64_t>(graph_.shape(operands[0]).size());
    if (attributes(call(s), graph_.label(n), rank)) {
      nodes_[s] = n;
      std::vector<NodeId> order(operands.begin(), operands.end());
      operand(inputs, order, 0, next);
      bool commutes = call(s).node->op->commutative && order.size() >= 2;
      if (commutes && !graph_.equal(order[0], order[1])) {
        std::swap(order[0], order[1]);
        operand(inputs, order, 0, next);
      }
      nodes_[s] = -1;
    }
    for (; trail_.size() > bound; trail_.pop_back()) unbind(trail_.back());
  }

  NodeId& slot(PatternRef r) {
    return is_variable(r) ? match_.tensors[static_cast<size_t>(variable_of(r))]
                          : classes_[step_of(r)];
  }
  void operand(const std::vector<PatternRef>& inputs, const std::vector<NodeId>& operands, size_t k,
               const Next& next) {
    if (full()) return;
    if (k == inputs.size()) return next();
    NodeId given = operands[k], bound = slot(inputs[k]);
    if (bound < 0) {
      slot(inputs[k]) = given;
      operand(inputs, operands, k + 1, next);
      slot(inputs[k]) = -1;
    } else if (graph_.equal(bound, given)) {
      match_.premises.emplace_back(bound, given);
      operand(inputs, operands, k + 1, next);
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
      bool from_back = n.value < 0 && counts_axes(attr);
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
    if (solve() && check()) found_.push_back(match_);
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
  Match match_;
  std::vector<NodeId> classes_, nodes_;  // of each step
  std::vector<Bound> trail_;
  std::vector<Match> found_;
};

std::vector<Match> Matchable::matches(const EGraph& graph, Direction d,
                                      const std::vector<NodeId>& anything, size_t limit) const {
  return SideMatcher(*this, sides_[d], graph, anything, limit).run();
}

// --- when a rule applies ---

/// The signatures of the rule's domain that the shapes fit; without a domain, any sizes and then
/// broadcasting along extents of 1.
std::vector<Signature> Matchable::signatures(const EGraph& graph, const Match& match) const {
  auto shape = [&](size_t v) -> const std::vector<int64_t>& {
    return graph.shape(match.tensors[v]);
  };
  auto fits = [](const std::string& word, const std::vector<int64_t>& extents) {
    if (word == "-") return extents.empty();
    if (word.size() != extents.size()) return false;
    for (size_t d = 0; d < extents.size(); ++d)
      if (word[d] == '1' && extents[d] != 1) return false;
    return true;
  };
  std::vector<Signature> r;
  for (const Signature& s : rule_.domain) {
    bool all = true;
    for (size_t v = 0; all && v < s.size(); ++v) all = fits(s[v], shape(v));
    if (all) r.push_back(s);
  }
  if (!rule_.domain.empty()) return r;
  Signature general, special;
  for (size_t v = 0; v < match.tensors.size(); ++v) {
    const auto& extents = shape(v);
    general.push_back(extents.empty() ? "-" : std::string(extents.size(), 'n'));
    special.push_back(general.back());
    for (size_t d = 0; d < extents.size(); ++d)
      if (extents[d] == 1) special.back()[d] = '1';
  }
  r.push_back(general);
  if (special != general) r.push_back(special);
  return r;
}

const Matchable::Form* Matchable::form(const Signature& signature) const {
  std::lock_guard lock(mutex_);
  auto it = forms_.find(signature);
  if (it != forms_.end()) return it->second.get();
  std::unique_ptr<Form> form;
  if (auto instance = instantiate(rule_, signature)) {
    form = std::make_unique<Form>();
    form->instance = *std::move(instance);
    for (const std::string& name : numbers_)
      form->numbers.push_back(form->instance.lhs.pool().named(name));
  }
  return forms_.emplace(signature, std::move(form)).first->second.get();
}

bool Matchable::holds(const Form& form, const EGraph& graph, const Match& match) const {
  Valuation values;
  bool in_range = true;
  auto set = [&](Var v, int64_t n) {
    values[v] = n;
    in_range = in_range && n >= v->min;
  };
  for (size_t v = 0; v < match.tensors.size(); ++v) {
    const auto& shape = graph.shape(match.tensors[v]);
    for (size_t d = 0; d < shape.size(); ++d)
      if (form.instance.sizes[v][d]) set(*form.instance.sizes[v][d], shape[d]);
  }
  for (size_t k = 0; k < numbers_.size(); ++k) set(form.numbers[k], *match.numbers[k]);
  for (size_t k = 0; k < lists_.size(); ++k) {
    auto it = form.instance.list_symbols.find(lists_[k]);
    if (it == form.instance.list_symbols.end()) continue;
    if (it->second.size() != match.lists[k]->size()) return false;
    for (size_t i = 0; i < it->second.size(); ++i) set(it->second[i], (*match.lists[k])[i]);
  }
  return in_range && evaluate(form.instance.requires_lhs, values);
}

bool Matchable::applies(const EGraph& graph, const Match& match) const {
  for (const Signature& s : signatures(graph, match)) {
    const Form* f = form(s);
    if (f && holds(*f, graph, match)) return true;
  }
  return false;
}

}  // namespace regraft::gen
