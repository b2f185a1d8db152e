#include "verify/refute/exercise.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/rng.h"
#include "ir/graph/eval.h"
#include "verify/arithmetic/solver.h"
#include "verify/refute/counterexample.h"

namespace regraft::verify {
namespace {

constexpr int64_t kExerciseElements = 1 << 14;
constexpr size_t kValues = 2;  // of an open attribute

using Outputs = std::optional<std::vector<Array<double>>>;

/// What a side computes of inputs that are all different, of either sign.
Outputs computed(const RuleInstance& instance, const Graph& side, const Valuation& inputs_at,
                 const Valuation& sizes) {
  Inputs inputs = random_inputs(instance, inputs_at, [](int k, int64_t e) {
    uint64_t h = mix(static_cast<uint64_t>(k) << 32 ^ static_cast<uint64_t>(e));
    return (h & 1 ? 1 : -1) * (1 + 0x1p-40 * static_cast<double>(h >> 24));
  });
  Reals reals;
  return evaluate_graph<Reals>(
      reals, side, sizes,
      [&](int k, const std::vector<int64_t>&) { return inputs[static_cast<size_t>(k)]; },
      kExerciseElements);
}

bool same_outputs(const Outputs& a, const Outputs& b) {
  if (a->size() != b->size()) return false;
  auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  for (size_t k = 0; k < a->size(); ++k) {
    const auto &x = (*a)[k], &y = (*b)[k];
    if (x.shape != y.shape) return false;
    if (!std::equal(x.data.begin(), x.data.end(), y.data.begin(), same)) return false;
  }
  return true;
}

void collect_sizes(const Poly& p, std::set<Var, SymbolLess>& out) {
  for (const auto& term : p.terms())
    for (Var v : term.monomial) {
      if (v->numerator) collect_sizes(*v->numerator, out);
      if (v->denominator) collect_sizes(*v->denominator, out);
      if (v->kind == SymbolKind::Size) out.insert(v);
    }
}

std::vector<int32_t> calls_of(const Graph& g) {
  std::vector<int32_t> ids;
  for (int32_t id = 0; id < g.id_bound(); ++id)
    if (g.contains(id) && g.node(id).kind == NodeKind::Call) ids.push_back(id);
  return ids;
}

/// The side with another number at one place.
Graph altered(const Graph& side, int32_t node, size_t list, size_t entry, int64_t value) {
  Graph g = side;
  Node n = side.node(node);
  n.attrs.ints[list][entry] = Poly(value);
  g.replace_node(node, std::move(n));
  return g;
}

}  // namespace

Exercise::Exercise(const RuleInstance& instance) : instance_(instance) {
  add_open();
  add_numbers(instance.lhs);
  add_numbers(instance.rhs);
  add_pairs();
}

/// The symbols in attributes of the left side that are no sizes of tensors.
void Exercise::add_open() {
  std::set<Var, SymbolLess> symbols;
  for (int32_t id : calls_of(instance_.lhs))
    for (const auto& list : instance_.lhs.node(id).attrs.ints)
      for (const Poly& p : list) collect_sizes(p, symbols);
  for (const auto& sizes : instance_.sizes)
    for (const auto& size : sizes)
      if (size) symbols.erase(*size);
  for (Var v : symbols) attributes_.push_back({v->name, v, &instance_.lhs, -1, 0, 0, {}});
}

void Exercise::add_numbers(const Graph& side) {
  for (int32_t id : calls_of(side)) {
    const Node& n = side.node(id);
    for (size_t list = 0; list < n.attrs.ints.size(); ++list) {
      const IntAttr& attr = n.op->ints[list];
      for (size_t k = 0; k < n.attrs.ints[list].size() && !attr.structural; ++k) {
        const Poly& p = n.attrs.ints[list][k];
        bool number = p.is_constant() && !(attr.fallback && p.constant() == *attr.fallback);
        std::string name = std::string(attr.name) + " of " + std::string(n.op->name);
        if (number) attributes_.push_back({std::move(name), nullptr, &side, id, list, k, {}});
      }
    }
  }
}

/// What only one side has is not looked at together with what only the other one has.
void Exercise::add_pairs() {
  for (size_t b = 0; b < attributes_.size(); ++b)
    for (size_t a = 0; a < b; ++a) {
      const bool together = attributes_[a].symbol || attributes_[b].symbol ||
                            attributes_[a].side == attributes_[b].side;
      if (together) apart_.emplace(a, b);
    }
}

bool Exercise::Attribute::exercised() const { return seen.size() >= (symbol ? kValues : 1); }

bool Exercise::Attribute::is_above_least(const Valuation& sizes) const {
  return !symbol || sizes.at(symbol) > symbol->min;
}

bool Exercise::acts(const Attribute& a, const Valuation& sizes) const {
  Outputs plain = computed(instance_, *a.side, sizes, sizes);
  if (!plain) return false;
  bool only_value = true;
  for (int64_t step : {1, -1}) {
    Outputs other;
    if (a.symbol) {
      Valuation changed = sizes;
      changed[a.symbol] += step;
      if (changed[a.symbol] < a.symbol->min) continue;
      other = computed(instance_, *a.side, sizes, changed);
    } else {
      int64_t value = a.side->node(a.node).attrs.ints[a.list][a.entry].constant();
      other = computed(instance_, altered(*a.side, a.node, a.list, a.entry, value + step), sizes,
                       sizes);
    }
    if (!other) continue;
    only_value = false;
    if (!same_outputs(plain, other)) return true;
  }
  return only_value;
}

bool Exercise::add(const Valuation& sizes) {
  std::map<size_t, bool> known;
  auto acts_here = [&](size_t k) {
    auto [it, fresh] = known.try_emplace(k, false);
    if (fresh) it->second = acts(attributes_[k], sizes);
    return it->second;
  };
  bool news = false;
  for (size_t k = 0; k < attributes_.size(); ++k) {
    Attribute& a = attributes_[k];
    const int64_t value = a.symbol ? sizes.at(a.symbol) : 0;
    if (a.exercised() || a.seen.contains(value) || !acts_here(k)) continue;
    a.seen.insert(value);
    news = true;
  }
  return std::erase_if(apart_,
                       [&](const auto& two) {
                         const auto [a, b] = two;
                         return attributes_[a].is_above_least(sizes) &&
                                attributes_[b].is_above_least(sizes) && acts_here(a) &&
                                acts_here(b);
                       }) > 0 ||
         news;
}

void Exercise::leave_out_impossible() {
  Budget budget(Limits{});
  ArithmeticSolver solver(budget);
  std::erase_if(apart_, [&](const auto& two) {
    Conjunction both = instance_.requires_lhs;
    for (size_t k : {two.first, two.second})
      if (Var v = attributes_[k].symbol) regraft::add(both, Poly(v->min) < Poly::symbol(v));
    return solver.refuted(both);
  });
}

bool Exercise::complete() const {
  return apart_.empty() && std::ranges::all_of(attributes_, &Attribute::exercised);
}

std::string Exercise::missing() const {
  std::string text;
  auto say = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  for (const Attribute& a : attributes_)
    if (!a.exercised()) say(a.name);
  for (const auto& [a, b] : apart_)
    if (attributes_[a].exercised() && attributes_[b].exercised())
      say(attributes_[a].name + " with " + attributes_[b].name);
  return text;
}

}  // namespace regraft::verify
