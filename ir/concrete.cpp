#include "ir/concrete.h"

#include <bit>
#include <numeric>

namespace regraft {
namespace {

constexpr uint64_t kMask = Residue::kPrime;  // 61 one-bits

// A bijection of the residues that fixes 0, and its inverse: a hidden pseudo-random order.
constexpr uint64_t kOdd1 = 0x165a3d4f8c9b2e35ULL, kOdd2 = 0x0b17e9c2d3a4f667ULL;
constexpr uint64_t odd_inverse(uint64_t k) {
  uint64_t x = k;
  for (int i = 0; i < 6; ++i) x *= 2 - k * x;
  return x & kMask;
}
uint64_t hide(uint64_t x) {
  x ^= x >> 31;
  x = (x * kOdd1) & kMask;
  x ^= x >> 31;
  return ((x * kOdd2) & kMask) ^ (((x * kOdd2) & kMask) >> 31);
}
uint64_t reveal(uint64_t x) {
  x ^= x >> 31;
  x = (x * odd_inverse(kOdd2)) & kMask;
  x ^= x >> 31;
  x = (x * odd_inverse(kOdd1)) & kMask;
  x ^= x >> 31;
  return x == kMask ? 0 : x;
}

Residue power(Residue b, uint64_t e) {
  Residue r{1};
  for (; e; e >>= 1, b = b * b)
    if (e & 1) r = r * b;
  return r;
}

int64_t times(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw PolyOverflow{};
  return r;
}

}  // namespace

Residue residue_of(int64_t n) {
  int64_t m = n % static_cast<int64_t>(Residue::kPrime);
  return {static_cast<uint64_t>(m < 0 ? m + static_cast<int64_t>(Residue::kPrime) : m)};
}

Residue residue_of(double x) {
  if (!std::isfinite(x)) return {mix(std::bit_cast<uint64_t>(x)) % Residue::kPrime};
  int exponent = 0;
  auto mantissa = static_cast<int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  exponent -= 53;
  Residue two{2};
  Residue scale = exponent >= 0 ? power(two, static_cast<uint64_t>(exponent))
                                : inverse(power(two, static_cast<uint64_t>(-exponent)));
  return residue_of(mantissa) * scale;
}

Residue inverse(Residue x) { return power(x, Residue::kPrime - 2); }

Residue Field::image(uint64_t tag, Residue x) const {
  return {mix(mix(key ^ tag * 0x632be59bd9b4e019ULL) ^ x.v) % Residue::kPrime};
}

Residue Field::apply(Fn f, Residue x) {
  if (x.v == 0 && facts(f).zero_at_zero) return x;
  if (f == Fn::Relu) {  // rounds down in the hidden order: idempotent and monotone there
    constexpr uint64_t kCoarse = (uint64_t{1} << 20) - 1;
    return x.v == 1 ? x : Residue{reveal(hide(x.v) & ~kCoarse)};
  }
  if (f == Fn::Recip) return inverse(x);
  return image(1 + static_cast<uint64_t>(f), x);
}

Residue Field::clip(Residue x, Real low, Real high) {
  uint64_t bounds = combine(residue_of(low.value).v, residue_of(high.value).v);
  constexpr uint64_t kCoarse = (uint64_t{1} << 20) - 1;
  // The low bits of the hidden order name the bounds, so that clipping twice is clipping once.
  uint64_t h = (hide(x.v) & ~kCoarse) | (bounds & kCoarse);
  return {reveal(h & kMask)};
}

Residue Field::maximum(std::vector<Residue> v) {
  std::sort(v.begin(), v.end(), [](Residue a, Residue b) { return a.v < b.v; });
  v.erase(std::unique(v.begin(), v.end()), v.end());
  if (v.empty()) return image(76, {0});
  if (v.size() == 1) return v[0];
  Residue sum{0};
  for (Residue x : v) sum = sum + image(77, x);
  return image(78, sum);
}

Rational Rational::make(int64_t n, int64_t d) {
  CHECK(d != 0);
  int64_t g = std::gcd(n, d);
  if (d < 0) g = -g;
  return {n / g, d / g};
}
Rational operator+(Rational a, Rational b) {
  int64_t x = times(a.n, b.d), y = times(b.n, a.d), s;
  if (__builtin_add_overflow(x, y, &s)) throw PolyOverflow{};
  return Rational::make(s, times(a.d, b.d));
}
Rational operator*(Rational a, Rational b) {
  return Rational::make(times(a.n, b.n), times(a.d, b.d));
}

Term TermStore::intern(Body body) {
  auto [it, fresh] = ids_.try_emplace(std::move(body), static_cast<int32_t>(bodies_.size()));
  if (fresh) bodies_.push_back(&it->first);
  return {it->second, this};
}

Term TermStore::atom(std::vector<int64_t> key) {
  auto [it, fresh] = atoms_.try_emplace(std::move(key), static_cast<int32_t>(atoms_.size()));
  if (fresh) keys_.push_back(&it->first);
  int32_t id = it->second;
  Body body;
  body[{id}] = {1, 1};
  return intern(std::move(body));
}

std::vector<int64_t> TermStore::atom_key(Term t) const {
  const Body& b = body(t);
  if (b.size() != 1 || b.begin()->first.size() != 1 || b.begin()->second != Rational{1, 1})
    return {};
  return *keys_[static_cast<size_t>(b.begin()->first[0])];
}

Term operator+(Term a, Term b) {
  TermStore& store = *a.store;
  auto r = store.body(a);
  for (const auto& [m, c] : store.body(b)) {
    auto [it, fresh] = r.try_emplace(m, c);
    if (!fresh && (it->second = it->second + c).n == 0) r.erase(it);
  }
  return store.intern(std::move(r));
}

Term operator*(Term a, Term b) {
  TermStore& store = *a.store;
  TermStore::Body r;
  for (const auto& [m, c] : store.body(a))
    for (const auto& [n, d] : store.body(b)) {
      TermStore::Mono x;
      std::merge(m.begin(), m.end(), n.begin(), n.end(), std::back_inserter(x));
      auto [it, fresh] = r.try_emplace(std::move(x), c * d);
      if (!fresh && (it->second = it->second + c * d).n == 0) r.erase(it);
    }
  return store.intern(std::move(r));
}

Term Terms::constant(int64_t n, int64_t d) {
  TermStore::Body body;
  if (n != 0) body[{}] = Rational::make(n, d);
  return store.intern(std::move(body));
}

Term Terms::real(Real r) {
  double scaled = r.value * 1024;
  if (scaled == std::floor(scaled) && std::abs(scaled) < 1e9)
    return constant(static_cast<int64_t>(scaled), 1024);
  return store.atom({3, std::bit_cast<int64_t>(r.value)});
}

Term Terms::apply(Fn f, Term x) {
  if (store.body(x).empty() && facts(f).zero_at_zero) return x;
  if (const auto& b = store.body(x); b.size() == 1 && b.begin()->first.empty()) {  // a number
    Rational c = b.begin()->second;
    if (c.n == 1 && c.d == 1 && facts(f).one_at_one) return x;
    if (f == Fn::Relu) return c.n >= 0 ? x : constant(0);
    if (f == Fn::Recip) return constant(c.d, c.n);
  }
  std::vector<int64_t> key = store.atom_key(x);
  bool same_again = key.size() == 3 && key[0] == 1 && key[1] == static_cast<int64_t>(f);
  if (same_again && facts(f).idempotent) return x;
  if (f == Fn::Relu && key.size() == 4 && key[0] == 4) {  // relu(clip(y)) between bounds from 0 on
    auto low = std::bit_cast<double>(key[1]), high = std::bit_cast<double>(key[2]);
    if (low >= 0 && high >= low) return x;
  }
  return store.atom({1, static_cast<int64_t>(f), x.id});
}

Term Terms::clip(Term x, Real low, Real high) {
  std::vector<int64_t> key = store.atom_key(x);  // clip(relu(y)) from 0 on is clip(y)
  bool of_relu = key.size() == 3 && key[0] == 1 && key[1] == static_cast<int64_t>(Fn::Relu);
  if (of_relu && low.value >= 0) x = Term{static_cast<int32_t>(key[2]), x.store};
  return store.atom(
      {4, std::bit_cast<int64_t>(low.value), std::bit_cast<int64_t>(high.value), x.id});
}

Term Terms::maximum(const std::vector<Term>& v) {
  std::vector<int64_t> key;
  for (Term x : v) key.push_back(x.id);
  std::sort(key.begin(), key.end());
  key.erase(std::unique(key.begin(), key.end()), key.end());
  if (key.size() == 1) return v[0];
  key.insert(key.begin(), 2);
  return store.atom(std::move(key));
}

void Counting::Scalar::charge(uint64_t at_loops, double flops) {
  auto it = std::lower_bound(work.begin(), work.end(), at_loops,
                             [](const auto& entry, uint64_t l) { return entry.first < l; });
  if (it != work.end() && it->first == at_loops)
    it->second += flops;
  else
    work.insert(it, {at_loops, flops});
}

Counting::Scalar Counting::Scalar::both(Scalar a, const Scalar& b) {
  for (const auto& [loops, flops] : b.work) a.charge(loops, flops);
  a.loops |= b.loops;
  a.charge(a.loops, 1);
  return a;
}

Counting::Scalar Counting::leave(Scalar x, uint64_t loop, double n) {
  Scalar r;
  r.loops = x.loops & ~loop;
  for (const auto& [loops, flops] : x.work)
    r.charge(loops & ~loop, loops & loop ? flops * n : flops);
  return r;
}

}  // namespace regraft
