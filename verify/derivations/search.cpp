#include "verify/derivations/search.h"

#include <algorithm>

#include "verify/derivations/pairing.h"

namespace regraft::verify {

using kernel::Fact;
using kernel::Goal;
using kernel::Monomial;
using kernel::Symbol;
using KPoly = kernel::Poly;

namespace {

constexpr size_t kMostOrders = 24;

/// What k is where p = 0, if p has it once, alone, with coefficient 1 or -1.
std::optional<KPoly> solved(const kernel::Symbols& symbols, const KPoly& p, Symbol k) {
  auto it = p.terms().find(Monomial{k});
  if (it == p.terms().end() || std::abs(it->second) != 1) return std::nullopt;
  KPoly rest = KPoly(-it->second) * (p - KPoly(it->second) * KPoly::symbol(k));
  if (symbols.mentions(rest, k)) return std::nullopt;
  return rest;
}

/// 1 over a number, over a product of several factors or with a coefficient, or over a quotient.
bool is_compound_quotient(const kernel::Atom& a) {
  auto factors = [](const kernel::Atom& x) -> const kernel::Product* {
    if (x.kind != kernel::Atom::Apply || x.head != static_cast<int>(Fn::Recip)) return nullptr;
    const auto& parts = x.argument->products;
    bool single = parts.size() == 1 && parts[0].bound.empty() && parts[0].guard.empty();
    return single ? &parts[0] : nullptr;
  };
  const kernel::Product* of = factors(a);
  if (!of) return false;
  bool compound = of->atoms.size() != 1 || !(of->coefficient == kernel::Fraction{1, 1});
  for (const kernel::Atom& x : of->atoms) {
    if (x.kind != kernel::Atom::Apply || x.head != a.head) continue;
    if (!factors(x)) return false;
    compound = true;
  }
  return compound;
}

void apply(Goal& goal, const std::string& line, std::string& text) {
  kernel::Lines lines(line);
  goal.step(lines);
  text += line;
}

}  // namespace

bool StepSearch::need(const Facts& facts, const Fact& f, Draft& draft) {
  auto found = questions_.implied(facts, f);
  if (found) draft.certificate(*found);
  return found.has_value();
}

bool StepSearch::equal(const Facts& facts, const kernel::Atom& a, const kernel::Atom& b, int depth,
                       Draft& draft) {
  if (a.kind != b.kind || a.head != b.head || a.positions.size() != b.positions.size() ||
      a.reals != b.reals || !a.argument != !b.argument || a.bound.size() != b.bound.size())
    return false;
  for (size_t k = 0; k < a.positions.size(); ++k)
    if (!need(facts, kernel::zero(a.positions[k] - b.positions[k]), draft)) return false;
  if (!a.argument || (a.bound == b.bound && a.guard == b.guard && same(*a.argument, *b.argument)))
    return true;
  auto difference = [&](const kernel::Sum& other) {
    return *a.argument + kernel::scaled(other, {-1, 1});
  };
  if (a.kind != kernel::Atom::Max) {
    auto lines = zero(facts, difference(*b.argument), depth + 1);
    if (lines) draft.lines += *lines;
    return lines.has_value();
  }
  Pairing pairing(*this, {a.bound, a.guard}, {b.bound, b.guard});
  kernel::Atom open_a = a, open_b = b;  // the indices are to be found
  open_a.bound.clear();
  open_b.bound.clear();
  return pairing.along({open_a}, {open_b}, {0}, [&](const Maps& maps) {
    Draft range;
    if (!pairing.bijection(facts, maps, range)) return false;
    auto lines = zero(facts_within(symbols_, facts, a.bound, a.guard),
                      difference(substitute(symbols_, *b.argument, maps.to)), depth + 1);
    if (!lines) return false;
    draft.lines += range.text("indices") + *lines;
    return true;
  });
}

// ---- One product ----

std::optional<std::string> StepSearch::pin(const Facts& known, const kernel::Product& p) {
  std::vector<KPoly> zeros;
  for (size_t i = 0; i < p.guard.size(); ++i) {
    const Fact& g = p.guard[i];
    if (g.form == Fact::Zero) zeros.push_back(g.poly);
    for (size_t j = 0; g.form == Fact::NonNegative && j < i; ++j)
      if (p.guard[j].form == Fact::NonNegative && p.guard[j].poly + g.poly == KPoly(0))
        zeros.push_back(g.poly);
  }
  for (size_t b = 0; b < p.bound.size(); ++b)
    for (const KPoly& z : zeros) {
      auto e = solved(symbols_, z, p.bound[b]);
      if (!e) continue;
      Draft draft;
      draft.word(b);
      draft.word(symbols_.text(*e));
      if (need(known, kernel::zero(KPoly::symbol(p.bound[b]) - *e), draft)) return draft.text("");
    }
  return std::nullopt;
}

/// Whole numbers and what is over them, term by term.
std::optional<std::string> StepSearch::tidy(const Facts& known, const kernel::Product& p) {
  for (size_t g = 0; g < p.guard.size(); ++g) {
    Facts rest = known;  // what is said before, or around
    rest.erase(rest.end() - static_cast<std::ptrdiff_t>(p.guard.size() - g));
    if (kernel::plain(rest, p.guard[g])) return "omit N " + std::to_string(g) + "\n";
  }
  for (size_t k = 0; k < p.atoms.size(); ++k) {
    const kernel::Atom& a = p.atoms[k];
    if (is_compound_quotient(a)) return "invert N " + std::to_string(k) + "\n";
    bool over = a.kind == kernel::Atom::Recip;
    if (!over && a.kind != kernel::Atom::Number) continue;
    const auto& terms = a.positions[0].terms();
    bool single =
        terms.size() == 1 && terms.begin()->second == 1 && terms.begin()->first.size() == 1;
    if (!single && (!over || terms.size() == 1)) return "value N " + std::to_string(k) + "\n";
    for (size_t j = 0; !over && j < p.atoms.size(); ++j) {
      if (p.atoms[j].kind != kernel::Atom::Recip || p.atoms[j].positions != a.positions) continue;
      Draft draft;
      draft.word(k);
      draft.word(j);
      if (need(known, kernel::non_negative(a.positions[0] - KPoly(1)), draft))
        return draft.text("cancel N");
    }
  }
  return std::nullopt;
}

/// Functions of multiples: the coefficient of the product that comes first becomes 1, or positive.
std::optional<std::string> StepSearch::outside(const kernel::Product& p) {
  auto outline = [](const kernel::Product& q) {
    std::vector<std::pair<int, int>> all;
    for (const kernel::Atom& a : q.atoms) all.emplace_back(a.kind, a.head);
    std::sort(all.begin(), all.end());
    return all;
  };
  for (size_t k = 0; k < p.atoms.size(); ++k) {
    const kernel::Atom& a = p.atoms[k];
    if (a.kind != kernel::Atom::Apply || a.argument->products.empty()) continue;
    const auto& parts = a.argument->products;
    auto first = std::min_element(parts.begin(), parts.end(),
                                  [&](auto& x, auto& y) { return outline(x) < outline(y); });
    kernel::Fraction c = first->coefficient;
    const Fn f = static_cast<Fn>(a.head);
    if (f == Fn::Relu) c.n = std::abs(c.n);
    if (facts(f).odd) c = {c.n < 0 ? -1 : 1, 1};
    if ((f != Fn::Relu && f != Fn::Recip && !facts(f).odd) || c == kernel::Fraction{1, 1}) continue;
    return "outside N " + std::to_string(k) + " " + std::to_string(c.n) + " " +
           std::to_string(c.d) + "\n";
  }
  return std::nullopt;
}

std::optional<std::string> StepSearch::reduce(const Facts& known, const kernel::Product& p,
                                              const std::vector<kernel::Partial>& defined) {
  auto factors = [](const kernel::Atom& a) -> const std::vector<kernel::Atom>* {
    if (a.kind != kernel::Atom::Apply || a.head != static_cast<int>(Fn::Recip)) return nullptr;
    const auto& parts = a.argument->products;
    bool single = parts.size() == 1 && parts[0].bound.empty() && parts[0].guard.empty();
    return single ? &parts[0].atoms : nullptr;
  };
  auto alike = [](const kernel::Atom& a, const kernel::Atom& b) {
    return a.kind == b.kind && a.head == b.head;
  };
  for (size_t j = 0; j < p.atoms.size(); ++j) {
    const auto* over = factors(p.atoms[j]);
    for (size_t i = 0; over && over->size() == 1 && i < p.atoms.size(); ++i) {
      if (i == j || !alike(p.atoms[i], over->at(0))) continue;
      for (size_t y = 0; y < defined.size(); ++y) {
        const auto* of = defined[y].bound.empty() ? factors(defined[y].atom) : nullptr;
        for (size_t f = 0; of && f < of->size(); ++f) {
          Draft draft;
          for (size_t x : {i, j, y, f}) draft.word(x);
          bool found = alike(p.atoms[i], of->at(f)) &&
                       equal(known, p.atoms[i], over->at(0), 0, draft) &&
                       std::all_of(defined[y].guard.begin(), defined[y].guard.end(),
                                   [&](const Fact& g) { return need(known, g, draft); }) &&
                       equal(known, p.atoms[i], of->at(f), 0, draft);
          if (found) return draft.text("reduce N");
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> StepSearch::count(const Facts& facts, const kernel::Product& p) {
  for (size_t b = 0; b < p.bound.size(); ++b) {
    Symbol s = p.bound[b];
    std::vector<size_t> within;
    for (size_t g = 0; g < p.guard.size(); ++g)
      if (mentions(symbols_, p.guard[g], s)) within.push_back(g);
    if (within.size() != 2) continue;
    kernel::Product rest = p;
    rest.bound.erase(rest.bound.begin() + static_cast<std::ptrdiff_t>(b));
    for (size_t g : {within[1], within[0]})
      rest.guard.erase(rest.guard.begin() + static_cast<std::ptrdiff_t>(g));
    if (mentions(symbols_, rest, s)) continue;
    for (int turn = 0; turn < 2; ++turn, std::swap(within[0], within[1])) {
      const Fact &from = p.guard[within[0]], &until = p.guard[within[1]];
      KPoly low = KPoly::symbol(s) - from.poly, high = until.poly + KPoly::symbol(s) + KPoly(1);
      bool bounds = from.form == Fact::NonNegative && until.form == Fact::NonNegative &&
                    !symbols_.mentions(low, s) && !symbols_.mentions(high, s);
      Draft draft;
      for (size_t x : {b, within[0], within[1]}) draft.word(x);
      if (bounds && need(facts_within(symbols_, facts, rest.bound, rest.guard),
                         kernel::non_negative(high - low), draft))
        return draft.text("count N");
    }
  }
  return std::nullopt;
}

/// A guard within a function that says nothing of what is bound there, and that is open.
std::optional<std::string> StepSearch::foreign(const Facts& known, const kernel::Product& p) {
  std::vector<Symbol> inner;
  std::optional<std::string> found;
  auto go = [&](const kernel::Atom& a, auto& self) -> void {
    if (!a.argument) return;
    size_t before = inner.size();
    inner.insert(inner.end(), a.bound.begin(), a.bound.end());
    for (const kernel::Product& q : a.argument->products) {
      size_t outer = inner.size();
      inner.insert(inner.end(), q.bound.begin(), q.bound.end());
      for (const Fact& g : q.guard) {
        if (found || std::any_of(inner.begin(), inner.end(),
                                 [&](Symbol s) { return mentions(symbols_, g, s); }))
          continue;
        if (questions_.says_implied(known, g) || questions_.says_implied(known, negated(g)))
          continue;
        found = "divide N " + kernel::text(symbols_, g) + "\n";
      }
      for (const kernel::Atom& b : q.atoms) self(b, self);
      inner.resize(outer);
    }
    inner.resize(before);
  };
  for (const kernel::Atom& a : p.atoms) go(a, go);
  return found;
}

/// Arguments of functions, simplified; and functions of what they made.
std::optional<std::string> StepSearch::inside(const Facts& known, const kernel::Product& p,
                                              int depth) {
  constexpr int kMostNested = 8;
  for (size_t k = 0; k < p.atoms.size() && depth < kMostNested; ++k) {
    const kernel::Atom& a = p.atoms[k];
    if (!a.argument) continue;
    Goal goal(symbols_, facts_within(symbols_, known, a.bound, a.guard), *a.argument, depth + 1);
    std::string text;
    size_t next = 0;
    for (auto it = goal.products().begin(); it != goal.products().end();
         it = goal.products().lower_bound(next)) {
      next = it->first + 1;
      simplify(goal, it->first, depth + 1, text);
    }
    if (!text.empty()) return "inside N " + std::to_string(k) + "\n" + text + "end\n";
    const auto& parts = a.argument->products;
    bool twice = a.kind == kernel::Atom::Apply && facts(static_cast<Fn>(a.head)).idempotent &&
                 parts.size() == 1 && parts[0].bound.empty() && parts[0].guard.empty() &&
                 parts[0].coefficient == kernel::Fraction{1, 1} && parts[0].atoms.size() == 1 &&
                 parts[0].atoms[0].kind == a.kind && parts[0].atoms[0].head == a.head;
    if (twice) return "again N " + std::to_string(k) + "\n";
  }
  return std::nullopt;
}

std::optional<std::string> StepSearch::vanish(const Facts& known, const kernel::Product& p,
                                              int depth) {
  for (size_t k = 0; k < p.atoms.size(); ++k) {
    const kernel::Atom& a = p.atoms[k];
    if (a.kind != kernel::Atom::Apply || !facts(static_cast<Fn>(a.head)).zero_at_zero) continue;
    const auto& parts = a.argument->products;
    bool nothing = std::all_of(parts.begin(), parts.end(), [&](const kernel::Product& q) {
      return questions_.says_refuted(facts_within(symbols_, known, q.bound, q.guard));
    });
    if (!nothing) continue;
    if (auto lines = zero(known, *a.argument, depth + 1))
      return "vanish N " + std::to_string(k) + "\n" + *lines;
  }
  return std::nullopt;
}

bool StepSearch::simplify(Goal& goal, size_t n, int depth, std::string& text,
                          const std::vector<kernel::Partial>& defined) {
  if (--left_ < 0) return false;
  const kernel::Product p = goal.products().at(n);
  const Facts known = facts_within(symbols_, goal.facts(), p.bound, p.guard);
  const std::string number = std::to_string(n);
  if (auto rest = pin(known, p)) {
    apply(goal, "pin " + number + *rest, text);
    return true;
  }
  if (auto certificate = questions_.refuted(known)) {
    apply(goal, "drop " + number + "|" + *certificate + "\n", text);
    return true;
  }
  auto line = tidy(known, p);
  if (!line) line = outside(p);
  if (!line) line = reduce(known, p, defined);
  if (!line) line = count(goal.facts(), p);
  if (!line) line = inside(known, p, depth);
  if (!line) line = vanish(known, p, depth);
  if (!line) line = foreign(known, p);
  if (!line) return false;
  line->replace(line->find('N'), 1, number);
  apply(goal, *line, text);
  return true;
}

// ---- Pairs ----

std::optional<std::string> StepSearch::pair(const Goal& goal, size_t n, size_t m, int depth) {
  const kernel::Product &p = goal.products().at(n), &q = goal.products().at(m);
  Pairing pairing(*this, {p.bound, p.guard}, {q.bound, q.guard});
  std::optional<std::string> found;
  for (const std::vector<size_t>& order : orders(p, q, kMostOrders)) {
    auto accept = [&](const Maps& maps) {
      Draft draft;
      draft.word(n);
      draft.word(m);
      for (size_t k : order) draft.word(k);
      if (!pairing.bijection(goal.facts(), maps, draft)) return false;
      const Facts known = facts_within(symbols_, goal.facts(), p.bound, p.guard);
      for (size_t k = 0; k < order.size(); ++k)
        if (!equal(known, p.atoms[k], substitute(symbols_, q.atoms[order[k]], maps.to), depth,
                   draft))
          return false;
      found = draft.text("pair");
      return true;
    };
    if (pairing.along(p.atoms, q.atoms, order, accept)) return found;
  }
  return std::nullopt;
}

bool StepSearch::pair_one(Goal& goal, int depth, std::string& text) {
  for (const auto& [n, p] : goal.products())
    for (auto it = goal.products().upper_bound(n); it != goal.products().end(); ++it) {
      if ((p.coefficient + it->second.coefficient).n != 0) continue;
      if (auto line = pair(goal, n, it->first, depth)) {
        apply(goal, *line, text);
        return true;
      }
    }
  return false;
}

std::optional<std::string> StepSearch::divided(const Goal& goal, size_t n, size_t m) {
  const kernel::Product &p = goal.products().at(n), &q = goal.products().at(m);
  Pairing pairing(*this, {p.bound, p.guard}, {q.bound, q.guard});
  std::optional<std::string> found;
  for (const std::vector<size_t>& order : orders(p, q, kMostOrders)) {
    auto accept = [&](const Maps& maps) {
      const Facts known = facts_within(symbols_, goal.facts(), p.bound, p.guard);
      Facts both = known;
      for (const Fact& g : q.guard) both.push_back(substitute(symbols_, g, maps.to));
      if (questions_.says_refuted(both)) return false;
      for (size_t k = 0; k < order.size(); ++k) {
        kernel::Atom b = substitute(symbols_, q.atoms[order[k]], maps.to);
        for (size_t i = 0; i < b.positions.size(); ++i)
          if (!questions_.says_implied(both,
                                       kernel::zero(p.atoms[k].positions[i] - b.positions[i])))
            return false;
      }
      for (const Fact& g : q.guard) {
        Fact here = substitute(symbols_, g, maps.to);
        if (questions_.says_implied(known, here)) continue;
        found = "divide " + std::to_string(n) + " " + kernel::text(symbols_, here) + "\n";
        return true;
      }
      return false;
    };
    if (pairing.along(p.atoms, q.atoms, order, accept)) return found;
  }
  return std::nullopt;
}

bool StepSearch::divide_one(Goal& goal, std::string& text) {
  for (const auto& [n, p] : goal.products())
    for (const auto& [m, q] : goal.products()) {
      if (n == m || (p.coefficient.n < 0) == (q.coefficient.n < 0)) continue;
      if (auto line = divided(goal, n, m)) {
        apply(goal, *line, text);
        return true;
      }
    }
  return false;
}

std::optional<std::string> StepSearch::zero(const Facts& facts, const kernel::Sum& sum, int depth,
                                            const std::vector<std::string>& first,
                                            const std::vector<kernel::Partial>& defined) {
  constexpr int kMostNested = 12;
  if (depth > kMostNested || --left_ < 0) return std::nullopt;
  Goal goal(symbols_, facts, sum, depth, defined);
  std::string text;
  for (const std::string& line : first) apply(goal, line, text);
  size_t next = 0;
  for (;;) {
    for (auto it = goal.products().lower_bound(next); it != goal.products().end();
         it = goal.products().lower_bound(next)) {
      next = it->first + 1;
      simplify(goal, it->first, depth, text, defined);
    }
    if (goal.products().empty()) return text + "end\n";
    if (pair_one(goal, depth, text)) continue;
    if (left_ < 0 || !divide_one(goal, text)) break;
  }
  if (stuck_.empty()) stuck_ = kernel::text(symbols_, goal.products().begin()->second);
  return std::nullopt;
}

}  // namespace regraft::verify
