#include "verify/refute/counterexample.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "ir/algebra/real_expression.h"
#include "ir/rule/pattern.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {
namespace {

constexpr int64_t kMaxElements = 1 << 16;
constexpr int kSizesTried = 4000;      // assignments of sizes, most of them not well formed
constexpr int kEvaluations = 600;      // of both sides, at sizes
constexpr size_t kElementsTried = 64;  // inputs that are made 0 or 1 one by one

std::vector<int64_t> position_of(size_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> position(shape.size());
  auto rest = static_cast<int64_t>(flat);
  for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) position[d] = rest % shape[d];
  return position;
}

/// Where the left side is not defined nothing is claimed.
bool agree(double a, double b) {
  if (!std::isfinite(a)) return true;
  return std::abs(a - b) <= 1e-6 * (1 + std::max(std::abs(a), std::abs(b)));
}

std::optional<Difference> difference(int output, const Array<double>& a, const Array<double>& b) {
  Difference d{Difference::Shape, output, a.shape, b.shape, {}, 0, 0};
  if (a.shape != b.shape) return d;
  d.kind = Difference::Element;
  for (size_t e = 0; e < a.data.size(); ++e) {
    if (agree(a.data[e], b.data[e])) continue;
    d.position = position_of(e, a.shape);
    d.left = a.data[e];
    d.right = b.data[e];
    return d;
  }
  return std::nullopt;
}

Signature signature_of(const RuleInstance& instance) {
  Signature s;
  for (const auto& sizes : instance.sizes) {
    std::string word;
    for (const auto& size : sizes) word += size ? 'n' : '1';
    s.push_back(word.empty() ? "-" : word);
  }
  return s;
}

std::string describe(const Difference& d) {
  switch (d.kind) {
    case Difference::IllFormed:
      return "the right side is ill formed";
    case Difference::Shape:
      return fmt::format("output {} has shape [{}] on the left, [{}] on the right", d.output,
                         fmt::join(d.left_shape, ","), fmt::join(d.right_shape, ","));
    case Difference::Element:
      break;
  }
  return fmt::format("output {} differs at [{}]: {:.6g} on the left, {:.6g} on the right", d.output,
                     fmt::join(d.position, ","), d.left, d.right);
}

/// Looks for smaller sizes, then for simpler inputs.
class Shrinking {
 public:
  Shrinking(const RuleInstance& instance, Counterexample& best, Valuation& sizes, uint64_t seed)
      : instance_(instance), best_(best), sizes_(sizes), seed_(seed) {
    for (const auto& a : best.inputs)
      for (double x : a.data) large_ = large_ || std::abs(x) > 4;
  }

  void run() {
    shrink_sizes();
    if (best_.difference.kind != Difference::Element) return;
    simplify_inputs();
    round_inputs();
  }

 private:
  bool differs(const Valuation& sizes, Inputs inputs) {
    Comparison c = compare_sides(instance_, sizes, inputs);
    if (!c.difference) return false;
    best_.inputs = std::move(inputs);
    best_.difference = *std::move(c.difference);
    return true;
  }

  static constexpr int kKinds = 6;
  /// Draw `kind` of the inputs: small integers first, then real numbers of either sign.
  Inputs draw(const Valuation& sizes, int kind) const {
    Rng rng(combine(seed_, static_cast<uint64_t>(kind)));
    return random_inputs(instance_, sizes, [&](int, int64_t) -> double {
      switch (kind % kKinds) {
        case 0:
          return static_cast<double>(rng.below(2));
        case 1:
          return static_cast<double>(rng.between(1, 3));
        case 2:
          return static_cast<double>(rng.between(-3, 3));
        case 3:
          return 4 * rng.unit() - 2;
        case 4:
          return 0.1 + 2 * rng.unit();
        default:
          return static_cast<double>(kind < kKinds ? rng.between(-40, 40) : rng.between(0, 100));
      }
    });
  }
  bool differs_somehow(const Valuation& sizes) {
    for (int kind = 0; kind < 2 * kKinds; ++kind)
      if ((large_ || kind % kKinds < kKinds - 1) && differs(sizes, draw(sizes, kind))) return true;
    return false;
  }

