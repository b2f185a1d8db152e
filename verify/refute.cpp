#include "verify/refute.h"

#include "base/rng.h"
#include "verify/sampling.h"

namespace regraft::verify {
namespace {

constexpr int64_t kMaxElements = 1 << 16;

/// Every other trial has positive inputs only, so that square roots are defined.
Inputs draw_inputs(const RuleInstance& instance, const Valuation& sizes, uint64_t key, int trial) {
  std::vector<Rng> rngs;
  for (size_t k = 0; k < instance.lhs.inputs().size(); ++k) rngs.emplace_back(combine(key, k));
  return random_inputs(instance, sizes, [&](int k, int64_t) {
    double x = rngs[static_cast<size_t>(k)].unit();
    return trial % 2 ? 0.1 + 2 * x : 4 * x - 2;
  });
}

std::optional<std::vector<Array<Residue>>> over_field(const Graph& g, const Valuation& sizes,
                                                      uint64_t key) {
  auto input = [&](int k, const std::vector<int64_t>& shape) {
    Array<Residue> a{shape, {}};
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    Rng rng(combine(key, static_cast<uint64_t>(k)));
    for (int64_t e = 0; e < n; ++e) a.data.push_back(random_residue(rng));
    return a;
  };
  Field field(key);
  return evaluate_graph(field, g, sizes, std::function(input), kMaxElements);
}

/// The formulas, exactly at one point: they are not the same.
bool formulas_differ(const RuleInstance& instance, const Valuation& sizes, uint64_t key) {
  auto a = over_field(instance.lhs, sizes, key);
  if (!a) return false;
  auto b = over_field(instance.rhs, sizes, key);
  return !b || agreement(*a, *b) == Agreement::Different;
}

}  // namespace

NumericCheck check_numbers(const RuleInstance& instance, const std::vector<Valuation>& sizes,
                           uint64_t seed) {
  NumericCheck r;
  for (const Valuation& v : sizes) {
    uint64_t key = mix(seed + static_cast<uint64_t>(r.trials));
    Inputs inputs = draw_inputs(instance, v, key, r.trials);
    Comparison c = compare_sides(instance, v, inputs);
    if (!c.compared) continue;
    ++r.trials;
    if (c.difference) {
      r.counterexample = smallest(instance, v, inputs, *c.difference, seed);
      return r;
    }
    if (!r.suspicion && formulas_differ(instance, v, key)) r.suspicion = describe(instance, v);
  }
  return r;
}

}  // namespace regraft::verify
