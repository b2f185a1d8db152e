#pragma once
// The algebra of proofs for all sizes: an element of a tensor as a sum of guarded products over
// symbolic indices.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/algebra/algebra.h"
#include "ir/algebra/concrete.h"

namespace regraft {

struct Sum;

/// A factor that is not a number.
struct Atom {
  enum Kind : uint8_t {
    Read,    ///< element `positions` of input tensor `head`
    Recip,   ///< 1 / positions[0]
    Number,  ///< positions[0] as a number
    Apply,   ///< Fn(head) of `argument`
    Clip,    ///< argument clipped to reals[0] .. reals[1]
    Max,     ///< maximum of `argument` over `bound` where `guard` holds
    Opaque,  ///< the unknown or inexact real reals[0]
  } kind = Read;
  int head = 0;
  std::vector<Poly> positions;
  std::vector<Real> reals;
  std::shared_ptr<const Sum> argument;
  std::vector<Var> bound;
  Conjunction guard;
};

/// coefficient * sum over `bound` where `guard` holds (ranges included) of the product of `atoms`.
struct Product {
  Rational coefficient{1, 1};
  std::vector<Var> bound;
  Conjunction guard;
  std::vector<Atom> atoms;
};

/// The scalar of the algebra: a sum of products. Products may share bound variables by name;
/// operations rename them apart where that matters.
struct Sum {
  std::vector<Product> products;
};

Sum operator+(Sum a, const Sum& b);
Sum operator*(const Sum& a, const Sum& b);
Atom substitute(Atom a, const Substitution& s);
Product substitute(Product p, const Substitution& s);
Sum substitute(const Sum& sum, const Substitution& s);
bool mentions(const Sum& sum, Var v);
/// The same sum with new bound variables, so that it may stand inside another one: substitution
/// knows no scopes, and no variable may be bound both outside and inside an argument.
Sum rename_bound(Sum sum);
std::string to_string(const Sum& sum);

/// A tensor given by its element at a position.
struct SymbolicTensor {
  ShapeOf<Poly> shape;
  std::function<Sum(std::span<const Poly>)> at;
  const Poly& dim(int k) const { return shape[static_cast<size_t>(k)]; }
  int rank() const { return static_cast<int>(shape.size()); }
};

/// Where a formula is evaluated: the bound variables of sums and maxima around it, and the
/// conditions of these and of `select`. A factor that is 0 is no condition.
struct Scope {
  std::vector<Var> bound;
  Conjunction guard;
};

/// Requirements go to `on_require`: assumed for a left side, to be proved for a right side.
/// `on_apply` is told the functions that are evaluated, with their arguments, and `on_maximum` the
/// maxima; `scope` says where. `on_choose` is told what a choice depends on, and says which branch
/// is taken, where that is known: then the other one is not evaluated.
struct Symbolic {
  using Index = Poly;
  using Bool = Formula;
  using Scalar = Sum;
  using Tensor = SymbolicTensor;
  SymbolPool& pool;
  std::function<void(const Formula&)> on_require = [](const Formula&) {};
  std::function<void(Fn, const Sum&)> on_apply = [](Fn, const Sum&) {};
  std::function<void(const Atom&)> on_maximum = [](const Atom&) {};
  std::function<std::optional<bool>(const Sum&)> on_choose = [](const Sum&) {
    return std::nullopt;
  };
  explicit Symbolic(SymbolPool& p) : pool(p) {}

  void require(const Formula& f) { on_require(f); }
  /// Of the formula that is being evaluated.
  Scope scope() const;
  Poly floordiv(const Poly& a, const Poly& b);
  Sum constant(int64_t n, int64_t d = 1);
  Sum real(Real r);
  Sum recip(const Poly& n);
  Sum to_scalar(const Poly& n);
  Sum element(int tensor, std::span<const Poly> i);  ///< of an input tensor
  Sum apply(Fn f, Sum x);
  Sum clip(Sum x, Real low, Real high);
  Sum larger(const Sum& a, const Sum& b);
  template <class T, class E>
  Sum choose(const Sum& c, T&& then, E&& otherwise) {
    if (auto taken = on_choose(c)) return *taken ? then() : otherwise();
    ++choices_;
    Sum a = then(), b = otherwise();
    --choices_;
    return mixed(c, a, b);
  }
  /// Within what a choice may leave out?
  bool choosing() const { return choices_ > 0; }
  template <class T, class E>
  Sum select(const Formula& c, T&& then, E&& otherwise) {
    if (c.kind == Formula::True) return then();
    if (c.kind == Formula::False) return otherwise();
    Formula no = negate(c);
    Sum x = within({}, {&c, 1}, then), y = within({}, {&no, 1}, otherwise);
    guard_all(x, c);
    guard_all(y, no);
    return std::move(x) + y;
  }
  template <class F>
  Sum sum(const Poly& n, F&& f) {
    if (is_one(n)) return f(Poly(0));
    Var k = pool.fresh("k", SymbolKind::Bound);
    Poly at = Poly::symbol(k);
    Formula range = Poly(0) <= at && at < n;
    Sum s = within({&k, 1}, {&range, 1}, [&] { return f(at); });
    bind(s, k, n);
    return s;
  }
  template <class P, class F>
  Sum max_over(std::span<const Poly> extents, P&& valid, F&& body) {
    Indices<Poly> k;
    Atom m = max_atom(extents, k);
    add(m.guard, valid(std::span<const Poly>(k)));
    Sum x = within(m.bound, m.guard, [&] { return body(std::span<const Poly>(k)); });
    m.argument = std::make_shared<Sum>(rename_bound(std::move(x)));
    on_maximum(m);
    return of_atom(std::move(m));
  }
  Sum read(const SymbolicTensor& t, std::span<const Poly> i) { return t.at(i); }
  Poly lookup(const std::vector<Poly>& table, const Poly& i, const Poly& bound);

 private:
  /// What a scope adds to the one around it.
  struct Inner {
    const Inner* outer;
    std::span<const Var> bound;
    std::span<const Formula> guard;
  };
  const Inner* innermost_ = nullptr;
  int choices_ = 0;

  /// f() evaluated in a narrower scope.
  template <class F>
  Sum within(std::span<const Var> bound, std::span<const Formula> guard, F&& f) {
    Inner inner{innermost_, bound, guard};
    innermost_ = &inner;
    Sum s = f();
    innermost_ = inner.outer;
    return s;
  }
  static Sum of_atom(Atom a);
  Sum mixed(const Sum& c, const Sum& a, const Sum& b);
  static void guard_all(Sum& s, const Formula& g);
  static void bind(Sum& s, Var k, const Poly& n);
  Atom max_atom(std::span<const Poly> extents, Indices<Poly>& k);
};

static_assert(Algebra<Symbolic>);

}  // namespace regraft
