#include "rewrite/compare/regimes.h"

#include <algorithm>
#include <cmath>

namespace regraft::rewrite {

namespace {

/// Bounds of what is drawn, so that most models stay finite in their format.
struct Bounds {
  double high, logit;
};
Bounds bounds_of(DType type) { return type == DType::F16 ? Bounds{1e2, 20} : Bounds{1e4, 200}; }

double between(Rng& rng, double low, double high) { return low + (high - low) * rng.unit(); }

/// Positive, its logarithm uniform.
double log_uniform(Rng& rng, double low, double high) {
  return std::exp(between(rng, std::log(low), std::log(high)));
}

double sign(Rng& rng) { return rng.below(2) == 0 ? -1 : 1; }

void fill_row(std::span<double> row, Regime regime, Bounds bounds, Rng& rng) {
  double level = sign(rng) * log_uniform(rng, 1e-2, bounds.high);
  for (double& x : row) switch (regime) {
      case Regime::Unit:
      case Regime::Mixed:
        x = between(rng, -1, 1);
        break;
      case Regime::Magnitudes:
        x = sign(rng) * log_uniform(rng, 1e-6, bounds.high);
        break;
      case Regime::Logits:
        x = between(rng, -bounds.logit, bounds.logit);
        break;
      case Regime::Integers:
        x = static_cast<double>(rng.between(-3, 3));
        break;
      case Regime::Equal:
        x = level;
        break;
      case Regime::Sparse:
        x = rng.below(4) == 0 ? between(rng, -1, 1) : 0;
        break;
      case Regime::Positive:
        x = log_uniform(rng, 1e-2, bounds.high);
        break;
      case Regime::Negative:
        x = -log_uniform(rng, 1e-2, bounds.high);
        break;
      case Regime::Offset:
        x = level * (1 + between(rng, -1e-3, 1e-3));
        break;
    }
}

}  // namespace

std::string_view to_string(Regime regime) {
  constexpr std::string_view kNames[kRegimes] = {"unit",     "mixed", "magnitudes", "logits",
                                                 "integers", "equal", "sparse",     "positive",
                                                 "negative", "offset"};
  return kNames[static_cast<size_t>(regime)];
}

Array<double> random_tensor(DType type, std::vector<int64_t> shape, Regime regime, Rng rng) {
  Array<double> x{std::move(shape), {}};
  size_t count = 1;
  for (int64_t d : x.shape) count *= static_cast<size_t>(d);
  x.data.resize(count);
  if (!is_real(type)) {
    for (double& e : x.data) e = static_cast<double>(rng.below(type == DType::Bool ? 2 : 8));
    return x;
  }
  size_t row = x.shape.empty() ? 1 : static_cast<size_t>(std::max<int64_t>(1, x.shape.back()));
  for (size_t first = 0; first < count; first += row) {
    Regime here = regime == Regime::Mixed ? static_cast<Regime>(rng.below(kRegimes)) : regime;
    fill_row(std::span(x.data).subspan(first, row), here, bounds_of(type), rng);
  }
  return x;
}

}  // namespace regraft::rewrite
