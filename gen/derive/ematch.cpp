#include "gen/derive/ematch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "gen/enumerate/kernel.h"
#include "gen/generalise/check.h"
#include "gen/generalise/generalise.h"
#include "ir/algebra/real_expression.h"
#include "ir/rule/pattern.h"

namespace regraft::gen {

size_t Matchable::number_of(Names& names, const std::string& name) {
  auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) it = names.insert(it, name);
  return static_cast<size_t>(it - names.begin());
}

namespace {

constexpr int32_t kMaxSize = 1 << 20;

/// A constant whose extents depend on a variable: to add or multiply by one made to measure is
/// possible everywhere and rarely leads anywhere.
bool has_sized_maker(const Pattern& side) {
  return std::any_of(side.nodes.begin(), side.nodes.end(), [](const PatternNode& n) {
    return n.inputs.empty() &&
           std::any_of(n.attrs.ints.begin(), n.attrs.ints.end(), [](const auto& list) {
             return !std::all_of(list.begin(), list.end(),
                                 [](const Poly& p) { return p.is_constant(); });
           });
  });
}

/// Not defined for all inputs. Thread-safe.
bool is_partial(const OpDef& op) {
  static std::mutex mutex;
  static std::map<const OpDef*, bool> known;
  std::lock_guard lock(mutex);
  auto [it, fresh] = known.try_emplace(&op, true);
  if (fresh)
    if (auto kernel = kernel_of(op)) it->second = kernel->is_partial();
  return it->second;
}
bool is_partial(const Pattern& side) {
  return std::any_of(side.nodes.begin(), side.nodes.end(),
                     [](const PatternNode& n) { return is_partial(*n.op); });
}

}  // namespace

Matchable::Matchable(const Rule& rule)
    : rule_(rule), family_(is_family(rule)), domain_forms_(rule.domain.size()) {
  sides_.push_back(compile(rule_.lhs));
  sides_.push_back(compile(rule_.rhs));
  find_bound(sides_[Forward]);
  find_bound(sides_[Backward]);
  bool bare = std::all_of(rule_.rhs.outputs.begin(), rule_.rhs.outputs.end(), is_variable);
  if (bare && has_sized_maker(rule_.lhs)) sides_[Backward].binds_all = false;
  if (!rule_.both && is_partial(rule_.lhs))  // may be undefined where the right side is not
    sides_[Backward].binds_all = false;
}

/// A size that an attribute is made of.
void Matchable::note_size(Var v) {
  auto size = size_name(*v);
  auto at = size_at_axis(*v);
  if (!size && !at) return;
  const std::string& variable = size ? size->variable : at->variable;
  auto it = std::find(rule_.variables.begin(), rule_.variables.end(), variable);
  bool known = std::ranges::any_of(sizes_, [&](const SizeSymbol& s) { return s.symbol == v; });
  if (!known)
    sizes_.push_back({v, static_cast<size_t>(it - rule_.variables.begin()), size ? size->axis : 0,
                      at ? at->axis : ""});
}

