#include "gen/check.h"

#include <algorithm>

#include "base/rng.h"
#include "ir/eval.h"

namespace regraft::gen {
namespace {

constexpr int kAlignedAttempts = 300;  // assignments tried for each trial
constexpr int kApartAttempts = 60;
constexpr int kRedraws = 4;  // of the inputs, for values that are defined
constexpr int64_t kMaxExtent = 40;
constexpr int64_t kMaxElements = 20'000;

using SymbolSet = std::map<Var, char, SymbolLess>;

void collect(const Poly& p, SymbolSet& out) {
  for (const auto& term : p.terms())
    for (Var v : term.monomial) {
      if (v->numerator) {
        collect(*v->numerator, out);
        collect(*v->denominator, out);
      } else {
        out[v] = 1;
      }
    }
}

void collect(const Graph& g, SymbolSet& out) {
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    const Node& n = g.node(id);
    for (const auto& list : n.attrs.ints)
      for (const Poly& p : list) collect(p, out);
    if (n.kind == NodeKind::Input)
      for (const Poly& p : *n.types[0].shape) collect(p, out);
  }
}

/// Symbols that the equations of the domain express by others.
Substitution solved(const Conjunction& domain) {
  Substitution s;
  for (bool again = true; again;) {
    again = false;
    for (const Formula& f : domain) {
      if (f.kind != Formula::Zero) continue;
      Poly p = substitute(f.poly, s), solution;
      SymbolSet symbols;
      for (const auto& term : p.terms())
        if (term.monomial.size() == 1 && !term.monomial[0]->numerator)
          symbols[term.monomial[0]] = 1;
      for (const auto& [v, unused] : symbols) {
        if (!solve_for(p, v, solution)) continue;
        for (auto& [known, value] : s) value = substitute(value, {{v, solution}});
        s[v] = solution;
        again = true;
        break;
      }
    }
  }
  return s;
}

/// How extents of different variables are drawn.
enum class Extents : uint8_t {
  Aligned,  ///< the same for the same axis of variables of the same rank
  Apart,
};

/// Draws assignments that satisfy the left side.
class Sampler {
 public:
  explicit Sampler(const RuleInstance& instance) : instance_(instance) {
    SymbolSet all;
    collect(instance.lhs, all);
    collect(instance.rhs, all);
    solved_ = solved(instance.requires_lhs);
    for (const auto& sizes : instance.sizes)
      for (size_t d = 0; d < sizes.size(); ++d)
        if (sizes[d]) axis_of_[*sizes[d]] = static_cast<int>(sizes.size() * kMaxRank + d);
    for (const auto& [v, unused] : all)
      if (solved_.count(v) == 0) free_.push_back(v);
  }
  std::optional<Valuation> draw(Rng& rng, Extents extents) const {
    int attempts = extents == Extents::Aligned ? kAlignedAttempts : kApartAttempts;
    for (int attempt = 0; attempt < attempts; ++attempt)
      if (auto v = attempt_one(rng, extents)) return v;
    return std::nullopt;
  }
  /// The assignments next to one: one extent larger by 1, where the left side allows it.
  std::vector<Valuation> neighbours(const Valuation& base) const {
    std::vector<Valuation> r;
    for (Var v : free_) {
      if (axis_of_.count(v) == 0) continue;
      Valuation values;
      for (Var w : free_) values[w] = base.at(w) + (w == v ? 1 : 0);
      if (auto all = completed(std::move(values))) r.push_back(*std::move(all));
    }
    return r;
  }
  /// Every free symbol had two values.
  bool covered(const std::vector<Valuation>& drawn) const {
    return std::all_of(free_.begin(), free_.end(), [&](Var v) {
      return std::any_of(drawn.begin(), drawn.end(),
                         [&](const Valuation& x) { return x.at(v) != drawn[0].at(v); });
    });
  }

