#include "rewrite/match/fit.h"

#include <algorithm>

#include "ir/graph/eval.h"
#include "ir/rule/pattern.h"
#include "rewrite/match/zero_sizes.h"

namespace regraft::rewrite {

namespace {

/// Binds the sizes of a variable.
Misfit bind_shape(const std::vector<std::optional<Var>>& sizes, const Shape& shape, Binding& b) {
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] ? !b.bind(*sizes[d], shape[d]) : !is_one(shape[d]))
      return {sizes[d] ? Misfit::Sizes : Misfit::Ones, -1, -1, static_cast<int32_t>(d), {}};
  return {};
}

/// What can be compared only once all symbols are bound: a pattern's size and the actual one.
using Later = std::vector<std::pair<Poly, Poly>>;

/// A symbol alone is bound or compared.
bool bind_number(const Poly& want, const Poly& have, Binding& b, Later& later) {
  if (want.is_constant()) return same(want, have);
  Var symbol = symbol_of(want);
  if (symbol && !symbol->numerator) return b.bind(symbol, have);
  later.push_back({want, have});
  return true;
}

/// The number of the attribute that is another one, reals behind the integers; nullopt: none is.
std::optional<size_t> bind_attrs(const Node& form, const Attrs<Poly>& attrs, int rank, Binding& b,
                                 Later& later) {
  for (size_t k = 0; k < form.attrs.ints.size(); ++k) {
    auto want = normal_axes(form.op->ints[k], form.attrs.ints[k], rank);
    const auto& have = attrs.ints[k];
    if (want.size() != have.size()) return k;
    for (size_t i = 0; i < want.size(); ++i)
      if (!bind_number(want[i], have[i], b, later)) return k;
  }
  for (size_t k = 0; k < form.attrs.reals.size(); ++k) {
    const Real &want = form.attrs.reals[k], &have = attrs.reals[k];
    if (want.symbol ? !b.bind_rounded(want.symbol, have.value) : want.value != have.value)
      return form.attrs.ints.size() + k;
  }
  return std::nullopt;
}

/// The numbers of an attribute, axes counted from the front; nullopt: one is open.
std::optional<std::vector<int64_t>> axis_numbers(const IntAttr& attr, const std::vector<Poly>& list,
                                                 int rank) {
  std::vector<int64_t> r;
  for (const Poly& p : normal_axes(attr, list, rank)) {
    if (!p.is_constant()) return std::nullopt;
    r.push_back(p.constant());
  }
  if (is_axis_set(attr)) std::sort(r.begin(), r.end());
  return r;
}

constexpr int64_t kMaxCompared = 1 << 16;  ///< elements of a constant that is compared with a maker

bool equal_data(const Form& maker, const Constant& constant) {
  auto numbers = numeric(maker.attrs);
  if (!numbers) return false;
  auto data = constant.reals();
  auto made = evaluate_reals(*maker.op, {}, *numbers);
  return data && made && (*made)[0].shape == constant.dims() && *data == (*made)[0].data;
}

/// The pattern makes a constant, and what lies there is known by its data, not made likewise.
bool by_data(const PatternNode& pattern, const LiveGraph::Slot& s) {
  bool made = s.kind == NodeKind::Call && s.inputs.empty();
  return pattern.inputs.empty() && s.data >= 0 && !made;
}

/// Symbols stand for integers >= their minimum; a binding outside is outside the proof.
bool in_range(const Binding& b) {
  return std::all_of(b.sizes.begin(), b.sizes.end(), [](const auto& bound) {
    return holds(non_negative(bound.second - Poly(bound.first->min)));
  });
}

/// Ranks of the bound variables; nullopt when one is unknown.
std::optional<std::vector<int>> ranks_of(const LiveGraph& g, const Place& place) {
  std::vector<int> ranks;
  for (Value v : place.variables) {
    const TensorType& t = g.interner().type(g.type(v));
    if (!t.shape) return std::nullopt;
    ranks.push_back(static_cast<int>(t.shape->size()));
  }
  return ranks;
}

/// The element type of constants that the right side makes: that of the first real variable.
DType made_type(const LiveGraph& g, const Place& place) {
  for (Value v : place.variables)
    if (DType type = g.interner().type(g.type(v)).dtype; is_real(type)) return type;
  return g.interner().type(g.type(place.variables[0])).dtype;
}

