#include "verify/refute.h"

#include <algorithm>

#include "base/rng.h"
#include "verify/sampling.h"

namespace regraft::verify {
namespace {

constexpr int64_t kMaxElements = 1 << 16;

/// What inputs a trial has.
enum class Draw : uint8_t {
  Plain,     ///< of either sign
  Positive,  ///< so that square roots are defined
  Equal,     ///< 1 or 2, so that differences are 0
  Zeros,     ///< of one input the first and others 0, so that quotients are not always defined
  Negative,  ///< so that roots are not always defined
  Large,     ///< beyond the bounds of usual clips; rounding errors may be large, too
  LargePositive,
};
constexpr int kDraws = 7;

double draw_number(Draw kind, Rng& rng) {
  double x = rng.unit();
  switch (kind) {
    case Draw::Plain:
      return 4 * x - 2;
    case Draw::Positive:
      return 0.1 + 2 * x;
    case Draw::Equal:
      return static_cast<double>(rng.between(1, 2));
    case Draw::Zeros:
      return rng.below(3) == 0 ? 0 : 4 * x - 2;
    case Draw::Negative:
      return -0.1 - 2 * x;
    case Draw::Large:
      return 200 * x - 100;
    case Draw::LargePositive:
      return 100 * x;
  }
  return x;
}

/// `with_zeros`: the input that has them, if it is that draw.
Inputs draw_inputs(const RuleInstance& instance, const Valuation& sizes, uint64_t key, Draw kind,
                   size_t with_zeros) {
  std::vector<Rng> rngs;
  for (size_t k = 0; k < instance.lhs.inputs().size(); ++k) rngs.emplace_back(combine(key, k));
  return random_inputs(instance, sizes, [&](int k, int64_t element) {
    auto input = static_cast<size_t>(k);
    if (kind != Draw::Zeros) return draw_number(kind, rngs[input]);
    if (input != with_zeros) return draw_number(Draw::Plain, rngs[input]);
    return element == 0 ? 0 : draw_number(Draw::Zeros, rngs[input]);
  });
}

/// Over the field, at a point whose order is that of `order`, or a random one.
std::optional<std::vector<Array<Residue>>> over_field(const Graph& g, const Valuation& sizes,
                                                      uint64_t key, const Inputs* order) {
  std::function input = [&](int k, const std::vector<int64_t>& shape) {
    Array<Residue> a{shape, {}};
    size_t n = 1;
    for (int64_t d : shape) n *= static_cast<size_t>(d);
    Rng rng(combine(key, static_cast<uint64_t>(k)));
    for (size_t e = 0; e < n; ++e) {
      a.data.push_back(random_residue(rng));
      if (order) a.data.back().r = (*order)[static_cast<size_t>(k)].data[e];
    }
    return a;
  };
  Field field(key);
  return evaluate_graph(field, g, sizes, input, kMaxElements);
}

/// The formulas, exactly at one point: they are not the same.
bool formulas_differ(const RuleInstance& instance, const Valuation& sizes, uint64_t key,
                     const Inputs* order) {
  auto a = over_field(instance.lhs, sizes, key, order);
  if (!a) return false;
  auto b = over_field(instance.rhs, sizes, key, order);
  return !b || agreement(*a, *b) == Agreement::Different;
}

}  // namespace

NumericCheck check_numbers(const RuleInstance& instance, const std::vector<Valuation>& sizes,
                           uint64_t seed, Counterexamples wanted) {
  NumericCheck r;
  for (const Valuation& v : sizes) {
    auto kind = static_cast<Draw>(r.trials % kDraws);
    uint64_t key = mix(seed + static_cast<uint64_t>(r.trials));
    size_t draws = kind == Draw::Zeros ? std::max<size_t>(1, instance.lhs.inputs().size()) : 1;
    Inputs inputs;
    Comparison c;
    for (size_t k = 0; k < draws && !c.difference; ++k) {
      inputs = draw_inputs(instance, v, key, kind, k);
      c = compare_sides(instance, v, inputs);
    }
    if (!c.compared) continue;
    ++r.trials;
    bool large = kind == Draw::Large || kind == Draw::LargePositive;
    bool formulas = (!c.difference || large) && kind != Draw::Zeros && kind != Draw::Equal &&
                    formulas_differ(instance, v, key, large ? &inputs : nullptr);
    if (c.difference && (!large || formulas)) {
      r.counterexample = wanted == Counterexamples::Small
                             ? smallest(instance, v, inputs, *c.difference, seed)
                             : counterexample_at(instance, v, inputs, *c.difference);
      return r;
    }
    if (!r.suspicion && formulas) r.suspicion = describe(instance, v);
  }
  return r;
}

}  // namespace regraft::verify
