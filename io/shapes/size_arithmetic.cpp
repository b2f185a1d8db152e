#include "io/shapes/size_arithmetic.h"

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace regraft::io {
namespace {

constexpr int64_t kExact = int64_t{1} << 24;  // float32 has all integers up to this one
constexpr int64_t kLargest = 1 << 14;         // of the sizes that floats are computed of

bool is_number(const Element& e) { return e.value.is_constant(); }

double number(const Element& e) {
  return static_cast<double>(e.value.constant()) / static_cast<double>(e.divisor);
}

/// In lowest terms.
Element reduced(Poly value, int64_t divisor) {
  int64_t g = std::gcd(std::gcd(content(value), value.constant()), divisor);
  if (g > 1) return {divided(value, g), divisor / g};
  return {std::move(value), divisor};
}

/// The nearest float32 number; nullopt where it has no short fraction.
MaybeElement rounded(double x) {
  auto f = static_cast<float>(x);
  auto t = sizes_of(*Constant::of_floats({}, {f}));
  return t ? MaybeElement(t->elements[0]) : std::nullopt;
}

/// Multiples of sizes by it are floats without rounding.
bool is_short(int64_t coefficient) {
  auto c = static_cast<uint64_t>(coefficient);
  return c >> (c == 0 ? 0 : std::countr_zero(c)) <= static_cast<uint64_t>(kExact / kLargest);
}

/// An exact result; of floats, and of integers that wrap around, only where the type has it for all
/// sizes that occur.
MaybeElement exact(const SizeContext& c, Poly value, int64_t divisor) {
  Element e = reduced(std::move(value), divisor);
  const bool whole = e.divisor == 1, wide = c.dtype == DType::I64;
  if (!c.is_float() && (!whole || wide)) return whole ? MaybeElement(e) : std::nullopt;
  if (is_number(e) && !c.is_float()) {
    const int64_t n = e.value.constant();
    return n == static_cast<int32_t>(n) ? MaybeElement(e) : std::nullopt;
  }
  if (is_number(e)) return rounded(number(e));
  bool fits = std::abs(e.value.constant()) < kExact && content(e.value) < kExact;
  for (const Poly::Term& t : e.value.terms())
    fits = fits && (!c.is_float() || is_short(std::abs(t.coefficient)));
  return fits ? MaybeElement(e) : std::nullopt;
}

/// A division by what is no power of 2 rounds; only floor and ceil may follow it.
bool rounds(const SizeContext& c, const Element& e) {
  return c.is_float() && !is_number(e) && !std::has_single_bit(static_cast<uint64_t>(e.divisor));
}

std::optional<Poly> floored(const SizeContext& c, const Element& e) {
  if (e.divisor == 1) return e.value;
  return c.pool.floordiv(e.value, Poly(e.divisor));
}

/// The polynomial with the sizes that may be 0 smaller by 1 than their symbols, which are at
/// least 1.
Poly from_zero(const Poly& p) {
  Substitution shifted;
  for (const Poly::Term& t : p.terms())
    for (Var v : t.monomial)
      if (v->kind == SymbolKind::Size && v->may_be_zero && v->min == 1)
        shifted[v] = Poly::symbol(v) - Poly(1);
  return substitute(p, shifted);
}

}  // namespace

std::optional<int> order(const Element& a, const Element& b) {
  Poly d = from_zero(a.value * Poly(b.divisor) - b.value * Poly(a.divisor));
  if (d.is_zero()) return 0;
  if (auto low = lower_bound(d); low && *low > 0) return 1;
  if (auto low = lower_bound(Poly(-1) * d); low && *low > 0) return -1;
  return std::nullopt;
}

MaybeElement sum(const SizeContext& c, const Element& a, const Element& b) {
  if (rounds(c, a) || rounds(c, b)) return std::nullopt;
  return exact(c, a.value * Poly(b.divisor) + b.value * Poly(a.divisor),
               checked_product(a.divisor, b.divisor));
}

MaybeElement difference(const SizeContext& c, const Element& a, const Element& b) {
  return sum(c, a, {Poly(-1) * b.value, b.divisor});
}

MaybeElement product(const SizeContext& c, const Element& a, const Element& b) {
  if (rounds(c, a) || rounds(c, b)) return std::nullopt;
  if (c.is_float() && is_number(a) && is_number(b)) return rounded(number(a) * number(b));
  return exact(c, a.value * b.value, checked_product(a.divisor, b.divisor));
}

MaybeElement quotient(const SizeContext& c, const Element& a, const Element& b) {
  if (b.value.is_zero()) return std::nullopt;
  if (c.is_float()) {
    if (is_number(a) && is_number(b)) return rounded(number(a) / number(b));
    if (rounds(c, a) || !is_number(b) || b.value.constant() < 0) return std::nullopt;
    // what the quotient rounds by is less than it lacks to the next whole number
    const bool near = content(a.value) <= kExact / kLargest / b.divisor;
    if (!near) return std::nullopt;
    return reduced(a.value * Poly(b.divisor), checked_product(a.divisor, b.value.constant()));
  }
  if (is_number(a) && is_number(b)) {
    if (b.value.constant() == -1) return exact(c, Poly(-1) * a.value, 1);
    return Element{Poly(a.value.constant() / b.value.constant())};
  }
  bool positive = never_negative(a.value) && lower_bound(b.value).value_or(0) >= 1;
  if (!positive) return std::nullopt;
  return Element{c.pool.floordiv(a.value, b.value)};
}

MaybeElement floored_remainder(const SizeContext& c, const Element& a, const Element& b) {
  if (c.is_float() || lower_bound(b.value).value_or(0) < 1) return std::nullopt;
  return Element{a.value - c.pool.floordiv(a.value, b.value) * b.value};
}

MaybeElement truncated_remainder(const SizeContext& c, const Element& a, const Element& b) {
  auto q = c.is_float() ? std::nullopt : quotient(c, a, b);
  if (!q) return std::nullopt;
  return Element{a.value - q->value * b.value};
}

MaybeElement minimum(const SizeContext&, const Element& a, const Element& b) {
  if (auto o = order(a, b)) return *o <= 0 ? a : b;
  return std::nullopt;
}

MaybeElement maximum(const SizeContext&, const Element& a, const Element& b) {
  if (auto o = order(a, b)) return *o >= 0 ? a : b;
  return std::nullopt;
}

MaybeElement floor(const SizeContext& c, const Element& a) {
  auto q = floored(c, a);
  return q ? exact(c, *q, 1) : std::nullopt;
}

MaybeElement ceil(const SizeContext& c, const Element& a) {
  auto q = floored(c, {Poly(-1) * a.value, a.divisor});
  return q ? exact(c, Poly(-1) * *q, 1) : std::nullopt;
}

MaybeElement cast(const SizeContext& c, const Element& a, DType to) {
  if (to == DType::Bool) {
    auto o = order(a, {});
    return o ? MaybeElement(Element{Poly(*o != 0 ? 1 : 0)}) : std::nullopt;
  }
  if (to == DType::F32) return exact({c.pool, to}, a.value, a.divisor);
  if (to != DType::I64 && to != DType::I32) return std::nullopt;
  if (is_number(a)) {
    auto x = static_cast<int64_t>(number(a));
    bool fits = to == DType::I64 || x == static_cast<int32_t>(x);
    return a.divisor == 1 && to == DType::I64 ? MaybeElement(a)
           : fits                             ? MaybeElement(Element{Poly(x)})
                                              : std::nullopt;
  }
  if (a.divisor == 1) return exact({c.pool, to}, a.value, 1);
  bool positive = never_negative(a.value);
  return positive ? floor({c.pool, DType::I64}, a) : std::nullopt;
}

std::optional<Poly> scaled(const Poly& size, double scale, SymbolPool& pool) {
  constexpr int64_t kParts = kExact / kLargest;
  if (size.is_constant()) {
    const double product = static_cast<double>(size.constant()) * scale;
    const double exact = std::floor(product), rounded = std::floor(static_cast<float>(product));
    return exact == rounded ? std::optional(Poly(static_cast<int64_t>(exact))) : std::nullopt;
  }
  const double parts = scale * static_cast<double>(kParts);
  if (parts != std::floor(parts) || parts < 1 || parts > 64 * kParts) return std::nullopt;
  const auto whole = static_cast<int64_t>(parts);
  if (!is_short(whole)) return std::nullopt;
  return pool.floordiv(size * Poly(whole), Poly(kParts));
}

bool is_size(const Poly& p) {
  constexpr size_t kTerms = 64, kFactors = 6;
  constexpr int64_t kLargestFactor = int64_t{1} << 40;
  return p.terms().size() <= kTerms && std::ranges::all_of(p.terms(), [](const Poly::Term& t) {
           return t.monomial.size() <= kFactors && std::abs(t.coefficient) <= kLargestFactor;
         });
}

bool is_plausible(const Shape& shape) {
  constexpr double kMostElements = 7e13;  // more is a mistake, not a tensor
  double numbers = 1;
  for (const Poly& d : shape) {
    if (!is_size(d)) return false;
    if (d.is_constant()) numbers *= std::max(static_cast<double>(d.constant()), 1.0);
  }
  return numbers <= kMostElements;
}

}  // namespace regraft::io
