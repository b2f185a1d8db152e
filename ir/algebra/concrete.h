#pragma once
// The algebras with integer indices: Reals, Field, Terms, Counting.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "ir/algebra/algebra.h"
#include "ir/algebra/residue.h"

namespace regraft {

/// A dense row-major view; does not own `data`.
template <class S>
struct NumTensor {
  std::array<int64_t, kMaxRank> dims{}, strides{};
  int nd = 0;
  const S* data = nullptr;
  NumTensor() = default;
  NumTensor(std::span<const int64_t> shape, const S* elements) : data(elements) {
    CHECK(shape.size() <= kMaxRank);
    nd = static_cast<int>(shape.size());
    int64_t n = 1;
    for (int k = nd; k-- > 0;) {
      dims[static_cast<size_t>(k)] = shape[static_cast<size_t>(k)];
      strides[static_cast<size_t>(k)] = n;
      n *= shape[static_cast<size_t>(k)];
    }
  }
  int64_t dim(int k) const { return dims[static_cast<size_t>(k)]; }
  int rank() const { return nd; }
};

/// What the algebras over integer indices share.
template <class Derived, class S>
struct Concrete {
  using Index = int64_t;
  using Bool = bool;
  using Scalar = S;
  using Tensor = NumTensor<S>;
  bool ok = true;  ///< every requirement so far held
  void require(bool b) { ok = ok && b; }
  int64_t floordiv(int64_t a, int64_t b) {
    if (b < 1) {
      ok = false;
      return 0;
    }
    return regraft::floordiv(a, b);
  }
  template <class T, class E>
  S select(bool c, T&& then, E&& otherwise) {
    return c ? then() : otherwise();
  }
  template <class F>
  S sum(int64_t n, F&& f) {
    S total = self().constant(0);
    for (int64_t k = 0; k < n; ++k) total = total + f(k);
    return total;
  }
  S read(const Tensor& t, std::span<const int64_t> i) {
    int64_t offset = 0;
    for (size_t k = 0; k < i.size(); ++k) offset += i[k] * t.strides[k];
    return t.data[offset];
  }
  int64_t lookup(const std::vector<int64_t>& table, int64_t i, int64_t bound) {
    if (i < 0 || i >= static_cast<int64_t>(table.size())) return ok = false, 0;
    int64_t value = table[static_cast<size_t>(i)];
    if (value < 0 || value >= bound) return ok = false, 0;
    return value;
  }
  S larger(S a, S b) { return self().maximum({a, b}); }
  template <class T, class E>
  S choose(S c, T&& then, E&& otherwise) {
    S a = then(), b = otherwise();
    return c * a + (self().constant(1) + self().constant(-1) * c) * b;
  }
  template <class P, class F>
  S max_over(std::span<const int64_t> extents, P&& valid, F&& body) {
    std::vector<S> values;
    Indices<int64_t> k;
    for (int64_t e : extents) {
      if (e < 1) return ok = false, self().constant(0);
      k.push_back(0);
    }
    for (;;) {
      if (valid(std::span<const int64_t>(k))) values.push_back(body(std::span<const int64_t>(k)));
      int d = k.size() - 1;
      while (d >= 0 && ++k[d] == extents[static_cast<size_t>(d)]) k[d--] = 0;
      if (d < 0) break;
    }
    return self().maximum(values);
  }
  Derived& self() { return static_cast<Derived&>(*this); }
};

/// c a + (1 - c) b; where c is 1 or 0, a or b themselves.
template <class T>
T chosen(T c, T a, T b) {
  return c == 1 ? a : c == 0 ? b : c * a + (1 - c) * b;
}

/// IEEE doubles: what a model computes. If `strict`, functions on the real numbers: where one is
/// not defined or its result overflows, and for operands that are not numbers, it is not a number.
struct Reals : Concrete<Reals, double> {
  bool strict = false;
  double constant(int64_t n, int64_t d = 1) {
    return static_cast<double>(n) / static_cast<double>(d);
  }
  double real(Real r) { return r.value; }
  double recip(int64_t n) { return 1.0 / static_cast<double>(n); }
  double to_scalar(int64_t n) { return static_cast<double>(n); }
  double apply(Fn f, double x) {
    double y = facts(f).value(x);
    return strict && !(std::isfinite(x) && std::isfinite(y))
               ? std::numeric_limits<double>::quiet_NaN()
               : y;
  }
  double clip(double x, Real low, Real high) {
    return std::min(std::max(x, low.value), high.value);
  }
  double larger(double a, double b) {
    if (std::isnan(a)) return a;
    return std::isnan(b) || b > a ? b : a;
  }
  template <class T, class E>
  double choose(double c, T&& then, E&& otherwise) {
    return chosen(c, then(), otherwise());
  }
  double maximum(const std::vector<double>& v) {
    double m = -std::numeric_limits<double>::infinity();
    bool defined = !strict || !v.empty();
    for (double x : v) {
      m = std::isnan(x) ? x : std::max(m, x);  // keeps a NaN that came before
      defined = defined && !(strict && std::isnan(x));
    }
    return defined ? m : std::numeric_limits<double>::quiet_NaN();
  }
};

/// Fingerprints: every scalar is a function of the inputs at one random point. What polynomials,
/// division, exp and what is made of it (sigmoid, tanh, softmax), comparisons (max, relu, clip) and
/// products of square roots say of all numbers holds exactly; different functions agree by chance
/// with probability about degree / 2^61 for each element, comparisons aside: those are decided at
/// one point of the order, so two formulas that agree where it lies agree here. Exceptions: exp of
/// something that contains exp knows no law but that equals have equal images; sqrt(x)^2 is x or
/// -x; a function that jumps is decided by the double, as comparisons are; erf, and any function
/// that is not named here, is a random one, odd where its facts say so.
struct Field : Concrete<Field, Residue> {
  /// The key draws the base of exp and the random functions.
  explicit Field(uint64_t key = 1) : key_(key) {}  // NOLINT: powers_ is drawn late
  /// A function had a random image, or a number may stand for a fraction: what are different
  /// residues may be equal numbers. Who starts anew clears it.
  bool guessed = false;
  Residue constant(int64_t n, int64_t d = 1) {
    return d == 1 ? residue_of(n) : residue_of(n) * recip(d);
  }
  Residue real(Real r) {
    guessed = guessed || !is_short(r.value);
    return residue_of(r.value);
  }
  Residue recip(int64_t n) { return reciprocal(residue_of(n)); }
  Residue to_scalar(int64_t n) { return residue_of(n); }
  Residue apply(Fn f, Residue x);
  Residue clip(Residue x, Real low, Real high);
  Residue maximum(const std::vector<Residue>& v);  ///< of nothing: below all numbers
  static Residue larger(Residue a, Residue b);
  template <class T, class E>
  Residue choose(Residue c, T&& then, E&& otherwise) {
    return chosen(c, then(), otherwise());
  }

