#include "cli/pages/atlas/prices.h"

#include <algorithm>
#include <set>

#include "ir/rule/family.h"
#include "verify/refute/sampling.h"

namespace regraft::cli {
namespace {

/// The graph with all inputs but `computed` made by an operator that makes constants; -1: as it is.
std::optional<Graph> with_constants(const Graph& g, int computed) {
  if (computed < 0) return g;
  Graph r(g.shared_pool());
  std::vector<int32_t> now(static_cast<size_t>(g.id_bound()), -1);
  const OpDef& full = *find_op("full");
  for (size_t k = 0; k < g.inputs().size(); ++k) {
    Value v = g.inputs()[k];
    int32_t& at = now[static_cast<size_t>(v.node)];
    if (static_cast<int>(k) == computed) {
      at = r.add_input(g.type(v)).node;
      continue;
    }
    Attrs<Poly> attrs{std::vector<std::vector<Poly>>(full.ints.size()),
                      std::vector<Real>(full.reals.size(), Real{0.5, nullptr})};
    attrs.ints.at(0) = g.shape(v);
    auto made = r.add_call(full, {}, std::move(attrs));
    if (!made) return std::nullopt;
    at = *made;
  }
  auto moved = [&](Value v) { return Value{now[static_cast<size_t>(v.node)], v.output}; };
  for (int32_t id : full_order(g)) {
    Node node = g.node(id);
    if (node.kind == NodeKind::Input) continue;
    for (Value& v : node.inputs) v = moved(v);
    now[static_cast<size_t>(id)] = r.add_node(std::move(node));
  }
  std::vector<Value> outputs;
  for (Value v : g.outputs()) outputs.push_back(moved(v));
  r.set_outputs(std::move(outputs));
  return r;
}

/// The graph with a number for each real variable: prices do not depend on it.
Graph with_reals(const Graph& g) {
  Graph r = g;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    Node node = g.node(id);
    for (Real& x : node.attrs.reals)
      if (x.symbol) x = {0.5, nullptr};
    r.replace_node(id, std::move(node));
  }
  return r;
}

int64_t largest_tensor(const Graph& g, const Valuation& sizes) {
  int64_t most = 0;
  for (int32_t id = 0; id < g.id_bound(); ++id)
    for (const TensorType& t : g.node(id).types) {
      int64_t n = 1;
      for (const Poly& d : *t.shape)
        n = std::min(checked_product(n, std::max<int64_t>(0, evaluate(d, sizes))),
                     2 * kMostElements);
      most = std::max(most, n);
    }
  return most;
}

/// A rule's instance at growing sizes.
class Growing {
 public:
  explicit Growing(const RuleInstance& instance) : instance_(instance), space_(instance) {
    for (const auto& variable : instance.sizes)
      for (const auto& v : variable)
        if (v) axes_.insert(*v);
    for (const Formula& f : instance.requires_lhs)
      if (f.kind == Formula::NonNegative)
        for (const auto& t : f.poly.terms())
          if (t.coefficient < 0) windows_.insert(t.monomial.begin(), t.monomial.end());
  }
  /// All symbols at this size, in the pool too; nullopt: the left side is not well formed there.
  std::optional<Valuation> at(int64_t size) const {
    Valuation sizes;
    if (!space_.usable()) return std::nullopt;
    for (Var v : space_.free()) {
      int64_t most = windows_.count(v) ? std::min(size, kLargestWindow) : size;
      sizes[v] = axes_.count(v) ? std::max(v->min, most) : v->min;
    }
    if (!space_.complete(sizes)) return std::nullopt;
    for (const auto& [v, n] : sizes) instance_.lhs.pool().set_typical(v, n);
    return sizes;
  }

 private:
  const RuleInstance& instance_;
  verify::SizeSpace space_;
  std::set<Var, SymbolLess> axes_, windows_;
};

/// "a=[4,4] b=[4]".
std::string shapes_of(const RuleInstance& instance, const Rule& rule, const Valuation& sizes) {
  std::string s;
  for (size_t k = 0; k < rule.variables.size(); ++k) {
    std::string dims;
    for (const Poly& d : instance.lhs.shape(instance.lhs.inputs()[k]))
      dims += (dims.empty() ? "" : ",") + std::to_string(evaluate(d, sizes));
    s += (s.empty() ? "" : " ") + rule.variables[k] + "=[" + dims + "]";
  }
  return s;
}

PricedSize price(const Graph& left, const Graph& right, const cost::Profiled& model) {
  cost::Prediction a = model.predict(left), b = model.predict(right);
  double all = a.microseconds + b.microseconds;
  double estimated = a.estimated_microseconds + b.estimated_microseconds;
  return {0, "", a.microseconds, b.microseconds, all > 0 ? estimated / all : 0};
}

PriceSeries series_of(const Rule& rule, const RuleInstance& instance, int computed,
                      const cost::Profiled& model) {
  PriceSeries series;
  if (computed >= 0) series.computed = rule.variables[static_cast<size_t>(computed)];
  auto left = with_constants(instance.lhs, computed);
  auto right = with_constants(instance.rhs, computed);
  if (!left || !right) return series;
  Graph a = with_reals(*left), b = with_reals(*right);
  Growing growing(instance);
  for (int64_t size = 1; size <= kLargestSize; size *= 2) {
    auto sizes = growing.at(size);
    if (!sizes) continue;
    if (std::max(largest_tensor(instance.lhs, *sizes), largest_tensor(instance.rhs, *sizes)) >
        kMostElements)
      break;
    PricedSize priced = price(a, b, model);
    priced.size = size;
    priced.shapes = shapes_of(instance, rule, *sizes);
    series.prices.push_back(std::move(priced));
  }
  return series;
}

}  // namespace

std::vector<PriceSeries> priced(const Rule& given, const cost::Profiled& model) {
  std::vector<PriceSeries> all;
  const Rule rule = example_of(given).value_or(given);
  if (rule.domain.empty()) return all;
  auto instance = instantiate(rule, rule.domain[0]);
  if (!instance) return all;
  int n = rule.variables.size() > 1 ? static_cast<int>(rule.variables.size()) : 0;
  try {
    for (int computed = -1; computed < n; ++computed)
      all.push_back(series_of(rule, *instance, computed, model));
  } catch (const PolyOverflow&) {
  }
  return all;
}

std::vector<Payoff> payoffs(const std::vector<PriceSeries>& series, bool back) {
  std::vector<Payoff> all;
  for (const PriceSeries& s : series) {
    if (s.prices.empty()) continue;
    Payoff p{s.computed, std::nullopt, s.prices.back().size};
    for (PricedSize x : s.prices) {
      if (back) std::swap(x.left, x.right);
      if (p.first || x.right >= (1 - kPays) * x.left) continue;
      p.first = std::move(x);
    }
    all.push_back(std::move(p));
  }
  return all;
}

}  // namespace regraft::cli
