#include "verify/derivations/pairing.h"

#include <algorithm>

#include "verify/normal/unify.h"

namespace regraft::verify {

using kernel::Fact;

namespace {

constexpr int kMostPermutations = 24;  // of indices that nothing reads

bool same_outline(const kernel::Atom& a, const kernel::Atom& b) {
  return a.kind == b.kind && a.head == b.head && a.positions.size() == b.positions.size() &&
         a.real == b.real && (a.kind != kernel::Atom::Max || a.bound.size() == b.bound.size());
}

std::vector<Var> symbols_of(Questions& questions, const std::vector<kernel::Symbol>& bound) {
  std::vector<Var> all;
  for (kernel::Symbol s : bound) all.push_back(questions.symbol(s));
  return all;
}

}  // namespace

std::vector<std::vector<size_t>> orders(const kernel::Product& p, const kernel::Product& q,
                                        size_t most) {
  std::vector<std::vector<size_t>> found;
  if (p.atoms.size() != q.atoms.size() || p.bound.size() != q.bound.size()) return found;
  std::vector<size_t> order;
  auto go = [&](auto& self) -> void {
    if (found.size() >= most) return;
    if (order.size() == p.atoms.size()) {
      found.push_back(order);
      return;
    }
    for (size_t j = 0; j < q.atoms.size(); ++j) {
      if (std::find(order.begin(), order.end(), j) != order.end()) continue;
      if (!same_outline(p.atoms[order.size()], q.atoms[j])) continue;
      order.push_back(j);
      self(self);
      order.pop_back();
    }
  };
  go(go);
  return found;
}

bool Pairing::along(const std::vector<kernel::Atom>& of_a, const std::vector<kernel::Atom>& of_b,
                    const std::vector<size_t>& order,
                    const std::function<bool(const Maps&)>& accept) {
  Questions& questions = search_.questions_;
  SymbolPool* pool = nullptr;
  for (kernel::Symbol s : b_.bound) {
    Var v = questions.symbol(s);
    pool = v->pool;
    if (fresh_.count(v)) continue;
    Var w = pool->fresh(v->name, SymbolKind::Bound);
    fresh_[v] = Poly::symbol(w);
    home_[w] = Poly::symbol(v);
  }
  bool nested = std::any_of(of_a.begin(), of_a.end(), [](auto& a) { return a.argument; });
  for (int hint = 0; hint < (nested ? 3 : 1); ++hint) {
    std::vector<Poly> all;
    for (size_t k = 0; k < order.size(); ++k) {
      Atom a = questions.atom(of_a[k]);
      Atom b = substitute(questions.atom(of_b[order[k]]), fresh_);
      for (Poly& e : equations(a, b, hint)) all.push_back(std::move(e));
    }
    if (with_equations(all, accept)) return true;
  }
  return false;
}

bool Pairing::with_equations(const std::vector<Poly>& equations,
                             const std::function<bool(const Maps&)>& accept) {
  Questions& questions = search_.questions_;
  std::vector<Var> of_a = symbols_of(questions, a_.bound), of_b;
  for (Var v : symbols_of(questions, b_.bound)) of_b.push_back(symbol_of(fresh_.at(v)));
  Substitution to = solve(equations, of_b), back = solve(equations, of_a);
  std::vector<Var> free_a = missing(of_a, back), free_b = missing(of_b, to);
  if (free_a.size() != free_b.size()) return false;
  std::sort(free_b.begin(), free_b.end(), SymbolLess{});
  int tries = kMostPermutations;
  do {
    if (--tries < 0 || --search_.left_ < 0) return false;
    Substitution t = to, b = back, in_a, in_b;
    for (size_t k = 0; k < free_a.size(); ++k) {
      in_a[free_b[k]] = Poly::symbol(free_a[k]);
      in_b[free_a[k]] = Poly::symbol(free_b[k]);
    }
    for (auto& [v, e] : t) e = substitute(e, in_a);
    for (auto& [v, e] : b) e = substitute(e, in_b);
    t.insert(in_a.begin(), in_a.end());
    b.insert(in_b.begin(), in_b.end());
    if (mentions_one_of(t, of_b) || mentions_one_of(b, of_a)) continue;
    Maps maps;
    for (size_t k = 0; k < of_b.size(); ++k)
      maps.to[b_.bound[k]] = questions.kernel_poly(t.at(of_b[k]));
    for (size_t k = 0; k < of_a.size(); ++k)
      maps.back[a_.bound[k]] = questions.kernel_poly(substitute(b.at(of_a[k]), home_));
    if (accept(maps)) return true;
  } while (std::next_permutation(free_b.begin(), free_b.end(), SymbolLess{}));
  return false;
}

bool Pairing::bijection(const StepSearch::Facts& facts, const Maps& maps, Draft& draft) {
  kernel::Symbols& symbols = search_.symbols_;
  for (kernel::Symbol s : b_.bound) draft.word(symbols.text(maps.to.at(s)));
  for (kernel::Symbol s : a_.bound) draft.word(symbols.text(maps.back.at(s)));
  const StepSearch::Facts in_a = facts_within(symbols, facts, a_.bound, a_.guard);
  const StepSearch::Facts in_b = facts_within(symbols, facts, b_.bound, b_.guard);
  for (const Fact& g : b_.guard)
    if (!search_.need(in_a, substitute(symbols, g, maps.to), draft)) return false;
  for (const Fact& g : a_.guard)
    if (!search_.need(in_b, substitute(symbols, g, maps.back), draft)) return false;
  for (kernel::Symbol s : a_.bound)
    if (!search_.need(
            in_a,
            kernel::zero(symbols.substitute(maps.back.at(s), maps.to) - kernel::Poly::symbol(s)),
            draft))
      return false;
  for (kernel::Symbol s : b_.bound)
    if (!search_.need(
            in_b,
            kernel::zero(symbols.substitute(maps.to.at(s), maps.back) - kernel::Poly::symbol(s)),
            draft))
      return false;
  return true;
}

}  // namespace regraft::verify
