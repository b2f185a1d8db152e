#include "rewrite/refute/probes.h"

#include <algorithm>
#include <cmath>

namespace regraft::rewrite {

namespace {

void fill_tiny(Array<double>& x, Rng rng) {
  size_t row = x.shape.empty() ? 1 : static_cast<size_t>(std::max<int64_t>(1, x.shape.back()));
  for (size_t first = 0; first < x.data.size(); first += row) {
    double scale = std::pow(10, -8 + 7 * rng.unit());
    for (size_t k = 0; k < row; ++k) x.data[first + k] = scale * (2 * rng.unit() - 1);
  }
}

bool is_signed(DType t) {
  return t == DType::I8 || t == DType::I16 || t == DType::I32 || t == DType::I64;
}

/// Whole numbers that are indices of nearly any axis: 0 and 1, or with this chance from its end.
void fill_indices(Array<double>& x, double from_end, Rng rng) {
  for (double& v : x.data) {
    v = rng.unit() < 0.5 ? 0 : 1;
    if (from_end > 0 && rng.unit() < from_end) v = -1 - v;
  }
}

Array<double> input_of(DType type, std::vector<int64_t> shape, const Probe& probe, Rng rng) {
  Array<double> x = random_tensor(type, std::move(shape), probe.regime, rng);
  if (probe.kind == Probe::Zeros) std::fill(x.data.begin(), x.data.end(), 0);
  if (probe.kind == Probe::Ones) std::fill(x.data.begin(), x.data.end(), 1);
  if (probe.kind == Probe::Tiny && is_real(type)) fill_tiny(x, rng);
  if (probe.kind == Probe::Indices && is_integer(type)) fill_indices(x, 0, rng);
  if (probe.kind == Probe::Drawn && is_signed(type)) {
    if (probe.regime == Regime::Negative) fill_indices(x, 1, rng);
    if (probe.regime == Regime::Mixed) fill_indices(x, 0.5, rng);
  }
  round_to(type, x.data);
  return x;
}

}  // namespace

std::string to_string(const Probe& probe) {
  switch (probe.kind) {
    case Probe::Zeros:
      return "zero";
    case Probe::Ones:
      return "one";
    case Probe::Tiny:
      return "tiny";
    case Probe::Indices:
      return "indices 0 and 1";
    default:
      return std::string(to_string(probe.regime));
  }
}

void round_to(DType type, std::vector<double>& values) {
  if (!is_real(type)) return;
  auto rounded = make_constant(type, {static_cast<int64_t>(values.size())}, values)->reals();
  if (rounded) values = *std::move(rounded);
}

std::vector<Array<double>> inputs_of(const Graph& a, const SizeAssignment& sizes,
                                     const Probe& probe) {
  std::vector<Array<double>> inputs;
  for (Value v : a.inputs()) {
    const TensorType& type = a.type(v);
    std::vector<int64_t> shape;
    for (const Poly& d : type.shape.value_or(Shape{}))
      shape.push_back(std::max<int64_t>(0, evaluate(d, sizes.values[0])));
    Rng rng(combine(probe.seed, inputs.size()));
    inputs.push_back(type.shape ? input_of(type.dtype, std::move(shape), probe, rng)
                                : Array<double>{});
  }
  return inputs;
}

}  // namespace regraft::rewrite
