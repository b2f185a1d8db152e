#pragma once
// What the formula of an operator may use. Two sorts: Index (sizes, positions) and Scalar (values).
// Changing the algebra changes the meaning of one and the same formula:
//   Reals     reference evaluation, constant folding     Field     fingerprints
//   Terms     exact polynomials at given shapes           Symbolic  proofs for all sizes
//   Counting  floating point operations, for the cost
//   Trace     the formula as a program, for evaluation many times at the same shapes
//   Code      the formula as C text, for kernels
//   Syntax    the formula as a tree, for the kernel of proofs
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "ir/algebra/formula.h"
#include "ir/algebra/function.h"
#include "ir/algebra/sorts.h"

namespace regraft {

/// A real attribute (an epsilon, a bound): a number, or an unknown named by a rule variable.
struct Real {
  double value = 0;
  Var symbol = nullptr;  ///< set only inside rules
};
inline bool same_real(const Real& a, const Real& b) {
  return a.symbol == b.symbol &&
         (a.symbol || std::bit_cast<int64_t>(a.value) == std::bit_cast<int64_t>(b.value));
}

constexpr int kMaxRank = 8;

template <class I>
using ShapeOf = std::vector<I>;
template <class A>
using Shapes = std::vector<ShapeOf<typename Sorts<A>::Index>>;  ///< of each operand or output
template <class A>
using Tensors = std::span<const typename Sorts<A>::Tensor>;
template <class A>
using Position = std::span<const typename Sorts<A>::Index>;  ///< index of an element

/// Attributes of an operator call, in the order of the operator's tables `ints` and `reals`.
template <class I>
struct Attrs {
  std::vector<std::vector<I>> ints;
  std::vector<Real> reals;
};

/// A position by value: at most kMaxRank indices, no allocation.
template <class I>
class Indices {
 public:
  Indices() = default;
  explicit Indices(std::span<const I> from) {
    for (const I& x : from) push_back(x);
  }
  void push_back(const I& x) {
    CHECK(size_ < kMaxRank);  // ranks are checked before formulas run
    items_[static_cast<size_t>(size_++)] = x;
  }
  I& operator[](int d) { return items_[static_cast<size_t>(d)]; }
  const I& operator[](int d) const { return items_[static_cast<size_t>(d)]; }
  int size() const { return size_; }
  operator std::span<const I>() const { return {items_.data(), static_cast<size_t>(size_)}; }

 private:
  std::array<I, kMaxRank> items_{};
  int size_ = 0;
};

/// True when the size is the number 1, not a symbol that might be: the test for broadcasting.
inline bool is_one(int64_t n) { return n == 1; }
inline bool is_one(const Poly& n) { return n.is_constant() && n.constant() == 1; }
/// The value of a structural attribute (axis, permutation), which no rule leaves open.
inline int64_t fixed(int64_t n) { return n; }
inline int64_t fixed(const Poly& n) {
  CHECK(n.is_constant());
  return n.constant();
}

template <class A>
struct Archetype {
  typename A::Scalar operator()() const;
  typename A::Scalar operator()(const typename A::Index&) const;
  typename A::Scalar operator()(std::span<const typename A::Index>) const;
};
template <class A>
struct PredicateArchetype {
  typename A::Bool operator()(std::span<const typename A::Index>) const;
};

/// The contract of an algebra. `require` states what well-formed operands satisfy; a concrete
/// algebra records a violation and goes on, so formulas must be total (read nothing out of range
/// when `select` guards it). Where c is 1 or 0, choose(c, a, b) is a or b, whatever the other one
/// is: infinite or no number.
template <class A>
concept Algebra = requires(A& a, const typename A::Index& i, const typename A::Scalar& s,
                           const typename A::Bool& b, const typename A::Tensor& t,
                           std::span<const typename A::Index> is, Archetype<A> f,
                           PredicateArchetype<A> p, const std::vector<typename A::Index>& table) {
  { i + i } -> std::convertible_to<typename A::Index>;
  { i - i } -> std::convertible_to<typename A::Index>;
  { i* i } -> std::convertible_to<typename A::Index>;
  { a.floordiv(i, i) } -> std::convertible_to<typename A::Index>;  // requires 1 <= divisor
  { i < i } -> std::convertible_to<typename A::Bool>;
  { i <= i } -> std::convertible_to<typename A::Bool>;
  { i == i } -> std::convertible_to<typename A::Bool>;
  { b&& b } -> std::convertible_to<typename A::Bool>;
  { s + s } -> std::convertible_to<typename A::Scalar>;
  { s* s } -> std::convertible_to<typename A::Scalar>;
  { a.constant(1, 2) } -> std::same_as<typename A::Scalar>;  // a rational number
  { a.real(Real{}) } -> std::same_as<typename A::Scalar>;
  { a.recip(i) } -> std::same_as<typename A::Scalar>;      // 1 / i
  { a.to_scalar(i) } -> std::same_as<typename A::Scalar>;  // i as a number
  { a.apply(Fn::Relu, s) } -> std::same_as<typename A::Scalar>;
  { a.clip(s, Real{}, Real{}) } -> std::same_as<typename A::Scalar>;
  { a.larger(s, s) } -> std::same_as<typename A::Scalar>;
  { a.choose(s, f, f) } -> std::same_as<typename A::Scalar>;     // c a + (1 - c) b; see above
  { a.select(b, f, f) } -> std::same_as<typename A::Scalar>;     // evaluates only what it needs
  { a.sum(i, f) } -> std::same_as<typename A::Scalar>;           // over 0 .. i-1
  { a.max_over(is, p, f) } -> std::same_as<typename A::Scalar>;  // over a box, where p holds
  { a.read(t, is) } -> std::same_as<typename A::Scalar>;
  { a.lookup(table, i, i) } -> std::convertible_to<typename A::Index>;  // table[i] in 0 .. bound-1
  { t.dim(0) } -> std::convertible_to<typename A::Index>;
  { t.rank() } -> std::same_as<int>;
  a.require(b);
};

/// Sum over a box of any rank, innermost axis last. The position that `body` sees is overwritten by
/// the next round.
template <Algebra A, class F>
typename A::Scalar sum_over(A& a, std::span<const typename A::Index> extents, F&& body) {
  using I = typename A::Index;
  Indices<I> k;
  for (size_t d = 0; d < extents.size(); ++d) k.push_back(I(0));
  auto go = [&](auto& self, size_t d) -> typename A::Scalar {
    if (d == extents.size()) return body(std::span<const I>(k));
    return a.sum(extents[d], [&](const I& x) {
      k[static_cast<int>(d)] = x;
      return self(self, d + 1);
    });
  };
  return go(go, 0);
}

}  // namespace regraft
