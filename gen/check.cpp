#include "gen/check.h"

#include <algorithm>
#include <set>

#include "gen/side.h"
#include "gen/space.h"
#include "ir/eval.h"
#include "ir/pattern.h"

namespace regraft::gen {
namespace {

constexpr int kAlignedAttempts = 300;  // assignments tried for each trial
constexpr int kApartAttempts = 60;
constexpr int kRedraws = 4;                    // of the inputs, for values that are defined
constexpr int64_t kMaxElements = 1'000;        // of a tensor of the left side
constexpr int64_t kMaxRightElements = 16'000;  // makes no difference to well-formedness

/// All symbols of an instance: sizes with their axes, then those of attributes.
std::vector<SpaceSymbol> symbols_of(const RuleInstance& instance) {
  std::vector<SpaceSymbol> r;
  std::set<Var, SymbolLess> seen;
  for (const auto& sizes : instance.sizes)
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] && seen.insert(*sizes[d]).second)
        r.push_back(extent_symbol(*sizes[d], sizes.size(), d));
  auto add = [&](const Graph& g) {
    for (int32_t id = 0; id < g.id_bound(); ++id)
      for (const auto& list : g.node(id).attrs.ints)
        for (const Poly& p : list)
          for_each_symbol(p, [&](Var v) {
            if (seen.insert(v).second) r.push_back({v});
          });
  };
  add(instance.lhs);
  add(instance.rhs);
  return r;
}

/// Draws assignments that satisfy the left side.
class Sampler {
 public:
  explicit Sampler(const RuleInstance& instance)
      : symbols_(symbols_of(instance)), space_(symbols_, instance.requires_lhs) {}
  std::optional<Valuation> draw(Rng& rng, Extents extents) {
    int attempts = extents == Extents::Aligned ? kAlignedAttempts : kApartAttempts;
    auto p = space_.draw(rng, extents, attempts);
    if (!p) return std::nullopt;
    last_ = *std::move(p);
    return valuation(last_);
  }
  /// The assignments next to the last one: one extent larger by 1, where the left side allows it.
  std::vector<Valuation> neighbours() const {
    std::vector<Valuation> r;
    for (int k : space_.free()) {
      auto at = static_cast<size_t>(k);
      if (symbols_[at].axis < 0) continue;
      if (auto p = space_.with(last_, k, last_[at] + 1)) r.push_back(valuation(*p));
    }
    return r;
  }
  /// Every free symbol had two values.
  bool covered(const std::vector<Valuation>& drawn) const {
    return std::all_of(space_.free().begin(), space_.free().end(), [&](int k) {
      Var v = symbols_[static_cast<size_t>(k)].symbol;
      return std::any_of(drawn.begin(), drawn.end(),
                         [&](const Valuation& x) { return x.at(v) != drawn[0].at(v); });
    });
  }

 private:
  Valuation valuation(const Point& p) const {
    Valuation values;
    for (size_t k = 0; k < p.size(); ++k) values[symbols_[k].symbol] = p[k];
    return values;
  }
  std::vector<SpaceSymbol> symbols_;
  Space space_;
  Point last_;
};

/// At a few points, until one at which both sides have values.
Evidence compare(const RuleInstance& instance, const Valuation& values, Rng& rng) {
  for (int point = 0; point < kRedraws; ++point) {
    uint64_t seed = rng.next();
    auto input = [&](int k, const std::vector<int64_t>& shape) {
      Rng of_input(combine(seed, static_cast<uint64_t>(k)));
      return random_array(of_input, shape);
    };
    Field field(seed);
    auto a = evaluate_graph<Field>(field, instance.lhs, values, input, kMaxElements);
    if (!a) return Evidence::Unusable;
    auto b = evaluate_graph<Field>(field, instance.rhs, values, input, kMaxRightElements);
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
  for (int round = 0; round < 4 * trials; ++round) {
    std::optional<Valuation> values;
    if (apart && round % 2 == 0) {
      values = sampler.draw(rng, Extents::Apart);
      apart = values.has_value();
    }
    if (!values) values = sampler.draw(rng, Extents::Aligned);
    if (!values) return Evidence::Unusable;
    if (round % 2 == 1)
      for (const Valuation& near : sampler.neighbours())
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