/// Adds the calls of the right side. False: one of them has no form here, or an output is of
/// another type than what it replaces.
bool add_right_side(const LiveGraph& g, const Place& place, Fit& fit) {
  Interner& interner = g.interner();
  const Pattern &lhs = fit.rule->rule.lhs, &rhs = fit.rule->rule.rhs;
  DType dtype = made_type(g, place);
  auto type = [&](PatternRef r) {
    if (is_variable(r)) return g.type(place.variables[static_cast<size_t>(variable_of(r))]);
    return fit.calls[static_cast<size_t>(r.node)].facts->types[static_cast<size_t>(r.output)];
  };
  for (size_t j = 0; j < rhs.nodes.size(); ++j) {
    const Node& form = fit.instance->rhs.node(fit.instance->rhs_ids[j]);
    auto attrs = translate(form.attrs, fit.binding, interner.pool());
    if (!attrs) return false;
    std::vector<TypeId> operands;
    for (PatternRef r : rhs.nodes[j].inputs) operands.push_back(type(r));
    bool counts = is_integer(dtype) && dtype != DType::Bool;
    if (operands.empty() && counts) return false;  // the numbers need not be integers
    int rank = operands.empty() ? 0 : interner.rank(operands[0]);
    FormId id = interner.form(*form.op, *attrs, rank);
    const CallFacts* facts = interner.call(id, operands, dtype);
    if (!facts) return false;
    fit.calls.push_back({id, facts});
  }
  for (size_t k = 0; k < lhs.outputs.size(); ++k) {
    PatternRef out = lhs.outputs[k];
    Value from{place.nodes[static_cast<size_t>(out.node)], out.output};
    if (g.type(from) != type(rhs.outputs[k])) return false;
  }
  return true;
}

/// Sizes for the debug check: equal sizes stay equal, 1 stays 1, attributes stay what they are.
std::optional<Valuation> small_sizes(const Fit& fit, const std::set<Var>& empty, uint64_t seed) {
  std::map<Var, char, SymbolLess> is_dimension;
  for (const auto& sizes : fit.instance->sizes)
    for (const auto& v : sizes)
      if (v) is_dimension[*v] = 1;
  Rng rng(seed);
  std::map<int64_t, int64_t> shrunk{{1, 1}};
  Valuation values;
  for (const auto& [v, p] : fit.binding.sizes) {
    int64_t value = p.is_constant() ? p.constant() : 2 + static_cast<int64_t>(hash(p) % 2);
    if (is_dimension.count(v) && value > 1) {
      auto [it, fresh] = shrunk.emplace(value, rng.between(2, 6));
      value = std::min(value, it->second);
    } else if (!p.is_constant()) {
      value = std::max(value, v->min);
    }
    values[v] = empty.contains(v) ? 0 : value;
  }
  if (!evaluate(fit.instance->requires_lhs, values)) return std::nullopt;
  return values;
}

std::optional<std::vector<Array<Residue>>> fingerprint(Field& field, const Graph& g,
                                                       const Valuation& sizes) {
  auto input = [](int k, const std::vector<int64_t>& shape) {
    Array<Residue> a{shape, {}};
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    Rng rng(static_cast<uint64_t>(k) + 1);
    for (int64_t i = 0; i < n; ++i) a.data.push_back(random_residue(rng));
    return a;
  };
  return evaluate_graph<Field>(field, g, sizes, input, 1 << 14);
}

}  // namespace

/// All that the answer depends on, in key_.
void Fitter::find_key(const LiveGraph& g, const Place& place) {
  key_.assign(1, place.rule);
  for (Value v : place.variables) key_.push_back(g.type(v));
  const Pattern& lhs = rules_.rules()[static_cast<size_t>(place.rule)].rule.lhs;
  for (size_t j = 0; j < place.nodes.size(); ++j) {
    const LiveGraph::Slot& s = g.slot(place.nodes[j]);
    key_.push_back(by_data(lhs.nodes[j], s) ? ~s.data : s.form);
  }
  for (PatternRef out : lhs.outputs)
    key_.push_back(g.type({place.nodes[static_cast<size_t>(out.node)], out.output}));
}

const Fit* Fitter::fit(const LiveGraph& g, const Place& place) {
  find_key(g, place);
  if (const auto* known = known_.find(key_)) return known->get();
  auto fit = judge(g, place).fit;
  return known_.add(key_, std::move(fit)).get();
}

Misfit Fitter::misfit(const LiveGraph& g, const Place& place) {
  find_key(g, place);
  if (const Misfit* known = misfits_.find(key_)) return *known;
  Misfit why = judge(g, place).why;
  return misfits_.add(key_, std::move(why));
}

