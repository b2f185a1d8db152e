#include "ir/algebra/size_tensor.h"

#include <algorithm>
#include <cmath>

namespace regraft {
namespace {

constexpr int64_t kMaxElements = 1 << 14;

/// A float as a fraction whose divisor is a power of 2; nullopt: not finite, too large or too
/// small.
std::optional<SizeElement> fraction(double x) {
  if (!std::isfinite(x) || std::abs(x) > static_cast<double>(int64_t{1} << 40)) return std::nullopt;
  int64_t divisor = 1;
  for (int k = 0; k < 40 && x != std::floor(x); ++k) x *= 2, divisor *= 2;
  if (x != std::floor(x) || std::abs(x) > static_cast<double>(int64_t{1} << 53))
    return std::nullopt;
  return SizeElement{Poly(static_cast<int64_t>(x)), divisor};
}

}  // namespace

bool is_numeric(const SizeTensor& t) {
  return std::ranges::all_of(t.elements, [](auto& e) { return e.value.is_constant(); });
}

std::shared_ptr<const Constant> constant_of(const SizeTensor& t) {
  if (t.dtype == DType::I64) {
    std::vector<int64_t> values;
    for (const SizeElement& e : t.elements) values.push_back(e.value.constant());
    return Constant::of_ints(t.dims, values);
  }
  std::vector<double> values;
  for (const SizeElement& e : t.elements)
    values.push_back(static_cast<double>(e.value.constant()) / static_cast<double>(e.divisor));
  return make_constant(t.dtype, t.dims, values);
}

SizeTensorPtr sizes_of(const Constant& c) {
  DType type = c.dtype();
  bool whole = type == DType::I64 || type == DType::I32 || type == DType::Bool;
  if (c.count() > kMaxElements || (!whole && type != DType::F32)) return nullptr;
  SizeTensor t{type, c.dims(), {}};
  if (whole) {
    auto values = c.integers();
    if (!values) return nullptr;
    for (int64_t x : *values) t.elements.push_back({Poly(x)});
  } else {
    auto values = c.reals();
    if (!values) return nullptr;
    for (double x : *values) {
      auto f = fraction(x);
      if (!f || (x == 0 && std::signbit(x))) return nullptr;  // -0 is no fraction
      t.elements.push_back(*f);
    }
  }
  return std::make_shared<const SizeTensor>(std::move(t));
}

}  // namespace regraft
