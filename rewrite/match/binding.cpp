#include "rewrite/match/binding.h"

#include <algorithm>
#include <cmath>

#include "ir/algebra/real_expression.h"

namespace regraft::rewrite {

bool Binding::bind(Var v, const Poly& p) {
  auto [it, fresh] = sizes.emplace(v, p);
  return fresh || same(it->second, p);
}

bool Binding::bind(Var v, double x) {
  auto [it, fresh] = reals.emplace(v, x);
  return fresh || it->second == x;
}

std::optional<double> Binding::real(const std::string& expression, SymbolPool& pool) const {
  return value_of(expression_of(expression), [&](const std::string& name) -> std::optional<double> {
    Var v = symbol_of_name(name, pool);
    if (name[0] == '?') {
      auto it = reals.find(v);
      return it == reals.end() ? std::nullopt : std::optional(it->second);
    }
    auto it = sizes.find(v);
    bool known = it != sizes.end() && it->second.is_constant();
    return known ? std::optional<double>(it->second.constant()) : std::nullopt;
  });
}

std::optional<double> Binding::real(Var v) const {
  if (auto it = reals.find(v); it != reals.end()) return it->second;
  if (!is_expression(v->name)) return std::nullopt;
  auto value = real(v->name, *v->pool);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

bool Binding::bind_rounded(Var v, double x) {
  if (!is_expression(v->name)) return bind(v, x);
  auto exact = real(v->name, *v->pool);
  bool near = exact && (x == *exact || x == static_cast<double>(static_cast<float>(*exact)));
  return near && bind(v, x);
}

namespace {

std::optional<Poly> translate_symbol(Var v, const Substitution& s, SymbolPool& target) {
  if (auto it = s.find(v); it != s.end()) return it->second;
  if (!v->numerator || v->kind == SymbolKind::Lookup) return std::nullopt;
  auto n = translate(*v->numerator, s, target), d = translate(*v->denominator, s, target);
  if (!n || !d) return std::nullopt;
  if (d->is_constant() && d->constant() < 1) return std::nullopt;
  return target.floordiv(*n, *d);
}

}  // namespace

std::optional<Poly> translate(const Poly& p, const Substitution& s, SymbolPool& target) {
  if (p.is_constant()) return p;
  Poly sum(p.constant());
  for (const auto& [monomial, coefficient] : p.terms()) {
    Poly product(coefficient);
    for (Var v : monomial) {
      auto factor = translate_symbol(v, s, target);
      if (!factor) return std::nullopt;
      product = product * *factor;
    }
    sum = sum + product;
  }
  return sum;
}

std::optional<Formula> translate(const Formula& f, const Substitution& s, SymbolPool& target) {
  if (f.kind == Formula::NonNegative || f.kind == Formula::Zero) {
    auto p = translate(f.poly, s, target);
    if (!p) return std::nullopt;
    return f.kind == Formula::Zero ? is_zero(*std::move(p)) : non_negative(*std::move(p));
  }
  if (f.parts.empty()) return f;
  std::vector<Formula> parts;
  for (const Formula& part : f.parts) {
    auto translated = translate(part, s, target);
    if (!translated) return std::nullopt;
    parts.push_back(*std::move(translated));
  }
  return junction(f.kind, std::move(parts));
}

std::optional<Attrs<Poly>> translate(const Attrs<Poly>& at, const Binding& b, SymbolPool& target) {
  Attrs<Poly> result = at;
  for (auto& list : result.ints)
    for (Poly& p : list) {
      auto translated = translate(p, b.sizes, target);
      if (!translated) return std::nullopt;
      p = *std::move(translated);
    }
  for (Real& r : result.reals) {
    if (!r.symbol) continue;
    auto value = b.real(r.symbol);
    if (!value) return std::nullopt;
    r = Real{*value, nullptr};
  }
  return result;
}

std::vector<Poly> normal_axes(const IntAttr& attr, std::vector<Poly> numbers, int rank) {
  if (attr.kind != IntKind::Axis) return numbers;
  for (Poly& p : numbers)
    if (p.is_constant() && p.constant() < 0) p = p + Poly(rank);
  return numbers;
}

bool holds(const Formula& f) {
  switch (f.kind) {
    case Formula::True:
      return true;
    case Formula::False:
      return false;
    case Formula::NonNegative:
      return never_negative(f.poly);
    case Formula::Zero:
      return f.poly.is_zero();
    case Formula::And:
      return std::all_of(f.parts.begin(), f.parts.end(), holds);
    case Formula::Or:
      return std::any_of(f.parts.begin(), f.parts.end(), holds);
  }
  return false;
}

}  // namespace regraft::rewrite