 private:
  int64_t value_for(Var v, Rng& rng, uint64_t round, Extents extents) const {
    auto axis = axis_of_.find(v);
    if (axis == axis_of_.end()) return v->min + rng.between(0, 2);
    if (extents == Extents::Apart) return v->min + rng.between(0, 6);
    return v->min + Rng(combine(round, static_cast<uint64_t>(axis->second))).between(0, 6);
  }
  std::optional<Valuation> attempt_one(Rng& rng, Extents extents) const {
    Valuation values;
    uint64_t round = rng.next();
    for (Var v : free_) values[v] = value_for(v, rng, round, extents);
    return completed(std::move(values));
  }
  /// Adds the solved symbols; nullopt when the left side is not well-formed.
  std::optional<Valuation> completed(Valuation values) const {
    Valuation all = values;
    for (const auto& [v, expression] : solved_) {
      int64_t x = evaluate(expression, values);
      if (x < v->min || x > kMaxExtent) return std::nullopt;
      all[v] = x;
    }
    if (!evaluate(instance_.requires_lhs, all)) return std::nullopt;
    return all;
  }
  const RuleInstance& instance_;
  Substitution solved_;
  std::map<Var, int, SymbolLess> axis_of_;
  std::vector<Var> free_;
};

Array<Residue> random_input(uint64_t seed, int input, const std::vector<int64_t>& shape) {
  Array<Residue> a{shape, {}};
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  Rng rng(combine(seed, static_cast<uint64_t>(input)));
  for (int64_t k = 0; k < count; ++k) a.data.push_back(random_residue(rng));
  return a;
}

/// At a few points, until one at which both sides have values.
Evidence compare(const RuleInstance& instance, const Valuation& values, Rng& rng) {
  for (int point = 0; point < kRedraws; ++point) {
    uint64_t seed = rng.next();
    auto input = [&](int k, const std::vector<int64_t>& shape) {
      return random_input(seed, k, shape);
    };
    Field field(seed);
    auto a = evaluate_graph<Field>(field, instance.lhs, values, input, kMaxElements);
    if (!a) return Evidence::Unusable;
    auto b = evaluate_graph<Field>(field, instance.rhs, values, input, kMaxElements);
    Agreement found = b ? agreement(*a, *b) : Agreement::Different;
    if (found != Agreement::Undefined)
      return found == Agreement::Equal ? Evidence::Holds : Evidence::Fails;
  }
  return Evidence::Unusable;
}

}  // namespace

namespace {

/// The right side is well-formed and has the left side's shapes.
bool shapes_agree(const RuleInstance& instance, const Valuation& values) {
  for (const Formula& f : instance.requires_rhs)
    if (!evaluate(f, values)) return false;
  for (size_t k = 0; k < instance.lhs.outputs().size(); ++k) {
    const Shape& a = instance.lhs.shape(instance.lhs.outputs()[k]);
    const Shape& b = instance.rhs.shape(instance.rhs.outputs()[k]);
    for (size_t d = 0; d < a.size(); ++d)
      if (evaluate(a[d], values) != evaluate(b[d], values)) return false;
  }
  return true;
}

/// Trials on extents that are drawn apart, where that finds any, and aligned in turn.
Evidence run_trials(const RuleInstance& instance, Rng& rng, int trials) {
  Sampler sampler(instance);
  std::vector<Valuation> held;
  bool apart = true;
  for (int round = 0; round < 3 * trials; ++round) {
    std::optional<Valuation> values;
    if (apart && round % 2 == 0) {
      values = sampler.draw(rng, Extents::Apart);
      apart = values.has_value();
    }
    if (!values) values = sampler.draw(rng, Extents::Aligned);
    if (!values) return Evidence::Unusable;
    if (round % 2 == 1)
      for (const Valuation& near : sampler.neighbours(*values))
        if (!shapes_agree(instance, near)) return Evidence::Fails;
    Evidence e = compare(instance, *values, rng);
    if (e == Evidence::Fails) return e;
    if (e == Evidence::Holds) held.push_back(*std::move(values));
    if (static_cast<int>(held.size()) >= trials && (trials == 1 || sampler.covered(held)))
      return Evidence::Holds;
  }
  return Evidence::Unusable;
}

}  // namespace

Evidence check(const Rule& rule, const Signature& signature, uint64_t seed, int trials) {
  auto instance = instantiate(rule, signature);
  if (!instance) return Evidence::Unusable;
  try {
    Rng rng(seed);
    return run_trials(*instance, rng, trials);
  } catch (const PolyOverflow&) {
    return Evidence::Unusable;
  }
}

}  // namespace regraft::gen
