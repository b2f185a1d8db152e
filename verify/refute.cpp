#include "verify/refute.h"

#include "base/hash.h"
#include "ir/eval.h"

namespace regraft::verify {
namespace {

constexpr int64_t kMaxElements = 1 << 16;
using Outputs = std::optional<std::vector<Array<Residue>>>;

Outputs evaluate_side(const Graph& g, const Valuation& sizes, uint64_t key) {
  Field field(key);
  auto input = [&](int k, const std::vector<int64_t>& shape) {
    Array<Residue> a{shape, {}};
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    uint64_t stream = combine(key, static_cast<uint64_t>(k));
    for (int64_t e = 0; e < n; ++e)
      a.data.push_back({combine(stream, static_cast<uint64_t>(e)) % Residue::kPrime});
    return a;
  };
  try {
    return evaluate_graph(field, g, sizes, input, kMaxElements);
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

/// Where the outputs differ, in words.
std::optional<std::string> difference(const std::vector<Array<Residue>>& a,
                                      const std::vector<Array<Residue>>& b) {
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].shape != b[k].shape)
      return "output " + std::to_string(k) + " has shape " + numbers(a[k].shape) + " on the left, " +
             numbers(b[k].shape) + " on the right";
    for (size_t e = 0; e < a[k].data.size(); ++e)
      if (!(a[k].data[e] == b[k].data[e]))
        return "output " + std::to_string(k) + " differs at " +
               numbers(position_of(static_cast<int64_t>(e), a[k].shape));
  }
  return std::nullopt;
}

}  // namespace

FieldCheck check_in_field(const RuleInstance& instance, const std::vector<Valuation>& sizes,
                          uint64_t seed) {
  FieldCheck r;
  for (const Valuation& v : sizes) {
    uint64_t key = mix(seed + static_cast<uint64_t>(r.trials));
    Outputs a = evaluate_side(instance.lhs, v, key);
    if (!a) continue;
    ++r.trials;
    Outputs b = evaluate_side(instance.rhs, v, key);
    std::optional<std::string> problem =
        b ? difference(*a, *b) : std::optional<std::string>("the right side is ill formed");
    if (!problem) continue;
    r.counterexample = describe(instance, v) + ": " + *problem + ", seed " + std::to_string(seed);
    return r;
  }
  return r;
}

}  // namespace regraft::verify
