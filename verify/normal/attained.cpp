// Which values a maximum is over.
#include <numeric>

#include "verify/normal/match.h"
#include "verify/normal/ranges.h"
#include "verify/normal/simplify.h"
#include "verify/normal/sums.h"
#include "verify/normal/unify.h"

namespace regraft::verify {
namespace {

/// 0 and where the range of a variable of a maximum ends, its beginnings first, after what is
/// given; at most 6 values.
std::vector<Poly> with_ends(std::vector<Poly> values, Var v, const Conjunction& range,
                            const std::vector<Var>& bound) {
  values.emplace_back(0);
  for (bool beginnings : {true, false})
    for (const auto& g : range) {
      Poly e;
      bool ends = g.kind == Formula::NonNegative && solve_for(g.poly, v, e) && !e.is_zero() &&
                  !mentions_any(e, bound);
      if (!ends || same(g.poly, Poly::symbol(v) - e) != beginnings || values.size() >= 6) continue;
      values.push_back(e);
    }
  return values;
}

/// Each of these with each of the values for v.
std::vector<Substitution> extended(const std::vector<Substitution>& all, Var v,
                                   const std::vector<Poly>& values) {
  std::vector<Substitution> longer;
  for (const auto& s : all)
    for (const Poly& x : values) {
      longer.push_back(s);
      longer.back()[v] = x;
    }
  return longer;
}

/// Values of the variables of maximum b at which product q of its argument may be p.
std::vector<Substitution> places(const Product& p, const Product& q, const Atom& b,
                                 const std::vector<Var>& variables) {
  if (p.atoms.size() != q.atoms.size()) return {};
  std::vector<Poly> all;
  for (size_t i = 0; i < p.atoms.size(); ++i) {
    if (!same_head(p.atoms[i], q.atoms[i])) return {};
    for (auto& e : equations(p.atoms[i], q.atoms[i], 0)) all.push_back(std::move(e));
  }
  Substitution solved = solve(all, b.bound);
  std::vector<Substitution> found{{}};
  const Conjunction range = substitute(b.guard, solved);  // of what is left to be chosen
  size_t next = 0;
  for (Var v : missing(b.bound, solved)) {
    std::vector<Poly> values;
    if (next < variables.size()) values.push_back(Poly::symbol(variables[next++]));
    if (auto few = constant_range(b.guard, v); few && few->high - few->low <= 4) {
      for (int64_t k = few->low; k <= few->high; ++k) values.emplace_back(k);
      found = extended(found, v, values);
      continue;
    }
    found = extended(found, v, with_ends(std::move(values), v, range, b.bound));
    if (found.size() > 64) return {};
  }
  for (auto& s : found) {
    Substitution chosen = s;
    for (const auto& [v, e] : solved) s[v] = substitute(e, chosen);
  }
  std::erase_if(found, [&](const Substitution& s) { return mentions_one_of(s, b.bound); });
  return found;
}

/// Every value of maximum a is one of maximum b, so that b is not less than a.
bool takes_all_values(const Atom& a, const Atom& b, const Context& context) {
  const Context within = context.where(a.guard);
  if (within.refuted()) return true;
  Sum value = normal_form(*a.argument, within);
  for (const auto& p : value.products)
    for (const auto& g : p.guard) {
      if (mentions_any(g, p.bound) || within.decides(g) || !context.budget().split()) continue;
      Atom yes = a, no = a;
      add(yes.guard, g);
      add(no.guard, negate(g));
      return takes_all_values(yes, b, context) && takes_all_values(no, b, context);
    }
  if (const Atom* inner = only_atom(value); inner && inner->kind == Atom::Max)
    return takes_all_values(*inner, b, within);
  return takes_value(value, b, a.bound, within);
}

}  // namespace

bool same_maximum(const Atom& a, const Atom& b, const Context& context) {
  std::vector<size_t> order(a.bound.size());
  std::iota(order.begin(), order.end(), 0);
  const Context within = context.where(a.guard);
  bool in_pairs = order.size() == b.bound.size() && order.size() <= 3;
  if (in_pairs) do {
      Substitution s;
      for (size_t i = 0; i < order.size(); ++i) s[b.bound[order[i]]] = Poly::symbol(a.bound[i]);
      Conjunction guard = substitute(b.guard, s);
      if (within.implies(guard) && context.where(guard).implies(a.guard) &&
          same_value(*a.argument, substitute(*b.argument, s), within))
        return true;
    } while (std::next_permutation(order.begin(), order.end()));
  return takes_all_values(b, a, context) && takes_all_values(a, b, context);
}

bool takes_value(const Sum& value, const Atom& b, const std::vector<Var>& variables,
                 const Context& context) {
  Atom other = b;
  Substitution rename;
  for (Var& v : other.bound) {
    Var w = v->pool->fresh(v->name, SymbolKind::Bound);
    rename[v] = Poly::symbol(w);
    v = w;
  }
  other.argument = std::make_shared<Sum>(substitute(*b.argument, rename));
  other.guard = substitute(b.guard, rename);
  Context open = context;  // where no place was found so far
  for (const auto& p : value.products)
    for (const auto& q : other.argument->products)
      for (const Substitution& at : places(p, q, other, variables)) {
        context.budget().step();
        const Conjunction range = substitute(other.guard, at);
        const Context there = open.where(range);
        bool everywhere = open.implies(range);
        if (!everywhere && there.refuted()) continue;
        if (!same_value(value, substitute(*other.argument, at), there)) continue;
        if (everywhere) return true;
        open = open.where(negate(junction(Formula::And, range)));
        if (open.refuted()) return true;
      }
  return false;
}

}  // namespace regraft::verify
