#include "ir/algebra/tree/syntax.h"

#include <cmath>

namespace regraft {
namespace {

SyntaxTree tree(SyntaxNode n) { return {std::make_shared<const SyntaxNode>(std::move(n))}; }

}  // namespace

SyntaxTree operator+(const SyntaxTree& a, const SyntaxTree& b) {
  return tree({.kind = SyntaxNode::Plus, .parts = {a, b}});
}
SyntaxTree operator*(const SyntaxTree& a, const SyntaxTree& b) {
  return tree({.kind = SyntaxNode::Times, .parts = {a, b}});
}

Poly Syntax::floordiv(const Poly& a, const Poly& b) {
  Formula positive = Poly(1) <= b;
  require(positive);
  if (positive.kind == Formula::False) return Poly(0);
  return pool.floordiv(a, b);
}

SyntaxTree Syntax::constant(int64_t n, int64_t d) {
  return tree({.kind = SyntaxNode::Number, .number = Rational::make(n, d)});
}

SyntaxTree Syntax::real(Real r) {
  double scaled = r.value * 1024;
  if (!r.symbol && scaled == std::floor(scaled) && std::abs(scaled) < 1e9)
    return constant(static_cast<int64_t>(scaled), 1024);
  return tree({.kind = SyntaxNode::Unknown, .reals = {r}});
}

SyntaxTree Syntax::recip(const Poly& n) {
  if (n.is_constant() && n.constant() != 0) return constant(1, n.constant());
  return tree({.kind = SyntaxNode::Recip, .positions = {n}});
}

SyntaxTree Syntax::to_scalar(const Poly& n) {
  return tree({.kind = SyntaxNode::Integer, .positions = {n}});
}

SyntaxTree Syntax::element(int tensor, std::span<const Poly> i) {
  return tree({.kind = SyntaxNode::Read, .head = tensor, .positions = {i.begin(), i.end()}});
}

SyntaxTree Syntax::apply(Fn f, SyntaxTree x) {
  return tree({.kind = SyntaxNode::Apply, .head = static_cast<int>(f), .parts = {std::move(x)}});
}

SyntaxTree Syntax::clip(SyntaxTree x, Real low, Real high) {
  return tree({.kind = SyntaxNode::Clip, .reals = {low, high}, .parts = {std::move(x)}});
}

SyntaxTree Syntax::larger(const SyntaxTree& a, const SyntaxTree& b) {
  return b + apply(Fn::Relu, a + constant(-1) * b);
}

SyntaxTree Syntax::inner(SyntaxNode::Kind kind, std::vector<SyntaxTree> parts) {
  return tree({.kind = kind, .parts = std::move(parts)});
}

SyntaxTree Syntax::selected(const Formula& c, SyntaxTree a, SyntaxTree b) {
  return tree({.kind = SyntaxNode::Select, .condition = c, .parts = {std::move(a), std::move(b)}});
}

SyntaxTree Syntax::total(std::span<const Poly> n, std::vector<Var> k, SyntaxTree body) {
  return tree({.kind = SyntaxNode::Sum,
               .positions = {n.begin(), n.end()},
               .bound = std::move(k),
               .parts = {std::move(body)}});
}

SyntaxTree Syntax::largest(std::span<const Poly> n, std::vector<Var> k, const Formula& where,
                           SyntaxTree body) {
  return tree({.kind = SyntaxNode::Max,
               .positions = {n.begin(), n.end()},
               .bound = std::move(k),
               .condition = where,
               .parts = {std::move(body)}});
}

Poly Syntax::lookup(const std::vector<Poly>& table, const Poly& i, const Poly& bound) {
  bool at_number =
      i.is_constant() && i.constant() >= 0 && i.constant() < static_cast<int64_t>(table.size());
  if (at_number) {
    const Poly& value = table[static_cast<size_t>(i.constant())];
    require(Poly(0) <= value && value < bound);
    return value;
  }
  for (const Poly& p : table) require(Poly(0) <= p && p < bound);
  return pool.lookup(pool.table(table), i, bound);
}

}  // namespace regraft