 private:
  static constexpr size_t kDigits = 15;  ///< of an exponent, 4 bits each
  static Residue undefined() { return {0, 0, std::numeric_limits<double>::quiet_NaN()}; }
  static Residue reciprocal(Residue x);
  Residue exponential(Residue x);
  Residue random_image(Fn f, Residue x);
  static bool is_short(double x) { return x * 1024 == std::floor(x * 1024); }
  static Residue between_jumps(Fn f, Residue x);
  static Residue chosen(Residue c, Residue a, Residue b);
  uint64_t image(uint64_t tag, uint64_t x) const;
  void draw_powers();
  uint64_t key_;
  bool drawn_ = false;  ///< powers_ is filled when exp first occurs
  std::array<std::array<uint64_t, 16>, kDigits> powers_;  ///< [k][d]: the base to the d * 16^k
};

/// The function whose values of many arguments invert() finds.
bool is_reciprocal(Fn f);

/// Exact rational number; throws PolyOverflow beyond int64.
struct Rational {
  int64_t n = 0, d = 1;
  static Rational make(int64_t n, int64_t d);
  friend Rational operator+(Rational a, Rational b);
  friend Rational operator*(Rational a, Rational b);
  auto operator<=>(const Rational&) const = default;
};

/// The value of a function that jumps, at a fraction of small numbers, which doubles tell from
/// where it jumps.
std::optional<int64_t> integer_value(Fn f, Rational x);

class TermStore;
/// A polynomial over opaque atoms, hash-consed: equal ids of one store mean equal polynomials.
struct Term {
  int32_t id = 0;
  TermStore* store = nullptr;
  friend Term operator+(Term a, Term b);
  friend Term operator*(Term a, Term b);
  bool operator==(const Term& o) const { return id == o.id; }
};
/// Owner of terms. Not thread-safe.
class TermStore {
 public:
  using Mono = std::vector<int32_t>;  ///< atoms, sorted
  using Body = std::map<Mono, Rational>;
  Term intern(Body body);
  Term atom(std::vector<int64_t> key);
  /// The key of the atom that t consists of; empty when t is not a single atom.
  std::vector<int64_t> atom_key(Term t) const;
  const Body& body(Term t) const { return *bodies_[static_cast<size_t>(t.id)]; }