  /// The sizes of smallest sum, in order, as far as the limits go.
  void shrink_sizes() {
    SizeSpace space(instance_);
    if (!space.usable()) return;
    int64_t present = 0;
    for (Var v : space.free()) present += sizes_.at(v) - v->min;
    int tried = 0, evaluated = 0;
    for (int64_t excess = 0; excess < present; ++excess) {
      bool found = space.for_each(excess, [&](const Valuation& free) {
        if (++tried > kSizesTried || evaluated > kEvaluations) return true;
        Valuation sizes = free;
        if (!space.complete(sizes)) return false;
        ++evaluated;
        if (!differs_somehow(sizes)) return false;
        sizes_ = std::move(sizes);
        return true;
      });
      if (found) return;
    }
  }

  void simplify_inputs() {
    for (int kind = 0; kind < 3 * kKinds; ++kind)
      if (kind % kKinds < 3 && differs(sizes_, draw(sizes_, kind))) return;
  }

  /// Each element 0 or else 1, where the sides still differ.
  void round_inputs() {
    size_t elements = 0;
    for (const auto& a : best_.inputs) elements += a.data.size();
    if (elements > kElementsTried) return;
    for (size_t k = 0; k < best_.inputs.size(); ++k)
      for (size_t e = 0; e < best_.inputs[k].data.size(); ++e)
        for (double x : {0.0, 1.0}) {
          if (best_.inputs[k].data[e] == x) break;
          Inputs simpler = best_.inputs;
          simpler[k].data[e] = x;
          if (differs(sizes_, std::move(simpler))) break;
        }
  }

  const RuleInstance& instance_;
  Counterexample& best_;
  Valuation& sizes_;
  uint64_t seed_;
  bool large_ = false;  ///< it took large inputs to find a difference
};

}  // namespace

namespace {

std::optional<std::vector<Array<double>>> evaluate_side(const Graph& g, const Valuation& sizes,
                                                        const Inputs& inputs) {
  auto input = [&](int k, const std::vector<int64_t>&) { return inputs[static_cast<size_t>(k)]; };
  Reals reals;
  reals.strict = true;
  return evaluate_graph<Reals>(reals, g, sizes, input, kMaxElements);
}

}  // namespace

Comparison compare_sides(const RuleInstance& instance, const Valuation& sizes,
                         const Inputs& inputs) {
  auto left = evaluate_side(instance.lhs, sizes, inputs);
  if (!left) return {};
  auto right = evaluate_side(instance.rhs, sizes, inputs);
  if (!right) return {true, Difference{Difference::IllFormed, 0, left->at(0).shape, {}, {}, 0, 0}};
  for (size_t k = 0; k < left->size(); ++k)
    if (auto d = difference(static_cast<int>(k), (*left)[k], (*right)[k])) return {true, d};
  return {true, std::nullopt};
}

Inputs random_inputs(const RuleInstance& instance, const Valuation& sizes,
                     const std::function<double(int, int64_t)>& value) {
  Inputs inputs;
  for (Value v : instance.lhs.inputs()) {
    Array<double> a;
    int64_t n = 1;
    for (const Poly& d : instance.lhs.shape(v)) {
      a.shape.push_back(evaluate(d, sizes));
      n *= a.shape.back();
    }
    for (int64_t e = 0; e < n; ++e) a.data.push_back(value(static_cast<int>(inputs.size()), e));
    inputs.push_back(std::move(a));
  }
  return inputs;
}

namespace {

/// Sizes and real attributes under their names.
void name_values(Counterexample& c, const RuleInstance& instance, const Valuation& sizes) {
  for (const auto& [v, x] : sizes) c.sizes[v->name] = x;
  for (const auto& [name, v] : instance.real_symbols) {
    c.reals[name] = evaluate(Attrs<Poly>{{}, {{0, v}}}, sizes).reals[0].value;
    c.sizes.erase(v->name);
  }
}

/// The rule with numbers for real attribute variables.
Rule with_reals(Rule rule, const std::map<std::string, double>& reals) {
  auto with_numbers = [&](const std::string& text) {
    return print(expression_of("=" + text), [&](const std::string& name) {
      auto it = name[0] == '?' ? reals.find(name.substr(1)) : reals.end();
      return it == reals.end() ? name : "(" + text::print(it->second) + ")";
    });
  };
  for (RealCondition& c : rule.real_where)
    c = {with_numbers(c.first), with_numbers(c.second), c.relation};
  for (Pattern* side : {&rule.lhs, &rule.rhs})
    for (PatternNode& n : side->nodes)
      for (size_t k = 0; k < n.attrs.reals.size(); ++k) {
        if (const std::string& text = real_variable(n, k); is_expression(text)) {
          n.real_vars[k] = "=" + with_numbers(text.substr(1));
          continue;
        }
        auto it = reals.find(real_variable(n, k));
        if (it == reals.end()) continue;
        n.attrs.reals[k] = {it->second, nullptr};
        n.real_vars[k].clear();
      }
  return rule;
}

}  // namespace