Fitter::Judged Fitter::judge(const LiveGraph& g, const Place& place) {
  try {
    return make(g, place);
  } catch (const PolyOverflow&) {
    return refused(Misfit::Unknown);  // sizes beyond 64 bits
  }
}

/// Is the data what the maker makes under the binding? A real that nothing has bound is its first
/// number.
bool Fitter::makes(const Node& maker, int32_t data, Binding& b) {
  const Constant& constant = interner_.constant(data);
  int64_t count = constant.count();
  if (count < 1 || count > kMaxCompared || !is_real(constant.dtype())) return false;
  for (const Real& r : maker.attrs.reals) {
    if (!r.symbol || b.reals.count(r.symbol)) continue;
    auto numbers = constant.reals();
    if (!numbers) return false;
    if (!b.bind_rounded(r.symbol, numbers->front())) return false;
  }
  auto attrs = translate(maker.attrs, b, interner_.pool());
  if (!attrs) return false;
  std::pair key{interner_.form(*maker.op, *attrs, 0), data};
  auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  const CallFacts* facts = interner_.call(key.first, {}, constant.dtype());
  bool fits = facts && numeric(*interner_.type(facts->types[0]).shape) == constant.dims();
  return made_[key] = fits && equal_data(interner_.form(key.first), constant);
}

/// The attributes of all calls of the left side.
Misfit Fitter::bind_calls(const LiveGraph& g, const RuleInstance& instance, const Place& place,
                          Binding& b) {
  Interner& interner = g.interner();
  const Pattern& lhs = rules_.rules()[static_cast<size_t>(place.rule)].rule.lhs;
  Later later;
  auto form = [&](size_t j) -> const Node& { return instance.lhs.node(instance.lhs_ids[j]); };
  for (size_t j = 0; j < place.nodes.size(); ++j) {
    const LiveGraph::Slot& slot = g.slot(place.nodes[j]);
    if (by_data(lhs.nodes[j], slot)) continue;
    int rank = slot.inputs.empty() ? 0 : interner.rank(g.type(slot.inputs[0]));
    if (auto k = bind_attrs(form(j), interner.form(slot.form).attrs, rank, b, later))
      return {Misfit::Number, -1, static_cast<int32_t>(j), static_cast<int32_t>(*k), {}};
  }
  for (const auto& [want, have] : later) {
    auto value = translate(want, b.sizes, interner.pool());
    if (!value || !same(*value, have)) return {Misfit::Number, -1, 0, -1, {}};
  }
  for (size_t j = 0; j < place.nodes.size(); ++j) {
    const LiveGraph::Slot& slot = g.slot(place.nodes[j]);
    if (by_data(lhs.nodes[j], slot) && !makes(form(j), slot.data, b))
      return {Misfit::Data, -1, static_cast<int32_t>(j), -1, {}};
  }
  return {};
}

Fitter::Bound Fitter::bind(const LiveGraph& g, const RuleInstance& instance, const Place& place) {
  Binding b;
  Interner& interner = g.interner();
  for (size_t v = 0; v < place.variables.size(); ++v) {
    const TensorType& type = interner.type(g.type(place.variables[v]));
    Misfit why = bind_shape(instance.sizes[v], *type.shape, b);
    why.item = static_cast<int32_t>(v);
    if (why.kind != Misfit::None) return {std::nullopt, std::move(why)};
  }
  if (Misfit why = bind_calls(g, instance, place, b); why.kind != Misfit::None)
    return {std::nullopt, std::move(why)};
  if (!in_range(b)) return {std::nullopt, {Misfit::Range, -1, -1, -1, {}}};
  for (const Formula& f : instance.requires_lhs) {
    auto condition = translate(f, b.sizes, interner.pool());
    if (condition && holds(*condition)) continue;
    return {std::nullopt, {Misfit::Condition, -1, -1, -1, std::make_shared<const Formula>(f)}};
  }
  for (const RealCondition& c : instance.real_conditions) {
    SymbolPool& pool = instance.lhs.pool();
    auto x = b.real("=" + c.first, pool), y = b.real("=" + c.second, pool);
    if (!x || !y || !regraft::holds(*x, c.relation, *y))
      return {std::nullopt, {Misfit::Condition, -1, -1, -1, {}}};
  }
  return {std::move(b), {}};
}

