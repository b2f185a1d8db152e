#include "verify/kernel/unfold.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "ir/algebra/real_expression.h"

namespace regraft::kernel {
namespace {

/// A number of no more than 30 bits that is a multiple of 1/1024, or one that nobody knows.
Sum value_of(const Real& r) {
  double scaled = r.value * 1024;
  if (!r.symbol && scaled == std::floor(scaled) && std::abs(scaled) < 1e9)
    return number(Fraction::make(static_cast<int64_t>(scaled), 1024));
  if (!r.symbol && !std::isfinite(r.value)) throw Refused{"a number is none"};
  return sum_of({.kind = Atom::Unknown, .real = real_text(r)});
}

Sum minus(Sum a, const Sum& b) { return std::move(a) + scaled(b, {-1, 1}); }

/// What a real attribute is computed from.
class Computed {
 public:
  explicit Computed(Translation& translation) : translation_(translation) {}
  std::vector<Atom> quotients;  ///< that are evaluated
  Sum of(const Real& r, SymbolPool* pool) {
    if (!r.symbol || !is_expression(r.symbol->name)) return value_of(r);
    return of(expression_of(r.symbol->name), *pool);
  }
  Sum of(const RealExpression& e, SymbolPool& pool) {
    using Kind = RealExpression::Kind;
    if (e.kind == Kind::Number) return value_of({e.number, nullptr});
    if (e.kind == Kind::Name) return named(symbol_of_name(e.name, pool), e.name[0] == '?');
    const Sum a = of(e.operands.at(0), pool), b = of(e.operands.at(1), pool);
    switch (e.kind) {
      case Kind::Sum:
        return a + b;
      case Kind::Difference:
        return minus(a, b);
      case Kind::Product:
        return times(translation_.symbols(), a, b);
      case Kind::Quotient:
        quotients.push_back(function_of(Fn::Recip, b).products[0].atoms[0]);
        return times(translation_.symbols(), a, sum_of(quotients.back()));
      case Kind::Least:
        return minus(a, function_of(Fn::Relu, minus(a, b)));
      default:
        return b + function_of(Fn::Relu, minus(a, b));
    }
  }