Counterexample counterexample_at(const RuleInstance& instance, const Valuation& sizes,
                                 const Inputs& inputs, const Difference& difference) {
  Counterexample c{signature_of(instance), {}, {}, inputs, difference};
  name_values(c, instance, sizes);
  return c;
}

Counterexample smallest(const RuleInstance& instance, const Valuation& sizes, const Inputs& inputs,
                        const Difference& difference, uint64_t seed) {
  Counterexample best{signature_of(instance), {}, {}, inputs, difference};
  Valuation found = sizes;
  try {
    Shrinking(instance, best, found, seed).run();
  } catch (const PolyOverflow&) {  // what was found so far stands
  }
  name_values(best, instance, found);
  return best;
}

namespace {

bool has_values(const Poly& p, const Valuation& values) {
  for (const auto& [monomial, coefficient] : p.terms())
    for (Var v : monomial) {
      bool known = v->kind == SymbolKind::Quotient
                       ? has_values(*v->numerator, values) && has_values(*v->denominator, values)
                       : values.count(v) > 0;
      if (!known) return false;
    }
  return true;
}

/// All that the graph depends on has a value.
bool has_values(const Graph& g, const Valuation& values) {
  auto known = [&](const std::vector<Poly>& list) {
    return std::ranges::all_of(list, [&](const Poly& p) { return has_values(p, values); });
  };
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    const Node& n = g.node(id);
    bool types = std::ranges::all_of(n.types, [&](auto& t) { return known(*t.shape); });
    if (!types || !std::ranges::all_of(n.attrs.ints, known)) return false;
  }
  return true;
}

/// An array of the shape that graph input `v` has at these sizes.
bool is_of(const Array<double>& a, const Shape& shape, const Valuation& sizes) {
  int64_t n = 1;
  if (a.shape.size() != shape.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d)
    if (a.shape[d] != evaluate(shape[d], sizes) || a.shape[d] < 0 ||
        __builtin_mul_overflow(n, a.shape[d], &n))
      return false;
  return a.data.size() == static_cast<size_t>(n);
}

}  // namespace

Result<Comparison> replay(const Rule& rule, const Counterexample& c) try {
  ASSIGN_OR_RETURN(RuleInstance instance, instantiate(with_reals(rule, c.reals), c.signature));
  Valuation sizes;
  for (const auto& [name, x] : c.sizes) sizes[instance.lhs.pool().named(name)] = x;
  if (!has_values(instance.lhs, sizes) || !has_values(instance.rhs, sizes))
    return error("the counterexample lacks sizes");
  const auto& inputs = instance.lhs.inputs();
  if (inputs.size() != c.inputs.size()) return error("the counterexample has other inputs");
  for (size_t k = 0; k < inputs.size(); ++k)
    if (!is_of(c.inputs[k], instance.lhs.shape(inputs[k]), sizes))
      return error(fmt::format("input {} of the counterexample has another shape", k));
  return compare_sides(instance, sizes, c.inputs);
} catch (const PolyOverflow&) {
  return error("the counterexample's sizes are too large");
}

std::string describe(const RuleInstance& instance, const Counterexample& c) {
  Valuation sizes;
  for (const auto& [name, x] : c.sizes) sizes[instance.lhs.pool().named(name)] = x;
  std::string text = describe(instance, sizes);
  for (const auto& [name, x] : c.reals) text += fmt::format(" {}={}", name, x);
  text += ": " + describe(c.difference);
  if (c.difference.kind != Difference::Element) return text;
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    const auto& data = c.inputs[k].data;
    if (data.size() > 16) continue;
    const Node& n = instance.lhs.node(instance.lhs.inputs()[k].node);
    text += fmt::format("; {}=({:.6g})", n.names.empty() ? "x" : n.names[0], fmt::join(data, " "));
  }
  return text;
}

}  // namespace regraft::verify
