#include "verify/refute.h"

#include <cmath>

#include "base/rng.h"
#include "ir/eval.h"

namespace regraft::verify {
namespace {

constexpr int64_t kMaxElements = 1 << 16;

template <class S>
using Outputs = std::optional<std::vector<Array<S>>>;

Residue random_element(Field*, Rng& rng, int) { return random_residue(rng); }
/// Every other trial has positive inputs only, so that square roots are defined.
double random_element(Reals*, Rng& rng, int trial) {
  return trial % 2 ? 0.1 + 2 * rng.unit() : 4 * rng.unit() - 2;
}

template <class A>
Outputs<typename A::Scalar> evaluate_side(A& algebra, const Graph& g, const Valuation& sizes,
                                          uint64_t key, int trial) {
  auto input = [&](int k, const std::vector<int64_t>& shape) {
    Array<typename A::Scalar> a{shape, {}};
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    Rng rng(combine(key, static_cast<uint64_t>(k)));
    for (int64_t e = 0; e < n; ++e)
      a.data.push_back(random_element(static_cast<A*>(nullptr), rng, trial));
    return a;
  };
  try {
    return evaluate_graph(algebra, g, sizes, input, kMaxElements);
  } catch (const PolyOverflow&) {
    return std::nullopt;
  }
}

std::string numbers(const std::vector<int64_t>& v) {
  std::string s = "[";
  for (size_t i = 0; i < v.size(); ++i) s += (i ? "," : "") + std::to_string(v[i]);
  return s + "]";
}

std::vector<int64_t> position_of(int64_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> position(shape.size());
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d]) position[d] = flat % shape[d];
  return position;
}

bool agree(Residue a, Residue b) { return a == b || !is_defined(a) || !is_defined(b); }
/// Where the left side is no finite number nothing is claimed.
bool agree(double a, double b) {
  if (!std::isfinite(a)) return true;
  return std::abs(a - b) <= 1e-6 * (1 + std::max(std::abs(a), std::abs(b)));
}

/// Where the outputs differ, in words.
template <class S>
std::optional<std::string> difference(const std::vector<Array<S>>& a, const Outputs<S>& right) {
  if (!right) return "the right side is ill formed";
  const auto& b = *right;
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].shape != b[k].shape)
      return "output " + std::to_string(k) + " has shape " + numbers(a[k].shape) +
             " on the left, " + numbers(b[k].shape) + " on the right";
    for (size_t e = 0; e < a[k].data.size(); ++e)
      if (!agree(a[k].data[e], b[k].data[e]))
        return "output " + std::to_string(k) + " differs at " +
               numbers(position_of(static_cast<int64_t>(e), a[k].shape));
  }
  return std::nullopt;
}

}  // namespace

NumericCheck check_numbers(const RuleInstance& instance, const std::vector<Valuation>& sizes,
                           uint64_t seed) {
  NumericCheck r;
  auto report = [&](const Valuation& v, const std::string& problem) {
    return describe(instance, v) + ": " + problem + ", seed " + std::to_string(seed);
  };
  for (const Valuation& v : sizes) {
    int trial = r.trials;
    uint64_t key = mix(seed + static_cast<uint64_t>(trial));
    Reals reals;
    auto left = evaluate_side(reals, instance.lhs, v, key, trial);
    if (!left) continue;
    ++r.trials;
    if (auto values = difference(*left, evaluate_side(reals, instance.rhs, v, key, trial))) {
      r.counterexample = report(v, *values);
      return r;
    }
    Field field(key);
    auto a = evaluate_side(field, instance.lhs, v, key, trial);
    auto b = evaluate_side(field, instance.rhs, v, key, trial);
    auto formulas = a ? difference(*a, b) : std::nullopt;
    if (formulas && !r.suspicion) r.suspicion = report(v, *formulas);
  }
  return r;
}

}  // namespace regraft::verify
