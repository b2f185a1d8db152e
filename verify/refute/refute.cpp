#include "verify/refute/refute.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {
namespace {

constexpr int64_t kFieldElements = 1 << 16;

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

/// Where a field is evaluated.
enum class Point : uint8_t {
  Random,
  InOrder,  ///< at random, but in the order of given numbers
  Given,    ///< at given numbers
};

std::optional<std::vector<Array<Residue>>> over_field(const Graph& g, const Valuation& sizes,
                                                      uint64_t key, Point at, const Inputs& given) {
  std::function input = [&](int k, const std::vector<int64_t>& shape) {
    Array<Residue> a{shape, {}};
    size_t n = 1;
    for (int64_t d : shape) n *= static_cast<size_t>(d);
    Rng rng(combine(key, static_cast<uint64_t>(k)));
    for (size_t e = 0; e < n; ++e) {
      a.data.push_back(random_residue(rng));
      if (at == Point::Random) continue;
      double x = given[static_cast<size_t>(k)].data[e];
      if (at == Point::Given)
        a.data.back() = residue_of(x);
      else
        a.data.back().r = x;
    }
    return a;
  };
  Field field(key);
  return evaluate_graph(field, g, sizes, input, kFieldElements);
}

/// Inputs that random ones never are: equal to each other, to the rule's own numbers, to 0.
enum class Special : uint8_t {
  AllEqual,  ///< every element of every input is one of the rule's numbers
  Own,       ///< each element is one of the rule's numbers
  OwnEqual,  ///< the elements of an input are all the same
  Tied,      ///< each element is one of two
};
constexpr size_t kSpecialTrials = 2;  // sizes, the smallest, at which they are tried
constexpr size_t kMostNumbers = 6;

/// 0, 1, -1 and the real attributes of both sides, where these are of ordinary size.
std::vector<double> numbers_of(const RuleInstance& instance, const Valuation& sizes) {
  constexpr double kLargest = 32;
  std::vector<double> numbers{0, 1, -1};
  for (const Graph* g : {&instance.lhs, &instance.rhs})
    for (int32_t id = 0; id < g->id_bound(); ++id) {
      if (!g->contains(id) || g->node(id).kind != NodeKind::Call) continue;
      for (const Real& r : evaluate(Attrs<Poly>{{}, g->node(id).attrs.reals}, sizes).reals) {
        bool known = std::find(numbers.begin(), numbers.end(), r.value) != numbers.end();
        if (!known && std::abs(r.value) <= kLargest) numbers.push_back(r.value);
      }
    }
  if (numbers.size() > kMostNumbers) numbers.resize(kMostNumbers);
  return numbers;
}

Inputs special_inputs(const RuleInstance& instance, const Valuation& sizes, Special kind, Rng& rng,
                      const std::vector<double>& numbers, size_t which) {
  std::vector<double> own;
  for (size_t k = 0; k < instance.lhs.inputs().size(); ++k)
    own.push_back(0.125 * static_cast<double>(rng.between(-16, 16)));
  return random_inputs(instance, sizes, [&](int k, int64_t) -> double {
    switch (kind) {
      case Special::AllEqual:
        return numbers[which];
      case Special::Own:
        return numbers[rng.below(numbers.size())];
      case Special::OwnEqual:
        return own[static_cast<size_t>(k)];
      case Special::Tied:
        return rng.below(2) ? own.front() : 1.5;
    }
    return 0;
  });
}

/// The formulas, exactly at one point: they are not the same.
bool formulas_differ(const RuleInstance& instance, const Valuation& sizes, uint64_t key, Point at,
                     const Inputs& given) {
  auto a = over_field(instance.lhs, sizes, key, at, given);
  if (!a) return false;
  auto b = over_field(instance.rhs, sizes, key, at, given);
  return !b || agreement(*a, *b) == Agreement::Different;
}

/// The field at the same numbers finds the difference as well: where values are equal or 0, doubles
/// may take a rounding error for a value.
bool is_exact(const RuleInstance& instance, const Valuation& sizes, uint64_t key,
              const Inputs& inputs, const Difference& d) {
  if (d.kind != Difference::Element) return true;
  auto a = over_field(instance.lhs, sizes, key, Point::Given, inputs);
  auto b = over_field(instance.rhs, sizes, key, Point::Given, inputs);
  if (!a || !b) return false;
  auto at = [&](const std::vector<Array<Residue>>& outputs) {
    const auto& out = outputs[static_cast<size_t>(d.output)];
    size_t flat = 0;
    for (size_t k = 0; k < d.position.size(); ++k)
      flat = flat * static_cast<size_t>(out.shape[k]) + static_cast<size_t>(d.position[k]);
    return out.data[flat];
  };
  Residue x = at(*a), y = at(*b);
  return is_defined(x) && (is_defined(y) ? !(x == y) : !std::isfinite(d.right));
}

/// A counterexample among the special inputs.
std::optional<Counterexample> special_counterexample(const RuleInstance& instance,
                                                     const Valuation& sizes, uint64_t key) {
  Rng rng(key);
  std::vector<double> numbers = numbers_of(instance, sizes);
  auto tried = [&](Special kind, size_t which) -> std::optional<Counterexample> {
    Inputs inputs = special_inputs(instance, sizes, kind, rng, numbers, which);
    Comparison c = compare_sides(instance, sizes, inputs);
    if (!c.difference || !is_exact(instance, sizes, key, inputs, *c.difference))
      return std::nullopt;
    return counterexample_at(instance, sizes, inputs, *c.difference);
  };
  for (size_t k = 0; k < numbers.size(); ++k)
    if (auto c = tried(Special::AllEqual, k)) return c;
  for (Special kind : {Special::Own, Special::OwnEqual, Special::Tied})
    if (auto c = tried(kind, 0)) return c;
  return std::nullopt;
}

}  // namespace

NumericCheck check_numbers(const RuleInstance& instance, const std::vector<Valuation>& sizes,
                           uint64_t seed, Counterexamples wanted, Suspicions suspicions) {
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
    bool asked = c.difference ? large : suspicions == Suspicions::Found && !r.suspicion;
    bool formulas =
        asked && kind != Draw::Zeros && kind != Draw::Equal &&
        formulas_differ(instance, v, key, large ? Point::InOrder : Point::Random, inputs);
    if (c.difference && (!large || formulas)) {
      r.counterexample = wanted == Counterexamples::Small
                             ? smallest(instance, v, inputs, *c.difference, seed)
                             : counterexample_at(instance, v, inputs, *c.difference);
      return r;
    }
    if (!r.suspicion && formulas) r.suspicion = describe(instance, v);
    if (static_cast<size_t>(r.trials) > kSpecialTrials) continue;
    r.counterexample = special_counterexample(instance, v, key);
    if (r.counterexample) return r;
  }
  return r;
}

}  // namespace regraft::verify
