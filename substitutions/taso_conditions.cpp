// What the right side of one of TASO's rules needs of the sizes, as a condition of the rule.
#include <algorithm>
#include <numeric>

#include "ir/rule/text.h"
#include "substitutions/taso_terms.h"

namespace regraft::substitutions {
namespace {

/// "a+b=c" for a+b-c == 0: a condition as parse_rule reads it. Empty: not about plain sizes.
std::string equation(const Poly& p) {
  Poly left(std::max<int64_t>(p.constant(), 0)), right(std::max<int64_t>(-p.constant(), 0));
  for (const auto& [monomial, coefficient] : p.terms()) {
    for (Var v : monomial)
      if (v->numerator) return {};
    Poly& side = coefficient > 0 ? left : right;
    side = side + Poly::product(monomial, std::abs(coefficient));
  }
  return to_string(left) + "=" + to_string(right);
}

/// p without the factor that all its coefficients share.
Poly primitive(const Poly& p) {
  int64_t factor = std::abs(p.constant());
  for (const auto& term : p.terms()) factor = std::gcd(factor, term.coefficient);
  if (factor < 2) return p;
  Poly r(p.constant() / factor);
  for (const auto& [monomial, coefficient] : p.terms())
    r = r + Poly::product(monomial, coefficient / factor);
  return r;
}

/// Puts into s what p == 0 says of one of its symbols.
bool solve_into(Substitution& s, const Poly& p) {
  for (const auto& term : p.terms()) {
    Poly solution;
    if (term.monomial.size() != 1 || !solve_for(p, term.monomial[0], solution)) continue;
    Var v = term.monomial[0];
    for (auto& [known, value] : s) value = substitute(value, {{v, solution}});
    s[v] = solution;
    return true;
  }
  return false;
}

}  // namespace

Substitution equalities(const RuleInstance& instance) {
  Substitution known;
  for (const Formula& f : instance.requires_lhs)
    if (f.kind == Formula::Zero) solve_into(known, substitute(f.poly, known));
  return known;
}

std::map<std::string, std::string> equal_sizes(const Rule& rule) {
  auto instance = instantiate(rule, rule.domain[0]);
  if (!instance) return {};
  auto plain = [](const Poly& p) {  // of degree 1, in at most two symbols
    return p.terms().size() <= 2 && std::all_of(p.terms().begin(), p.terms().end(), [](auto& t) {
             return t.monomial.size() == 1 && size_name(*t.monomial[0]);
           });
  };
  std::vector<Formula> all = instance->requires_rhs;
  all.insert(all.end(), instance->requires_lhs.begin(), instance->requires_lhs.end());
  Substitution known;
  for (const Formula& f : all)
    if (f.kind == Formula::Zero && plain(f.poly)) solve_into(known, substitute(f.poly, known));
  std::map<std::string, std::string> r;
  for (const auto& [v, p] : known)
    if (p.is_constant() || (p.terms().size() == 1 && p.constant() == 0)) r[v->name] = to_string(p);
  return r;
}

namespace {

/// The sizes that TASO's matcher compares when it builds the right side: the equations between
/// sizes that the right side needs and the left side does not say.
std::vector<std::string> needed_by_target(const Rule& rule) {
  auto instance = instantiate(rule, rule.domain[0]);
  if (!instance) return {};
  Substitution known = equalities(*instance);
  std::vector<std::string> conditions;
  for (const Formula& f : instance->requires_rhs) {
    if (f.kind != Formula::Zero) continue;
    Poly p = primitive(substitute(f.poly, known));
    if (!equation(p).empty() && solve_into(known, p)) conditions.push_back(equation(p));
  }
  return conditions;
}

}  // namespace

Result<Rule> with_conditions(const Rule& r) {
  auto conditions = needed_by_target(r);
  if (conditions.empty()) return r;
  // conditions are read with the rule: their symbols belong to its pool
  Rule bare = r;
  bare.domain.clear();
  bare.origin = "generated";
  std::string text = to_string(bare);
  for (size_t k = 0; k < conditions.size(); ++k)
    text += (k > 0 || !r.where.empty() ? "," : "  where ") + conditions[k];
  ASSIGN_OR_RETURN(Rule full, parse_rule(text));
  full.domain = r.domain;
  full.origin = r.origin;
  return full;
}

}  // namespace regraft::substitutions
