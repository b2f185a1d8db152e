#include "verify/prove/reals.h"

#include <algorithm>
#include <cmath>

#include "ir/algebra/real_expression.h"
#include "verify/normal/signs.h"
#include "verify/normal/simplify.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

Sum sum_of_real(Real r) {
  constexpr double kLargest = 0x1p40;
  if (!r.symbol && r.value == std::trunc(r.value) && std::abs(r.value) < kLargest && r.value != 0)
    return number({static_cast<int64_t>(r.value), 1});
  if (auto n = rational_of(r)) return n->n == 0 ? Sum{} : number(*n);
  Atom a;
  a.kind = Atom::Opaque;
  a.reals = {r};
  return sum_of(std::move(a));
}

Sum sum_of_name(const std::string& name, SymbolPool& pool) {
  Var v = symbol_of_name(name, pool);
  if (name[0] == '?') return sum_of_real({0, v});
  return sum_of(integer_atom(Atom::Number, Poly::symbol(v)));
}

Sum inverse(const Sum& s) {
  if (is_number(s)) return number(inverse_of(s.products[0].coefficient));
  const Atom* a = only_atom(s);
  if (a && a->kind == Atom::Number) return sum_of(integer_atom(Atom::Recip, a->positions[0]));
  return function_of(Fn::Recip, s);
}

Sum larger(const Sum& a, const Sum& b) { return b + function_of(Fn::Relu, difference(a, b)); }
Sum smaller(const Sum& a, const Sum& b) {
  return difference(a, function_of(Fn::Relu, difference(a, b)));
}

Sum value(const RealExpression& e, SymbolPool& pool) {
  using Kind = RealExpression::Kind;
  if (e.kind == Kind::Number) return sum_of_real({e.number, nullptr});
  if (e.kind == Kind::Name) return sum_of_name(e.name, pool);
  Sum a = value(e.operands[0], pool), b = value(e.operands[1], pool);
  switch (e.kind) {
    case Kind::Sum:
      return std::move(a) + b;
    case Kind::Difference:
      return difference(std::move(a), b);
    case Kind::Product:
      return a * b;
    case Kind::Quotient:
      return a * inverse(b);
    case Kind::Least:
      return smaller(a, b);
    default:
      return larger(a, b);
  }
}

/// Made of numbers and sizes.
bool is_closed(const RealExpression& e) {
  bool closed = true;
  for_each_name(e, [&](const std::string& name) { closed = closed && name[0] != '?'; });
  return closed;
}

/// What the symbol of a real attribute stands for, when that is known.
std::optional<RealExpression> known(const Real& r, const RuleInstance& instance) {
  if (!r.symbol) return std::nullopt;
  if (is_expression(r.symbol->name)) return expression_of(r.symbol->name);
  for (const RealCondition& c : instance.real_conditions) {
    if (c.relation != Relation::Equal) continue;
    const std::string own = "?" + r.symbol->name;
    const std::string* other = c.first == own ? &c.second : c.second == own ? &c.first : nullptr;
    if (!other) continue;
    RealExpression e = expression_of("=" + *other);
    if (is_closed(e)) return e;
  }
  return std::nullopt;
}

Sum value(const Real& r, const RuleInstance& instance) {
  auto e = known(r, instance);
  return e ? value(*e, instance.lhs.pool()) : sum_of_real(r);
}

/// An atom with a known real attribute as what it is.
Sum without_expression(const Atom& a, const RuleInstance& instance) {
  if (a.kind == Atom::Opaque) return value(a.reals[0], instance);
  return smaller(larger(*a.argument, value(a.reals[0], instance)), value(a.reals[1], instance));
}

/// The first denominator, without names of its own, that is not known to differ from 0.
bool divides(const RealExpression& e, SymbolPool& pool, const Substitution& sizes,
             const Context& context) {
  for (const RealExpression& x : e.operands)
    if (!divides(x, pool, sizes, context)) return false;
  if (e.kind != RealExpression::Quotient) return true;
  return not_zero(normal_form(substitute(value(e.operands[1], pool), sizes), context), context);
}

}  // namespace

Sum with_expressions(Sum sum, const RuleInstance& instance) {
  auto has_expression = [&](const Atom& a) {
    return std::any_of(a.reals.begin(), a.reals.end(),
                       [&](const Real& r) { return known(r, instance).has_value(); });
  };
  if (!any_atom(sum, has_expression)) return sum;
  Sum r;
  for (const Product& p : sum.products) {
    Product plain = p;
    plain.atoms.clear();
    Sum factors = number({1, 1});
    for (Atom a : p.atoms) {
      if (a.argument) a.argument = std::make_shared<Sum>(with_expressions(*a.argument, instance));
      if (has_expression(a))
        factors = factors * without_expression(a, instance);
      else
        plain.atoms.push_back(std::move(a));
    }
    r = std::move(r) + single(std::move(plain)) * factors;
  }
  return r;
}

Context learn_conditions(Context context, const RuleInstance& instance, const Substitution& sizes) {
  SymbolPool& pool = instance.lhs.pool();
  for (const RealCondition& c : instance.real_conditions) {
    if (c.relation == Relation::Differs) continue;
    Sum above = difference(value(expression_of("=" + c.second), pool),
                           value(expression_of("=" + c.first), pool));
    Sign said = c.relation == Relation::Equal    ? sign::kZero
                : c.relation == Relation::AtMost ? sign::kNotNegative
                                                 : sign::kPositive;
    context = learn(context, {normal_form(substitute(above, sizes), context), {}, {}, said});
  }
  return context;
}

std::optional<std::string> undefined_expression(const RuleInstance& instance,
                                                const Substitution& sizes, const Context& context) {
  const Graph& g = instance.rhs;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    for (const Real& r : g.node(id).attrs.reals)
      if (r.symbol && is_expression(r.symbol->name) &&
          !divides(expression_of(r.symbol->name), g.pool(), sizes, context))
        return r.symbol->name.substr(1);
  }
  return std::nullopt;
}

}  // namespace regraft::verify
