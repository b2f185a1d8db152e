#include "verify/kernel/unfold.h"

#include <algorithm>
#include <bit>

namespace regraft::kernel {
namespace {

Sum sum_of(Atom a) {
  Product p;
  p.atoms.push_back(std::move(a));
  return {{std::move(p)}};
}

Sum rational(int64_t n, int64_t d) {
  Product p;
  p.coefficient = Fraction::make(n, d);
  return n == 0 ? Sum{} : Sum{{std::move(p)}};
}

std::string text_of(const Real& r) {
  return r.symbol ? "?" + r.symbol->name + "#" + std::to_string(r.symbol->id)
                  : "#" + std::to_string(std::bit_cast<int64_t>(r.value));
}

class Unfolder {
 public:
  Unfolder(Translation& translation, Choices choices)
      : translation_(translation), choices_(choices) {}
  std::vector<Partial> partial;
  Sum sum(const SyntaxTree& tree);

 private:
  Sum bounded(const SyntaxNode& n);
  Sum selected(const SyntaxNode& n);
  Sum chosen(const SyntaxNode& n);
  Sum function(const SyntaxNode& n);
  Sum maximum(const SyntaxNode& n);
  /// A new index for v, which is bound here.
  Symbol index(Var v);
  std::vector<Poly> positions(const SyntaxNode& n) {
    std::vector<Poly> all;
    for (const regraft::Poly& p : n.positions) all.push_back(translation_.of(p));
    return all;
  }
  Sum leaf(Atom a) {
    if (a.kind == Atom::Recip) evaluated(a);
    return sum_of(std::move(a));
  }
  void evaluated(const Atom& a) {
    if (leaving_out_ == 0 || choices_ == Choices::Count) partial.push_back({a, bound_, guard_});
  }
  /// The sum of a part where more is bound and more holds.
  Sum within(const SyntaxTree& part, const std::vector<Symbol>& bound,
             const std::vector<Fact>& guard);
  std::vector<Fact> range(Symbol s, const regraft::Poly& n) {
    Poly at = Poly::symbol(s);
    return {non_negative(at), non_negative(translation_.of(n) - at - Poly(1))};
  }

  Translation& translation_;
  Choices choices_;
  std::vector<Symbol> bound_;
  std::vector<Fact> guard_;
  int leaving_out_ = 0;
};

Symbol Unfolder::index(Var v) {
  Symbols& symbols = translation_.symbols();
  std::string name;
  for (size_t k = symbols.size(); name.empty() || symbols.find(name); ++k)
    name = "k" + std::to_string(k);
  Symbol s = symbols.make(Kind::Index, name, std::nullopt);
  translation_.bind(v, s);
  return s;
}

Sum Unfolder::within(const SyntaxTree& part, const std::vector<Symbol>& bound,
                     const std::vector<Fact>& guard) {
  size_t indices = bound_.size(), facts = guard_.size();
  bound_.insert(bound_.end(), bound.begin(), bound.end());
  guard_.insert(guard_.end(), guard.begin(), guard.end());
  Sum s = sum(part);
  bound_.resize(indices);
  guard_.resize(facts);
  return s;
}

Sum Unfolder::bounded(const SyntaxNode& n) {
  Symbol k = index(n.bound.at(0));
  std::vector<Fact> limits = range(k, n.positions.at(0));
  Sum s = within(n.parts[0], {k}, limits);
  for (Product& p : s.products) {
    p.bound.insert(p.bound.begin(), k);
    p.guard.insert(p.guard.begin(), limits.begin(), limits.end());
  }
  return s;
}

Sum Unfolder::selected(const SyntaxNode& n) {
  Fact yes = translation_.of(n.condition);
  Sum r;
  for (size_t part : {0, 1}) {
    std::vector<Fact> guard;
    append(guard, part == 0 ? yes : negated(yes));
    Sum s = within(n.parts[part], {}, guard);
    for (Product& p : s.products) p.guard.insert(p.guard.begin(), guard.begin(), guard.end());
    r = std::move(r) + s;
  }
  return r;
}

Sum Unfolder::chosen(const SyntaxNode& n) {
  Sum c = sum(n.parts[0]), again = sum(n.parts[0]);
  ++leaving_out_;
  Sum a = sum(n.parts[1]), b = sum(n.parts[2]);
  Sum left_out = sum(n.parts[2]);
  --leaving_out_;
  return c * a + b + scaled(again * left_out, {-1, 1});
}

Sum Unfolder::function(const SyntaxNode& n) {
  Atom a{.kind = n.kind == SyntaxNode::Apply ? Atom::Apply : Atom::Clip, .head = n.head};
  for (const Real& r : n.reals) a.reals.push_back(text_of(r));
  a.argument = std::make_shared<Sum>(sum(n.parts[0]));
  if (a.kind == Atom::Apply && facts(static_cast<Fn>(n.head)).domain != Domain::Everywhere)
    evaluated(a);
  return sum_of(std::move(a));
}

Sum Unfolder::maximum(const SyntaxNode& n) {
  Atom a{.kind = Atom::Max};
  for (size_t k = 0; k < n.bound.size(); ++k) {
    a.bound.push_back(index(n.bound[k]));
    for (const Fact& f : range(a.bound[k], n.positions.at(k))) a.guard.push_back(f);
  }
  append(a.guard, translation_.of(n.condition));
  a.argument = std::make_shared<Sum>(within(n.parts[0], a.bound, a.guard));
  evaluated(a);
  return sum_of(std::move(a));
}

Sum Unfolder::sum(const SyntaxTree& tree) {
  const SyntaxNode& n = *tree.node;
  switch (n.kind) {
    case SyntaxNode::Number:
      return rational(n.number.n, n.number.d);
    case SyntaxNode::Unknown:
      return sum_of({.kind = Atom::Unknown, .reals = {text_of(n.reals[0])}});
    case SyntaxNode::Recip:
      return leaf({.kind = Atom::Recip, .positions = positions(n)});
    case SyntaxNode::Integer:
      return leaf({.kind = Atom::Number, .positions = positions(n)});
    case SyntaxNode::Read:
      return leaf({.kind = Atom::Read, .head = n.head, .positions = positions(n)});
    case SyntaxNode::Apply:
    case SyntaxNode::Clip:
      return function(n);
    case SyntaxNode::Plus:
      return sum(n.parts[0]) + sum(n.parts[1]);
    case SyntaxNode::Times:
      return sum(n.parts[0]) * sum(n.parts[1]);
    case SyntaxNode::Select:
      return selected(n);
    case SyntaxNode::Choose:
      return chosen(n);
    case SyntaxNode::Sum:
      return bounded(n);
    case SyntaxNode::Max:
      return maximum(n);
  }
  throw Refused{"a formula has a form that the kernel does not know"};
}

/// The elements of a graph of calls as trees.
class Composition {
 public:
  Composition(const Graph& graph, Syntax& syntax) : graph_(graph), syntax_(syntax) {}
  SyntaxTree element(Value v, std::span<const regraft::Poly> position) {
    const Node& n = graph_.node(v.node);
    if (n.kind == NodeKind::Input) {
      const auto& inputs = graph_.inputs();
      auto at = std::find(inputs.begin(), inputs.end(), v) - inputs.begin();
      SyntaxTree x = syntax_.element(static_cast<int>(at), position);
      return graph_.type(v).dtype == DType::Bool ? syntax_.apply(Fn::Step, x) : x;
    }
    if (n.kind != NodeKind::Call) throw Refused{"a node has no formula"};
    for (const Real& r : n.attrs.reals)
      if (r.symbol && r.symbol->name.starts_with('='))
        throw Refused{"a real attribute is computed"};
    constexpr int kMostCalls = 2'000;
    if (++calls_ > kMostCalls) throw Refused{"a formula is too large"};
    std::vector<SyntaxTensor> operands;
    for (Value in : n.inputs)
      operands.push_back({graph_.shape(in),
                          [this, in](std::span<const regraft::Poly> i) { return element(in, i); }});
    return n.op->syntax_element(syntax_, operands, n.attrs, position, v.output);
  }