/// The values of a family's variables, and whether they are what it is meant for.
Misfit Fitter::bind_family(const LiveGraph& g, const Rule& rule, const Place& place,
                           AxisValues& values) {
  auto given = [&](size_t j, size_t k) {
    const LiveGraph::Slot& slot = g.slot(place.nodes[j]);
    return axis_numbers(rule.lhs.nodes[j].op->ints[k], interner_.form(slot.form).attrs.ints[k],
                        interner_.rank(g.type(slot.inputs[0])));
  };
  if (auto gap = gap_in(rule.lhs, given, values))
    return {Misfit::Axes, -1, static_cast<int32_t>(gap->node), static_cast<int32_t>(gap->attr), {}};
  bool fits =
      std::ranges::all_of(rule.axis_where, [&](auto& c) { return regraft::holds(c, values); });
  return {fits ? Misfit::None : Misfit::Axes, -1, -1, -1, {}};
}

/// The rule at signature k there: of a family the member that it is.
const RuleInstance* Fitter::instance(const LiveGraph& g, const CompiledRule& rule, size_t k,
                                     const std::vector<int>& ranks, const Place& place,
                                     const AxisValues& values) {
  if (!rule.family) return rule.instance(k);
  const Signature& open = rule.rule.domain[k];
  Signature plain = plain_signature(open, *open_axes(open, ranks));
  for (size_t v = 0; v < open.size(); ++v) {
    Word word = *word_of(open[v]);
    const Shape& shape = *interner_.type(g.type(place.variables[v])).shape;
    for (size_t d = word.front.size(); d + word.back.size() < shape.size(); ++d)
      if (word.open == Word::AnyOrOne && is_one(shape[d])) plain[v][d] = '1';
  }
  return rule.instance(plain, values);
}

Fitter::Judged Fitter::refused(Misfit::Kind kind) { return {nullptr, {kind, -1, -1, -1, {}}}; }

Fitter::Judged Fitter::make(const LiveGraph& g, const Place& place) {
  const CompiledRule& rule = rules_.rules()[static_cast<size_t>(place.rule)];
  if (place.variables.empty()) return refused(Misfit::Ranks);
  auto ranks = ranks_of(g, place);
  if (!ranks) return refused(Misfit::Unknown);
  bool admitted = std::ranges::all_of(place.variables, [&](Value v) {
    return rules_.admits(rule.rule, g.interner().type(g.type(v)).dtype);
  });
  if (!admitted) return refused(Misfit::Float16);
  AxisValues axes;
  if (Misfit why = bind_family(g, rule.rule, place, axes); why.kind != Misfit::None)
    return {nullptr, std::move(why)};
  Judged known = refused(Misfit::Ranks);
  for (size_t k = 0; k < rule.rule.domain.size(); ++k) {
    if (!rule.has_ranks(k, *ranks)) continue;
    const RuleInstance* instance = this->instance(g, rule, k, *ranks, place, axes);
    Bound bound = instance ? bind(g, *instance, place) : Bound{};
    if (!bound.binding) {
      bound.why.signature = static_cast<int32_t>(k);
      if (bound.why.kind > known.why.kind) known.why = std::move(bound.why);
      continue;
    }
    auto fit = std::make_unique<Fit>(Fit{&rule, instance, *std::move(bound.binding), {}});
    if (!add_right_side(g, place, *fit)) return refused(Misfit::RightSide);
    if (!holds_for_empty(g, place, *fit)) return refused(Misfit::Empty);
    return {std::move(fit), {}};
  }
  return known;
}

std::optional<bool> sides_agree(const Fit& fit, const std::set<Var>& empty) {
  auto has_value = [](const std::vector<Array<Residue>>& side) {
    return std::any_of(side.begin(), side.end(), [](const Array<Residue>& a) {
      return std::any_of(a.data.begin(), a.data.end(), [](Residue r) { return is_defined(r); });
    });
  };
  bool only_left = false;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    auto sizes = small_sizes(fit, empty, seed);
    if (!sizes) continue;
    Field field(7);
    auto lhs = fingerprint(field, fit.instance->lhs, *sizes);
    if (!lhs) continue;
    auto rhs = fingerprint(field, fit.instance->rhs, *sizes);
    Agreement a = rhs ? agreement(*lhs, *rhs) : Agreement::Different;
    if (a != Agreement::Undefined) return a == Agreement::Equal;
    only_left = only_left || has_value(*lhs);
  }
  return only_left && !empty.empty() ? std::optional(false) : std::nullopt;
}

}  // namespace regraft::rewrite