Matchable::Ints Matchable::compile_ints(const PatternNode& node, size_t k) {
  Ints ints;
  if (!list_variable(node, k).empty()) {
    ints.list = static_cast<int>(number_of(lists_, list_variable(node, k)));
    return ints;
  }
  ints.axes = axis_term(node, k);
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
      } else {
        note_size(v);
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
  Side side{&pattern, EPattern(pattern), {}, {}, {}, false};
  for (const EPattern::Step& step : side.order.steps)
    for (int32_t v : step.operands)
      if (v >= 0 && std::ranges::find(side.variables, v) == side.variables.end())
        side.variables.push_back(v);
  for (const EPattern::Step& step : side.order.steps)
    if (step.node) side.made.push_back(step.ref);
  std::sort(side.made.begin(), side.made.end());
  for (const PatternNode& node : pattern.nodes) {
    Call call;
    call.node = &node;
    for (size_t k = 0; k < node.op->ints.size(); ++k) call.ints.push_back(compile_ints(node, k));
    for (size_t k = 0; k < node.op->reals.size(); ++k) {
      const std::string& name = real_variable(node, k);
      bool variable = !name.empty() && !is_expression(name);
      if (is_expression(name))
        for_each_name(expression_of(name), [&](const std::string& size) {
          if (size[0] != '?') note_size(symbol_of_name(size, *rule_.pool));
        });
      call.reals.push_back(variable ? static_cast<int>(number_of(reals_, name)) : -1);
    }
    side.calls.push_back(std::move(call));
  }
  return side;
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
  bool axes = true;
  std::vector<std::string> found;
  for (size_t round = 0; round <= side.calls.size(); ++round)
    for (const Call& call : side.calls)
      for (const Ints& ints : call.ints)
        if (ints.axes)
          if (std::string name = solvable(*ints.axes, found); !name.empty()) found.push_back(name);
  for (const std::string& name : axis_variables(rule_))
    axes = axes && std::find(found.begin(), found.end(), name) != found.end();
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
  // an expression of reals is computed, not solved: a side that has one is not matched
  bool solved = std::none_of(side.calls.begin(), side.calls.end(), [](const Call& call) {
    for (size_t k = 0; k < call.reals.size(); ++k)
      if (is_expression(real_variable(*call.node, k))) return true;
    return false;
  });
  side.binds_all = solved && axes && all(tensors) && all(lists) && all(numbers) && all(reals);
}

const OpDef* Matchable::root(Direction d) const {
  PatternRef r = sides_[d].pattern->outputs[0];
  return is_variable(r) ? nullptr : sides_[d].pattern->nodes[static_cast<size_t>(r.node)].op;
}

std::optional<Valuation> Matchable::valuation(const SizedEGraph& graph, const Match& match) const {
  Valuation values;
  for (const SizeSymbol& s : sizes_) {
    if (s.variable >= match.tensors.size()) return std::nullopt;
    const auto& shape = graph.shape(match.tensors[s.variable]);
    int axis = s.axis < 0 ? s.axis + static_cast<int>(shape.size()) : s.axis;
    if (!s.axis_variable.empty()) {
      auto at = match.axes.find(s.axis_variable);
      if (at == match.axes.end() || at->second.size() != 1) return std::nullopt;
      axis = static_cast<int>(at->second[0]);
    }
    if (axis < 0 || axis >= static_cast<int>(shape.size())) return std::nullopt;
    values[s.symbol] = shape[static_cast<size_t>(axis)];
  }
  for (size_t k = 0; k < number_symbols_.size(); ++k)
    if (number_symbols_[k]) values[number_symbols_[k]] = match.numbers[k].value_or(0);
  return values;
}

Attrs<int64_t> Matchable::attributes(const Call& call, int rank, const Match& match,
                                     const Valuation& values) const {
  Attrs<int64_t> attrs;
  for (size_t k = 0; k < call.ints.size(); ++k) {
    const IntAttr& attr = call.node->op->ints[k];
    attrs.ints.emplace_back();
    if (call.ints[k].list >= 0) {
      attrs.ints[k] = *match.lists[static_cast<size_t>(call.ints[k].list)];
    } else if (call.ints[k].axes) {
      attrs.ints[k] =
          axes_at(attr, *call.ints[k].axes, match.axes).value_or(std::vector<int64_t>());
    } else if (call.ints[k].numbers.empty()) {
      attrs.ints[k].assign(attr_length(attr, rank).value_or(0), attr.fallback.value_or(0));
    } else {
      for (const Number& n : call.ints[k].numbers)
        attrs.ints[k].push_back(n.kind == Number::Given ? n.value : evaluate(*n.poly, values));
    }
  }
  for (size_t k = 0; k < call.reals.size(); ++k)
    if (const std::string& text = real_variable(*call.node, k); is_expression(text))
      attrs.reals.push_back({value_of_expression(text, *rule_.pool, match, values), nullptr});
    else
      attrs.reals.push_back(call.reals[k] < 0
                                ? call.node->attrs.reals[k]
                                : Real{*match.reals[static_cast<size_t>(call.reals[k])], nullptr});
  return attrs;
}