 private:
  const Graph& graph_;
  Syntax& syntax_;
  int calls_ = 0;
};

OutputClaim output_claim(Translation& translation, const RuleInstance& instance, size_t k,
                         std::vector<Fact> given) {
  const Graph &left = instance.lhs, &right = instance.rhs;
  const Shape& shape = left.shape(left.outputs()[k]);
  OutputClaim claim{std::move(given), {}, {}, {}};
  std::vector<regraft::Poly> position;
  for (size_t d = 0; d < shape.size(); ++d) {
    Var i = left.pool().fresh("i" + std::to_string(d), SymbolKind::Position);
    position.push_back(regraft::Poly::symbol(i));
    Poly at = translation.of(position.back());
    claim.given.push_back(non_negative(at));
    claim.given.push_back(non_negative(translation.of(shape[d]) - at - Poly(1)));
  }
  Syntax syntax(left.pool());
  SyntaxTree one = Composition(left, syntax).element(left.outputs()[k], position);
  SyntaxTree other = Composition(right, syntax).element(right.outputs()[k], position);
  for (const Formula& f : syntax.required)
    if (f.kind != Formula::True) claim.needed.push_back(translation.of(f));
  claim.left = unfold(translation, one, Choices::LeaveOut);
  claim.right = unfold(translation, other, Choices::Count);
  return claim;
}

}  // namespace

Unfolded unfold(Translation& translation, const SyntaxTree& tree, Choices choices) {
  Unfolder unfolder(translation, choices);
  Sum s = unfolder.sum(tree);
  return {std::move(s), std::move(unfolder.partial)};
}

Claim claim_of(Translation& translation, const RuleInstance& instance) {
  const Graph &left = instance.lhs, &right = instance.rhs;
  if (left.outputs().size() != right.outputs().size()) throw Refused{"the outputs differ"};
  Claim claim;
  for (const Formula& f : instance.requires_lhs) append(claim.given, translation.of(f));
  for (const Formula& f : instance.requires_rhs) claim.needed.push_back(translation.of(f));
  for (size_t k = 0; k < left.outputs().size(); ++k) {
    const Shape &a = left.shape(left.outputs()[k]), &b = right.shape(right.outputs()[k]);
    if (a.size() != b.size()) throw Refused{"the ranks of an output differ"};
    for (size_t d = 0; d < a.size(); ++d)
      if (!same(a[d], b[d])) claim.needed.push_back(translation.of(a[d] == b[d]));
    claim.outputs.push_back(output_claim(translation, instance, k, claim.given));
  }
  return claim;
}

}  // namespace regraft::kernel
