#include "gen/check.h"

#include "base/rng.h"
#include "ir/eval.h"

namespace regraft::gen {
namespace {

constexpr int kAttempts = 400;         // assignments tried for each trial
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
        if (term.monomial.size() == 1 && !term.monomial[0]->numerator) symbols[term.monomial[0]] = 1;
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

class Sampler {
 public:
  explicit Sampler(const RuleInstance& instance) : instance_(instance) {
    SymbolSet all;
    collect(instance.lhs, all);
    collect(instance.rhs, all);
    solved_ = solved(instance.requires_lhs);
    for (const auto& sizes : instance.sizes)
      for (const auto& v : sizes)
        if (v) sizes_[*v] = 1;
    for (const auto& [v, unused] : all)
      if (solved_.count(v) == 0) free_.push_back(v);
  }
  std::optional<Valuation> draw(Rng& rng) const {
    for (int attempt = 0; attempt < kAttempts; ++attempt)
      if (auto v = attempt_one(rng)) return v;
    return std::nullopt;
  }

 private:
  std::optional<Valuation> attempt_one(Rng& rng) const {
    Valuation values;
    for (Var v : free_) {
      int64_t spread = sizes_.count(v) > 0 ? 5 : 2;
      values[v] = v->min + rng.between(0, spread);
    }
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
  SymbolSet sizes_;
  std::vector<Var> free_;
};

Array<Residue> random_input(uint64_t seed, int input, const std::vector<int64_t>& shape) {
  Array<Residue> a{shape, {}};
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  Rng rng(combine(seed, static_cast<uint64_t>(input)));
  for (int64_t k = 0; k < count; ++k) a.data.push_back({rng.below(Residue::kPrime)});
  return a;
}

Evidence compare(const RuleInstance& instance, const Valuation& values, uint64_t seed) {
  auto input = [&](int k, const std::vector<int64_t>& shape) { return random_input(seed, k, shape); };
  Field left(seed), right(seed);
  auto a = evaluate_graph<Field>(left, instance.lhs, values, input, kMaxElements);
  if (!a) return Evidence::Unusable;
  auto b = evaluate_graph<Field>(right, instance.rhs, values, input, kMaxElements);
  if (!b || a->size() != b->size()) return Evidence::Fails;
  for (size_t k = 0; k < a->size(); ++k)
    if ((*a)[k].shape != (*b)[k].shape || (*a)[k].data != (*b)[k].data) return Evidence::Fails;
  return Evidence::Holds;
}

}  // namespace

Evidence check(const Rule& rule, const Signature& signature, uint64_t seed, int trials) {
  auto instance = instantiate(rule, signature);
  if (!instance) return Evidence::Unusable;
  try {
    Sampler sampler(*instance);
    Rng rng(seed);
    for (int held = 0, missed = 0; held < trials;) {
      auto values = sampler.draw(rng);
      if (!values || missed > trials) return Evidence::Unusable;
      Evidence e = compare(*instance, *values, rng.next());
      if (e == Evidence::Fails) return e;
      e == Evidence::Holds ? ++held : ++missed;
    }
  } catch (const PolyOverflow&) {
    return Evidence::Unusable;
  }
  return Evidence::Holds;
}

}  // namespace regraft::gen