/// NaN: it has no value there. `values` are those of the pool's sizes.
double Matchable::value_of_expression(const std::string& text, SymbolPool& pool, const Match& match,
                                      const Valuation& values) const {
  auto named = [&](const std::string& name) -> std::optional<double> {
    if (name[0] != '?') {
      auto size = values.find(symbol_of_name(name, pool));
      return size == values.end() ? std::nullopt : std::optional<double>(size->second);
    }
    auto at = std::find(reals_.begin(), reals_.end(), name.substr(1));
    return at == reals_.end() ? std::nullopt
                              : match.reals[static_cast<size_t>(at - reals_.begin())];
  };
  return value_of(expression_of(text), named).value_or(std::nan(""));
}

int32_t Matchable::result_size(const TermSizes& sizes, Direction d, const Match& match) const {
  const Side& side = sides_[d == Forward ? Backward : Forward];
  thread_local std::vector<int32_t> made;
  made.clear();
  auto size_of = [&](PatternRef r) {
    return is_variable(r) ? sizes.size(match.tensors[static_cast<size_t>(variable_of(r))])
                          : made[static_cast<size_t>(r.node)];
  };
  for (const PatternNode& node : side.pattern->nodes) {
    made.push_back(1);
    for (PatternRef r : node.inputs) made.back() = std::min(made.back() + size_of(r), kMaxSize);
  }
  int32_t least = TermSizes::kMax;
  for (size_t k = 0; k < match.roots.size(); ++k)
    least = std::min(least, sizes.around(match.roots[k]) + size_of(side.pattern->outputs[k]));
  return least;
}

std::optional<Matchable::Made> Matchable::result(SizedEGraph& graph, Direction d,
                                                 const Match& match) const {
  const Side& side = sides_[d == Forward ? Backward : Forward];
  auto values = valuation(graph, match);
  if (!values) return std::nullopt;
  Made made;
  std::map<PatternRef, EValue> calls;
  std::vector<EValue> operands;
  auto value = [&](PatternRef r) {
    return is_variable(r) ? match.tensors[static_cast<size_t>(variable_of(r))] : calls.at(r);
  };
  for (PatternRef r : side.made) {
    const Call& call = side.calls[static_cast<size_t>(r.node)];
    operands.clear();
    for (PatternRef x : call.node->inputs) operands.push_back(value(x));
    int rank = operands.empty() ? 0 : static_cast<int>(graph.shape(operands[0]).size());
    Attrs<int64_t> attrs = attributes(call, rank, match, *values);
    if (std::any_of(attrs.reals.begin(), attrs.reals.end(),
                    [](const Real& x) { return std::isnan(x.value); }))
      return std::nullopt;
    auto node = graph.add(*call.node->op, std::move(attrs), r.output, operands);
    if (!node) return std::nullopt;
    for (auto p : graph.differences(*node, operands)) made.premises.push_back(p);
    calls[r] = *node;
  }
  for (PatternRef r : side.pattern->outputs) made.outputs.push_back(value(r));
  return made;
}

// --- when a rule applies ---

namespace {

bool fits(const std::string& word, const std::vector<int64_t>& extents) {
  if (word == "-") return extents.empty();
  if (word.size() != extents.size()) return false;
  for (size_t d = 0; d < extents.size(); ++d)
    if (word[d] == '1' && extents[d] != 1) return false;
  return true;
}
bool fits(const Signature& s, const SizedEGraph& graph, const std::vector<EValue>& tensors) {
  for (size_t v = 0; v < s.size(); ++v)
    if (!fits(s[v], graph.shape(tensors[v]))) return false;
  return true;
}

}  // namespace