 private:
  Sum named(Var v, bool real) {
    if (real) return value_of({0, v});
    return sum_of({.kind = Atom::Number, .positions = {translation_.of(regraft::Poly::symbol(v))}});
  }
  Translation& translation_;
};

/// The largest float stands for a bound that is left out.
bool is_bound(const Real& r) {
  return r.symbol || !(std::abs(r.value) >= std::numeric_limits<float>::max());
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
  Sum total(const SyntaxNode& n);
  Sum product(const SyntaxNode& n);
  Sum function(const SyntaxNode& n);
  Sum clipped(const SyntaxNode& n);
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
  Sum real(const Real& r) {
    Computed computed(translation_);
    Sum s = computed.of(r, r.symbol ? r.symbol->pool : nullptr);
    for (const Atom& a : computed.quotients) evaluated(a);
    return s;
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
  size_t next_ = 0;
};

Symbol Unfolder::index(Var v) {
  Symbols& symbols = translation_.symbols();
  std::string name;
  do name = "k" + std::to_string(next_++);
  while (symbols.find(name));
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
  for (Product& p : s.products.edit()) {
    p.bound = joined({k}, p.bound);
    p.guard = joined(limits, p.guard);
  }
  return s;
}

Sum Unfolder::selected(const SyntaxNode& n) {
  Fact yes = translation_.of(n.condition);
  Sum r;
  for (size_t part : {0, 1}) {
    List<Fact> guard;
    append(guard, part == 0 ? yes : negated(yes));
    Sum s = within(n.parts[part], {}, guard);
    for (Product& p : s.products.edit()) p.guard = joined(guard, p.guard);
    r = std::move(r) + s;
  }
  return r;
}

/// One part after the other: that is how indices get their names.
Sum Unfolder::total(const SyntaxNode& n) {
  Sum a = sum(n.parts[0]), b = sum(n.parts[1]);
  return std::move(a) + b;
}

Sum Unfolder::product(const SyntaxNode& n) {
  Sum a = sum(n.parts[0]), b = sum(n.parts[1]);
  return times(translation_.symbols(), a, b);
}

Sum Unfolder::chosen(const SyntaxNode& n) {
  Sum c = sum(n.parts[0]), again = sum(n.parts[0]);
  ++leaving_out_;
  Sum a = sum(n.parts[1]), b = sum(n.parts[2]);
  Sum left_out = sum(n.parts[2]);
  --leaving_out_;
  const Symbols& symbols = translation_.symbols();
  return times(symbols, c, a) + b + scaled(times(symbols, again, left_out), {-1, 1});
}

Sum Unfolder::function(const SyntaxNode& n) {
  Atom a = function_of(static_cast<Fn>(n.head), sum(n.parts[0])).products[0].atoms[0];
  if (facts(static_cast<Fn>(n.head)).domain != Domain::Everywhere) evaluated(a);
  return sum_of(std::move(a));
}

/// min(max(x, low), high) = high - relu(high - low - relu(x - low)).
Sum Unfolder::clipped(const SyntaxNode& n) {
  const Real &from = n.reals.at(0), &to = n.reals.at(1);
  if ((!is_bound(from) && from.value > 0) || (!is_bound(to) && to.value < 0))
    throw Refused{"a clip leaves nothing"};
  Sum x = sum(n.parts[0]);
  const Sum low = real(from), high = real(to);
  if (!is_bound(from)) {
    if (!is_bound(to)) return x;
    return minus(high, function_of(Fn::Relu, minus(high, x)));
  }
  Sum raised = function_of(Fn::Relu, minus(std::move(x), low));
  if (!is_bound(to)) return low + raised;
  return minus(high, function_of(Fn::Relu, minus(minus(high, low), raised)));
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
      return number(Fraction::make(n.number.n, n.number.d));
    case SyntaxNode::Unknown:
      return real(n.reals[0]);
    case SyntaxNode::Recip:
      return leaf({.kind = Atom::Recip, .positions = positions(n)});
    case SyntaxNode::Integer:
      return leaf({.kind = Atom::Number, .positions = positions(n)});
    case SyntaxNode::Read:
      return leaf({.kind = Atom::Read, .head = n.head, .positions = positions(n)});
    case SyntaxNode::Apply:
      return function(n);
    case SyntaxNode::Clip:
      return clipped(n);
    case SyntaxNode::Plus:
      return total(n);
    case SyntaxNode::Times:
      return product(n);
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

OutputFormulas output_formulas(const RuleInstance& instance, size_t k) {
  const Graph &left = instance.lhs, &right = instance.rhs;
  OutputFormulas output;
  output.shape = left.shape(left.outputs()[k]);
  for (size_t d = 0; d < output.shape.size(); ++d) {
    Var i = left.pool().fresh("i" + std::to_string(d), SymbolKind::Position);
    output.position.push_back(regraft::Poly::symbol(i));
  }
  Syntax syntax(left.pool());
  output.left = Composition(left, syntax).element(left.outputs()[k], output.position);
  output.right = Composition(right, syntax).element(right.outputs()[k], output.position);
  output.required = std::move(syntax.required);
  return output;
}

OutputClaim output_claim(Translation& translation, const OutputFormulas& output,
                         std::vector<Fact> given) {
  OutputClaim claim{std::move(given), {}, {}, {}};
  for (size_t d = 0; d < output.shape.size(); ++d) {
    Poly at = translation.of(output.position[d]);
    claim.given.push_back(non_negative(at));
    claim.given.push_back(non_negative(translation.of(output.shape[d]) - at - Poly(1)));
  }
  for (const Formula& f : output.required)
    if (f.kind != Formula::True) claim.needed.push_back(translation.of(f));
  claim.left = unfold(translation, output.left, Choices::LeaveOut);
  claim.right = unfold(translation, output.right, Choices::Count);
  return claim;
}

}  // namespace

std::string real_text(const Real& r) {
  return r.symbol ? "?" + r.symbol->name + "#" + std::to_string(r.symbol->id)
                  : "#" + std::to_string(std::bit_cast<int64_t>(r.value));
}

Sum function_of(Fn f, Sum x) {
  return sum_of({.kind = Atom::Apply,
                 .head = static_cast<int>(f),
                 .argument = std::make_shared<Sum>(std::move(x))});
}

Unfolded unfold(Translation& translation, const SyntaxTree& tree, Choices choices) {
  Unfolder unfolder(translation, choices);
  Sum s = unfolder.sum(tree);
  return {std::move(s), std::move(unfolder.partial)};
}

Formulas formulas_of(const RuleInstance& instance) {
  const Graph &left = instance.lhs, &right = instance.rhs;
  if (left.outputs().size() != right.outputs().size()) throw Refused{"the outputs differ"};
  Formulas r{{instance.requires_lhs.begin(), instance.requires_lhs.end()},
             instance.requires_rhs,
             {},
             &left.pool(),
             {}};
  std::ranges::remove_copy(instance.real_conditions, std::back_inserter(r.real_given),
                           Relation::Differs, &RealCondition::relation);  // nothing needs them
  for (size_t k = 0; k < left.outputs().size(); ++k) {
    const Shape &a = left.shape(left.outputs()[k]), &b = right.shape(right.outputs()[k]);
    if (a.size() != b.size()) throw Refused{"the ranks of an output differ"};
    for (size_t d = 0; d < a.size(); ++d)
      if (!same(a[d], b[d])) r.needed.push_back(a[d] == b[d]);
    r.outputs.push_back(output_formulas(instance, k));
  }
  return r;
}

Claim claim_of(Translation& translation, const Formulas& formulas) {
  Claim claim;
  List<Fact> given;
  for (const Formula& f : formulas.given) append(given, translation.of(f));
  claim.given = given;
  for (const Formula& f : formulas.needed) claim.needed.push_back(translation.of(f));
  std::vector<Known> known;
  for (const RealCondition& c : formulas.real_given) {
    Computed computed(translation);
    Sum second = computed.of(expression_of("=" + c.second), *formulas.pool);
    Sum above = minus(std::move(second), computed.of(expression_of("=" + c.first), *formulas.pool));
    known.push_back({std::move(above), c.relation == Relation::Equal    ? kZero
                                       : c.relation == Relation::AtMost ? kNotNegative
                                                                        : kPositive});
  }
  for (const OutputFormulas& output : formulas.outputs) {
    claim.outputs.push_back(output_claim(translation, output, claim.given));
    claim.outputs.back().known = known;
  }
  return claim;
}

}  // namespace regraft::kernel
