#include "verify/kernel/translation.h"

#include <cctype>

namespace regraft::kernel {
namespace {

/// What a kernel takes as a name.
std::string name_of(Var v) {
  std::string name;
  for (char c : v->name) name += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '_';
  if (name.empty() || !(std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_'))
    name = "_" + name;
  return name;
}

}  // namespace

Symbol Translation::of(Var v) {
  if (auto it = known_.find(v); it != known_.end()) return it->second;
  Symbol s;
  if (v->kind == SymbolKind::Quotient) {
    Poly n = of(*v->numerator), d = of(*v->denominator);
    s = symbols_.quotient(n, d);
  } else if (v->kind == SymbolKind::Lookup) {
    std::vector<Poly> entries;
    for (const regraft::Poly& e : v->pool->entries(v->table)) entries.push_back(of(e));
    Poly i = of(*v->numerator), bound = of(*v->denominator);
    s = symbols_.lookup(symbols_.table(entries), i, bound);
  } else {
    std::string name = name_of(v), wanted = name;
    for (int k = 2; symbols_.find(name); ++k) name = wanted + "_" + std::to_string(k);
    bool size = v->kind == SymbolKind::Size;
    s = symbols_.make(size ? Kind::Size : Kind::Attribute, name,
                      size ? std::optional(v->min) : std::nullopt);
    known_.emplace(v, s);
  }
  return s;
}

Poly Translation::of(const regraft::Poly& p) {
  Poly r(p.constant());
  for (const auto& [monomial, c] : p.terms()) {
    Poly x(c);
    for (Var v : monomial) x = x * Poly::symbol(of(v));
    r = r + x;
  }
  return r;
}

Fact Translation::of(const Formula& f) {
  if (f.kind == Formula::NonNegative) return non_negative(of(f.poly));
  if (f.kind == Formula::Zero) return zero(of(f.poly));
  std::vector<Fact> parts;
  for (const Formula& part : f.parts) parts.push_back(of(part));
  bool both = f.kind == Formula::And || f.kind == Formula::True;
  return both ? all(std::move(parts)) : any(std::move(parts));
}

std::vector<Fact> Translation::of(const Conjunction& c) {
  std::vector<Fact> all;
  for (const Formula& f : c) all.push_back(of(f));
  return all;
}

}  // namespace regraft::kernel