/// The signatures of a family's domain that the shapes fit, with as many axes as these have.
std::vector<Signature> Matchable::members(const SizedEGraph& graph, const Match& match) const {
  std::vector<int> ranks;
  for (EValue t : match.tensors) ranks.push_back(static_cast<int>(graph.shape(t).size()));
  std::vector<Signature> r;
  for (const Signature& s : rule_.domain) {
    auto open = open_axes(s, ranks);
    if (!open) continue;
    Signature plain = plain_signature(s, *open);
    bool fits = true;
    for (size_t v = 0; v < s.size(); ++v) {
      Word word = *word_of(s[v]);
      const auto& shape = graph.shape(match.tensors[v]);
      for (size_t d = 0; d < shape.size(); ++d) {
        bool between = d >= word.front.size() && d + word.back.size() < shape.size();
        if (shape[d] == 1 && between && word.open == Word::AnyOrOne) plain[v][d] = '1';
        fits = fits && (plain[v][d] != '1' || shape[d] == 1);
      }
    }
    if (fits) r.push_back(std::move(plain));
  }
  return r;
}

/// Any sizes, and then broadcasting along extents of 1.
std::vector<Signature> Matchable::signatures(const SizedEGraph& graph, const Match& match) const {
  if (family_) return members(graph, match);
  std::vector<Signature> r;
  Signature general, special;
  for (size_t v = 0; v < match.tensors.size(); ++v) {
    const auto& extents = graph.shape(match.tensors[v]);
    general.push_back(extents.empty() ? "-" : std::string(extents.size(), 'n'));
    special.push_back(general.back());
    for (size_t d = 0; d < extents.size(); ++d)
      if (extents[d] == 1) special.back()[d] = '1';
  }
  r.push_back(general);
  if (special != general) r.push_back(special);
  return r;
}

std::unique_ptr<const Matchable::Form> Matchable::make_form(const Signature& signature,
                                                            const AxisValues& axes) const {
  bool usable =
      !rule_.domain.empty() || check(rule_, signature, kShapeSeed, kManyShapes) == Evidence::Holds;
  auto one = family_ ? member(rule_, axes) : Result<Rule>(rule_);
  auto instance = one ? instantiate(*one, signature) : Result<RuleInstance>(one.error());
  if (!instance || !usable) return nullptr;
  auto form = std::make_unique<Form>();
  form->instance = *std::move(instance);
  for (const std::string& name : numbers_)
    form->numbers.push_back(form->instance.lhs.pool().named(name));
  return form;
}
const Matchable::Form* Matchable::form(const Signature& signature, const AxisValues& axes) const {
  std::lock_guard lock(mutex_);
  auto it = forms_.find({signature, axes});
  if (it == forms_.end())
    it = forms_.emplace(std::pair(signature, axes), make_form(signature, axes)).first;
  return it->second.get();
}
const Matchable::Form* Matchable::form_of_domain(size_t k) const {
  std::lock_guard lock(mutex_);
  auto& form = domain_forms_[k];
  if (!form) form = make_form(rule_.domain[k], {});
  return form->get();
}

bool Matchable::holds(const Form& form, const SizedEGraph& graph, const Match& match) const {
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
  auto real = [&](const std::string& text) {
    return value_of_expression("=" + text, form.instance.lhs.pool(), match, values);
  };
  const auto& conditions = form.instance.real_conditions;
  return in_range && evaluate(form.instance.requires_lhs, values) &&
         std::all_of(conditions.begin(), conditions.end(), [&](const RealCondition& c) {
           return regraft::holds(real(c.first), c.relation, real(c.second));
         });
}

bool Matchable::applies(const SizedEGraph& graph, const Match& match) const {
  if (!family_ && !rule_.domain.empty()) {
    for (size_t k = 0; k < rule_.domain.size(); ++k)
      if (fits(rule_.domain[k], graph, match.tensors))
        if (const Form* f = form_of_domain(k); f && holds(*f, graph, match)) return true;
    return false;
  }
  for (const Signature& s : signatures(graph, match)) {
    const Form* f = form(s, match.axes);
    if (f && holds(*f, graph, match)) return true;
  }
  return false;
}

}  // namespace regraft::gen
