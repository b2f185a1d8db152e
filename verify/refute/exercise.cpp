#include "verify/refute/exercise.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "ir/graph/eval.h"
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
  for (Var v : symbols) open_.push_back({v->name, v, &instance_.lhs, -1, 0, 0, {}});
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
        if (number) open_.push_back({std::move(name), nullptr, &side, id, list, k, {}});
      }
    }
  }
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
  bool news = false;
  for (Attribute& a : open_) {
    int64_t value = a.symbol ? sizes.at(a.symbol) : 0;
    if (a.seen.count(value) > 0 || !acts(a, sizes)) continue;
    a.seen.insert(value);
    news = true;
  }
  std::erase_if(open_,
                [](const Attribute& a) { return a.seen.size() >= (a.symbol ? kValues : 1); });
  return news;
}

std::string Exercise::missing() const {
  std::string text;
  for (const Attribute& a : open_) text += (text.empty() ? "" : ", ") + a.name;
  return text;
}

}  // namespace regraft::verify
