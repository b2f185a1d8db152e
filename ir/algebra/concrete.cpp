#include "ir/algebra/concrete.h"

#include <bit>
#include <numeric>

namespace regraft {
void Field::draw_powers() {
  drawn_ = true;
  uint64_t root = 2 + mix(key_ ^ 0x2545f4914f6cdd1dULL) % (Residue::kPrime - 3);
  uint64_t base = Residue::ModPrime::mul(root, root);  // a square other than 1 has order q
  for (auto& row : powers_) {
    row[0] = 1;
    for (size_t d = 1; d < row.size(); ++d) row[d] = Residue::ModPrime::mul(row[d - 1], base);
    base = Residue::ModPrime::mul(row.back(), base);
  }
}

uint64_t Field::image(uint64_t tag, uint64_t x) const {
  return mix(mix(key_ ^ tag * 0x632be59bd9b4e019ULL) ^ x);
}

Residue Field::larger(Residue a, Residue b) {
  if (a == b && is_defined(b)) return a;
  if (!decided(a.r, b.r)) return undefined();  // nor where one is a NaN
  return a.r < b.r ? b : a;
}

bool is_reciprocal(Fn f) { return f == Fn::Recip; }

Residue Field::reciprocal(Residue x) { return x.v == 0 || x.w == 0 ? undefined() : inverse(x); }

Residue Field::exponential(Residue x) {
  if (!drawn_) draw_powers();
  if (x.v == 0) return residue_of(int64_t{1});
  uint64_t v = 1;
  for (size_t k = 0; k < kDigits; ++k)
    v = Residue::ModPrime::mul(v, powers_[k][x.w >> (4 * k) & 15]);
  return {v, image(1, v) % Residue::kOrder, capped_exp(x.r)};
}

/// f as a random function; of its facts only that it is odd.
Residue Field::random_image(Fn f, Residue x) {
  guessed = true;
  auto tag = static_cast<uint64_t>(2 + 2 * (static_cast<int>(f) - static_cast<int>(Fn::Erf)));
  bool flip = facts(f).odd && x.v > Residue::kPrime / 2;
  uint64_t v = flip ? Residue::kPrime - x.v : x.v;
  Residue y{image(tag, v) % Residue::kPrime, image(tag + 1, v) % Residue::kOrder, 0};
  if (flip) y = y * residue_of(int64_t{-1});
  y.r = facts(f).value(x.r);
  return y;
}

/// f is the same number on both sides of x, or x is a number.
Residue Field::between_jumps(Fn f, Residue x) {
  double (*value)(double) = facts(f).value;
  double room = 1e-11 * (1 + std::abs(x.r));
  bool number = std::abs(x.r) < 0x1p53 && x == residue_of(x.r);
  bool clear = std::abs(x.r) < 1e60 && value(x.r - room) == value(x.r + room);
  return number || clear ? residue_of(value(x.r)) : undefined();
}

Residue Field::chosen(Residue c, Residue a, Residue b) {
  if (c == residue_of(int64_t{1}) && c.r == 1) return a;
  if (c == residue_of(int64_t{0}) && c.r == 0) return b;
  return c * a + (residue_of(int64_t{1}) + residue_of(int64_t{-1}) * c) * b;
}

Residue Field::apply(Fn f, Residue x) {
  if (!is_defined(x)) return x;
  if (x.v == 0 && facts(f).zero_at_zero) return {};
  if (facts(f).jumps) return between_jumps(f, x);
  Residue one = residue_of(int64_t{1}), y;
  switch (f) {
    case Fn::Relu:
      return larger(x, {});
    case Fn::Exp:
      return exponential(x);
    case Fn::Sigmoid:
      y = exponential(x);
      y = y * reciprocal(y + one);
      break;
    case Fn::Tanh:
      y = exponential(x + x);
      y = (y + residue_of(int64_t{-1})) * reciprocal(y + one);
      break;
    case Fn::Sqrt:
      return square_root(x);
    case Fn::Recip:
      return reciprocal(x);
    default:
      return random_image(f, x);
  }
  y.r = is_defined(y) ? facts(f).value(x.r) : y.r;
  return y;
}

Residue Field::clip(Residue x, Real low, Real high) {
  Residue bounded = larger(x, residue_of(low.value)), top = residue_of(high.value);
  if (bounded == top && is_defined(bounded)) return top;
  if (!decided(bounded.r, top.r)) return undefined();
  return bounded.r < top.r ? bounded : top;
}

Residue Field::maximum(const std::vector<Residue>& v) {
  if (v.empty())
    return {image(4, 0) % Residue::kPrime, image(5, 0) % Residue::kOrder,
            -std::numeric_limits<double>::infinity()};
  Residue m = v[0];
  for (size_t k = 1; k < v.size(); ++k) m = larger(m, v[k]);
  return m;
}

Rational Rational::make(int64_t n, int64_t d) {
  CHECK(d != 0);
  int64_t g = std::gcd(n, d);
  if (d < 0) g = -g;
  return {n / g, d / g};
}
Rational operator+(Rational a, Rational b) {
  int64_t x = checked_product(a.n, b.d), y = checked_product(b.n, a.d), s;
  if (__builtin_add_overflow(x, y, &s)) throw PolyOverflow{};
  return Rational::make(s, checked_product(a.d, b.d));
}
Rational operator*(Rational a, Rational b) {
  return Rational::make(checked_product(a.n, b.n), checked_product(a.d, b.d));
}

std::optional<int64_t> integer_value(Fn f, Rational x) {
  constexpr int64_t kSmall = 1 << 20;
  if (!facts(f).jumps || std::abs(x.n) >= kSmall || x.d >= kSmall) return std::nullopt;
  return static_cast<int64_t>(facts(f).value(static_cast<double>(x.n) / static_cast<double>(x.d)));
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
    if (auto n = integer_value(f, c)) return constant(*n);
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
  for (Term x : v) {
    const std::vector<int64_t> of = store.atom_key(x);
    if (of.size() > 1 && of[0] == 2)  // a maximum of maxima is one of all
      key.insert(key.end(), of.begin() + 1, of.end());
    else
      key.push_back(x.id);
  }
  std::sort(key.begin(), key.end());
  key.erase(std::unique(key.begin(), key.end()), key.end());
  if (key.size() == 1) return v[0];
  key.insert(key.begin(), 2);
  return store.atom(std::move(key));
}

void CountScalar::charge(uint64_t at_loops, double flops) {
  auto it = std::lower_bound(work.begin(), work.end(), at_loops,
                             [](const auto& entry, uint64_t l) { return entry.first < l; });
  if (it != work.end() && it->first == at_loops)
    it->second += flops;
  else
    work.insert(it, {at_loops, flops});
}

CountScalar CountScalar::both(CountScalar a, const CountScalar& b) {
  for (const auto& [loops, flops] : b.work) a.charge(loops, flops);
  a.loops |= b.loops;
  a.charge(a.loops, 1);
  return a;
}

CountScalar Counting::leave(CountScalar x, uint64_t loop, double n) {
  CountScalar r;
  r.loops = x.loops & ~loop;
  for (const auto& [loops, flops] : x.work)
    r.charge(loops & ~loop, loops & loop ? flops * n : flops);
  return r;
}

}  // namespace regraft