 private:
  std::map<Body, int32_t> ids_;
  std::vector<const Body*> bodies_;
  std::map<std::vector<int64_t>, int32_t> atoms_;
  std::vector<const std::vector<int64_t>*> keys_;
};

/// Exact polynomials over the elements of the inputs, functions opaque: a proof at given shapes.
struct Terms : Concrete<Terms, Term> {
  TermStore& store;
  explicit Terms(TermStore& s) : store(s) {}
  Term constant(int64_t n, int64_t d = 1);
  Term real(Real r);
  Term recip(int64_t n) { return constant(1, n); }
  Term to_scalar(int64_t n) { return constant(n); }
  Term element(int tensor, int64_t flat) { return store.atom({0, tensor, flat}); }
  Term apply(Fn f, Term x);
  Term clip(Term x, Real low, Real high);
  Term maximum(const std::vector<Term>& v);
};

/// An index that knows which loops it depends on: output axes (bits 0..7) and bound variables.
struct CountIndex {
  int64_t value = 0;
  uint64_t loops = 0;
  CountIndex(int64_t v = 0, uint64_t l = 0) : value(v), loops(l) {}  // NOLINT: implicit by design
  friend CountIndex operator+(CountIndex a, CountIndex b) {
    return {a.value + b.value, a.loops | b.loops};
  }
  friend CountIndex operator-(CountIndex a, CountIndex b) {
    return {a.value - b.value, a.loops | b.loops};
  }
  friend CountIndex operator*(CountIndex a, CountIndex b) {
    return {a.value * b.value, a.loops | b.loops};
  }
  friend bool operator<(CountIndex a, CountIndex b) { return a.value < b.value; }
  friend bool operator<=(CountIndex a, CountIndex b) { return a.value <= b.value; }
  friend bool operator==(CountIndex a, CountIndex b) { return a.value == b.value; }
};
inline bool is_one(CountIndex n) { return n.value == 1; }
inline int64_t fixed(CountIndex n) { return n.value; }

/// The operations that a value takes, by the loops that they depend on.
struct CountScalar {
  uint64_t loops = 0;                             ///< what the value depends on
  std::vector<std::pair<uint64_t, double>> work;  ///< (loops, operations), sorted by loops
  void charge(uint64_t at_loops, double flops);
  friend CountScalar operator+(CountScalar a, const CountScalar& b) {
    return both(std::move(a), b);
  }
  friend CountScalar operator*(CountScalar a, const CountScalar& b) {
    return both(std::move(a), b);
  }
  static CountScalar both(CountScalar a, const CountScalar& b);
};
struct CountTensor {
  std::vector<CountIndex> shape;
  CountIndex dim(int k) const { return shape[static_cast<size_t>(k)]; }
  int rank() const { return static_cast<int>(shape.size()); }
};

/// Counts floating point operations, with every loop-invariant part counted once: a scalar says how
/// many operations it costs for each combination of the loops it depends on. Sums are looked at in
/// their middle, so padded borders count as inside. Use operation_count() in ir/ops/op.h.
struct Counting {
  using Index = CountIndex;
  using Bool = bool;
  using Scalar = CountScalar;
  using Tensor = CountTensor;
  int bound = kMaxRank;  ///< loops given away so far
  void require(bool) {}
  CountIndex floordiv(CountIndex a, CountIndex b) {
    return {b.value < 1 ? 0 : regraft::floordiv(a.value, b.value), a.loops | b.loops};
  }
  Scalar constant(int64_t, int64_t = 1) { return {}; }
  Scalar real(Real) { return {}; }
  Scalar recip(CountIndex) { return {}; }
  Scalar to_scalar(CountIndex i) { return {i.loops, {}}; }
  Scalar apply(Fn f, Scalar x) {
    x.charge(x.loops, facts(f).flops);
    return x;
  }
  Scalar clip(Scalar x, Real, Real) {
    x.charge(x.loops, 2);
    return x;
  }
  Scalar larger(Scalar a, const Scalar& b) { return std::move(a) + b; }
  template <class T, class E>
  Scalar choose(Scalar c, T&& then, E&& otherwise) {
    return std::move(c) + (then() + otherwise());
  }
  template <class T, class E>
  Scalar select(bool c, T&& then, E&& otherwise) {
    return c ? then() : otherwise();
  }
  template <class F>
  Scalar sum(CountIndex n, F&& f) {
    uint64_t loop = fresh_loop();
    Scalar x = f(CountIndex(n.value / 2, loop | n.loops));
    if (is_one(n)) return leave(std::move(x), loop, 1);
    x.charge(x.loops | loop, 1);
    return leave(std::move(x), loop, static_cast<double>(n.value));
  }
  template <class P, class F>
  Scalar max_over(std::span<const CountIndex> extents, P&&, F&& body) {
    Indices<CountIndex> k;
    std::vector<uint64_t> loops;
    for (CountIndex e : extents)
      loops.push_back(fresh_loop()), k.push_back({e.value / 2, loops.back()});
    Scalar x = body(std::span<const CountIndex>(k));
    uint64_t all = x.loops;
    for (uint64_t loop : loops) all |= loop;
    x.charge(all, 1);
    for (size_t d = 0; d < loops.size(); ++d)
      x = leave(std::move(x), loops[d], static_cast<double>(extents[d].value));
    return x;
  }
  Scalar read(const Tensor&, std::span<const CountIndex> i) {
    Scalar x;
    for (CountIndex k : i) x.loops |= k.loops;
    return x;
  }
  CountIndex lookup(const std::vector<CountIndex>&, CountIndex i, CountIndex) {
    return {0, i.loops};
  }

 private:
  uint64_t fresh_loop() {
    CHECK(bound < 63);
    return uint64_t{1} << bound++;
  }
  /// Leaves a loop of n rounds: what depends on it costs n times as much.
  static Scalar leave(Scalar x, uint64_t loop, double n);
};

static_assert(Algebra<Reals> && Algebra<Field> && Algebra<Terms> && Algebra<Counting>);

}  // namespace regraft
