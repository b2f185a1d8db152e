#pragma once
// The formula of an operator as a tree: what a kernel that trusts no simplification starts from,
// and what is printed for readers that cannot run the formulas.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/algebra/algebra.h"
#include "ir/algebra/concrete.h"

namespace regraft {

struct SyntaxNode;
/// A real number as an expression. Immutable, shared.
struct SyntaxTree {
  std::shared_ptr<const SyntaxNode> node;
};
struct SyntaxNode {
  enum Kind : uint8_t {
    Number,   ///< a rational
    Unknown,  ///< reals[0]: a variable, or a number that no rational of ours is
    Recip,    ///< 1 / positions[0]
    Integer,  ///< positions[0] as a number
    Read,     ///< element `positions` of input `head`
    Apply,    ///< Fn(head) of parts[0]
    Clip,     ///< parts[0] clipped to reals[0] .. reals[1]
    Plus,     ///< the sum of the parts
    Times,    ///< the product of the parts
    Select,   ///< parts[0] where `condition` holds, else parts[1]; only one is evaluated
    Choose,   ///< parts[0] * parts[1] + (1 - parts[0]) * parts[2]
    Sum,      ///< of parts[0] over bound[0] in 0 .. positions[0]-1
    Max,      ///< of parts[0] over bound[k] in 0 .. positions[k]-1 where `condition` holds
  } kind = Number;
  Rational number{0, 1};
  int head = 0;
  std::vector<Poly> positions;
  std::vector<Real> reals;
  std::vector<Var> bound;
  Formula condition;
  std::vector<SyntaxTree> parts;
};

SyntaxTree operator+(const SyntaxTree& a, const SyntaxTree& b);
SyntaxTree operator*(const SyntaxTree& a, const SyntaxTree& b);

/// A tensor given by its element at a position.
struct SyntaxTensor {
  ShapeOf<Poly> shape;
  std::function<SyntaxTree(std::span<const Poly>)> at;
  const Poly& dim(int k) const { return shape[static_cast<size_t>(k)]; }
  int rank() const { return static_cast<int>(shape.size()); }
};

/// Requirements are collected. A bound variable is a new symbol of the pool.
struct Syntax {
  using Index = Poly;
  using Bool = Formula;
  using Scalar = SyntaxTree;
  using Tensor = SyntaxTensor;
  SymbolPool& pool;
  std::vector<Formula> required = {};
  explicit Syntax(SymbolPool& p) : pool(p) {}

  void require(const Formula& f) { required.push_back(f); }
  Poly floordiv(const Poly& a, const Poly& b);
  SyntaxTree constant(int64_t n, int64_t d = 1);
  SyntaxTree real(Real r);
  SyntaxTree recip(const Poly& n);
  SyntaxTree to_scalar(const Poly& n);
  SyntaxTree element(int tensor, std::span<const Poly> i);  ///< of an input tensor
  SyntaxTree apply(Fn f, SyntaxTree x);
  SyntaxTree clip(SyntaxTree x, Real low, Real high);
  SyntaxTree larger(const SyntaxTree& a, const SyntaxTree& b);
  template <class T, class E>
  SyntaxTree choose(const SyntaxTree& c, T&& then, E&& otherwise) {
    return inner(SyntaxNode::Choose, {c, then(), otherwise()});
  }
  template <class T, class E>
  SyntaxTree select(const Formula& c, T&& then, E&& otherwise) {
    if (c.kind == Formula::True) return then();
    if (c.kind == Formula::False) return otherwise();
    return selected(c, then(), otherwise());
  }
  template <class F>
  SyntaxTree sum(const Poly& n, F&& f) {
    if (is_one(n)) return f(Poly(0));
    Var k = pool.fresh("k", SymbolKind::Bound);
    return total({&n, 1}, {k}, f(Poly::symbol(k)));
  }
  template <class P, class F>
  SyntaxTree max_over(std::span<const Poly> extents, P&& valid, F&& body) {
    Indices<Poly> k;
    std::vector<Var> bound;
    for (size_t d = 0; d < extents.size(); ++d) {
      bound.push_back(pool.fresh("m", SymbolKind::Bound));
      k.push_back(Poly::symbol(bound.back()));
    }
    Formula where = valid(std::span<const Poly>(k));
    return largest(extents, std::move(bound), where, body(std::span<const Poly>(k)));
  }
  SyntaxTree read(const SyntaxTensor& t, std::span<const Poly> i) { return t.at(i); }
  Poly lookup(const std::vector<Poly>& table, const Poly& i, const Poly& bound);

 private:
  static SyntaxTree inner(SyntaxNode::Kind kind, std::vector<SyntaxTree> parts);
  static SyntaxTree selected(const Formula& c, SyntaxTree a, SyntaxTree b);
  static SyntaxTree total(std::span<const Poly> n, std::vector<Var> k, SyntaxTree body);
  static SyntaxTree largest(std::span<const Poly> n, std::vector<Var> k, const Formula& where,
                            SyntaxTree body);
};

static_assert(Algebra<Syntax>);

}  // namespace regraft
