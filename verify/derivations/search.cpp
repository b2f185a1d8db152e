#include "verify/derivations/search.h"

#include <algorithm>
#include <span>

#include "verify/derivations/keys.h"
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

/// p is -q.
bool opposite(const KPoly& p, const KPoly& q) {
  return std::ranges::equal(p.terms(), q.terms(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second == -y.second;
  });
}

void apply(Goal& goal, const std::string& line, std::string& text) {
  kernel::Lines lines(line);
  goal.step(lines);
  text += line;
}

}  // namespace

std::vector<KPoly> zeros_of(std::span<const Fact> facts) {
  std::vector<KPoly> zeros;
  for (size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].form == Fact::Zero) zeros.push_back(facts[i].poly);
    for (size_t j = 0; facts[i].form == Fact::NonNegative && j < i; ++j)
      if (facts[j].form == Fact::NonNegative && opposite(facts[j].poly, facts[i].poly))
        zeros.push_back(facts[i].poly);
  }
  return zeros;
}

bool StepSearch::need(const Facts& facts, const Fact& f, Draft& draft) {
  auto found = questions_.implied(facts, f);
  if (found) draft.certificate(*found);
  return found.has_value();
}

bool StepSearch::equal(const kernel::Context& context, const kernel::Atom& a, const kernel::Atom& b,
                       Draft& draft) {
  if (a.kind != b.kind || a.head != b.head || a.positions.size() != b.positions.size() ||
      a.real != b.real || !a.argument != !b.argument)
    return false;
  for (size_t k = 0; k < a.positions.size(); ++k)
    if (!need(context.facts, kernel::zero(a.positions[k] - b.positions[k]), draft)) return false;
  if (!a.argument || same(a, b)) return true;
  auto difference = [&](const kernel::Sum& other) {
    return *a.argument + kernel::scaled(other, {-1, 1});
  };
  if (a.kind != kernel::Atom::Max) {
    ++quiet_;
    auto lines = zero(context, difference(*b.argument));
    --quiet_;
    if (lines) draft.lines += *lines;
    return lines.has_value();
  }
  if (a.bound.size() != b.bound.size()) return false;
  Pairing pairing(*this, {a.bound, a.guard}, {b.bound, b.guard});
  kernel::Atom open_a = a, open_b = b;  // the indices are to be found
  open_a.bound = {};
  open_b.bound = {};
  return pairing.along({open_a}, {open_b}, {0}, [&](const Maps& maps) {
    Draft range;
    if (!pairing.bijection(context.facts, maps, range)) return false;
    ++quiet_;
    auto lines = zero(within(symbols_, context, a.bound, a.guard),
                      difference(substitute(symbols_, *b.argument, maps.to)));
    --quiet_;
    if (!lines) return false;
    draft.lines += range.text("indices") + *lines;
    return true;
  });
}

// ---- One product ----

std::optional<std::string> StepSearch::pin(const Facts& known, const kernel::Product& p) {
  const std::vector<KPoly> zeros = zeros_of(p.guard);
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
  const std::span<const Fact> all = known;  // the guard's are the last
  for (size_t g = 0; g < p.guard.size(); ++g) {
    const size_t behind = p.guard.size() - g - 1;
    if (kernel::plain(all.first(all.size() - behind - 1), p.guard[g]) ||
        kernel::plain(all.last(behind), p.guard[g]))
      return "omit N " + std::to_string(g) + "\n";
  }
  for (size_t k = 0; k < p.atoms.size(); ++k) {
    const kernel::Atom& a = p.atoms[k];
    bool over = a.kind == kernel::Atom::Recip;
    if (!over && a.kind != kernel::Atom::Number) continue;
    bool single = symbol_of(a.positions[0]).has_value();
    if (!single && (!over || a.positions[0].terms().size() == 1))
      return "value N " + std::to_string(k) + "\n";
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
    if (facts(f).odd && f != Fn::Recip) c = {c.n < 0 ? -1 : 1, 1};
    if (f == Fn::Step) c.n = std::abs(c.n);
    if (f == Fn::Cos) c = {c.n < 0 ? -1 : 1, 1};
    bool lets = f == Fn::Relu || f == Fn::Step || f == Fn::Cos || f == Fn::Recip || facts(f).odd;
    if (!lets || c == kernel::Fraction{1, 1}) continue;
    return "law times N " + std::to_string(k) + " " + std::to_string(c.n) + " " +
           std::to_string(c.d) + "\n";
  }
  return std::nullopt;
}

/// Maxima over one place.
std::optional<std::string> StepSearch::only(const kernel::Context& here, const kernel::Product& p) {
  for (size_t k = 0; k < p.atoms.size(); ++k) {
    const kernel::Atom& a = p.atoms[k];
    if (a.kind != kernel::Atom::Max) continue;
    const std::vector<KPoly> zeros = zeros_of(a.guard);
    Draft draft;
    draft.word(k);
    auto place = [&](Symbol s) {
      for (const KPoly& z : zeros) {
        auto e = solved(symbols_, z, s);
        if (!e || std::ranges::any_of(a.bound, [&](Symbol b) { return symbols_.mentions(*e, b); }))
          continue;
        draft.word(symbols_.text(*e));
        return need(facts_within(symbols_, here.facts, a.bound, a.guard),
                    kernel::zero(KPoly::symbol(s) - *e), draft);
      }
      return false;
    };
    if (std::ranges::all_of(a.bound, place) && reached(here, a, draft))
      return draft.text("law only N");
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
    rest.bound.erase(b);
    for (size_t g : {within[1], within[0]}) rest.guard.erase(g);
    if (mentions_within(symbols_, rest, s)) continue;
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

/// Arguments of functions, simplified.
std::optional<std::string> StepSearch::inside(const kernel::Context& here,
                                              const kernel::Product& p) {
  constexpr int kMostNested = 16;
  for (size_t k = 0; k < p.atoms.size() && here.depth < kMostNested; ++k) {
    const kernel::Atom& a = p.atoms[k];
    if (!a.argument) continue;
    std::string text;
    try {
      Goal goal(symbols_, within(symbols_, here, a.bound, a.guard), *a.argument);
      reduce(goal, text);
    } catch (const kernel::Refused&) {  // an index of a maximum is free around it
      continue;
    }
    if (!text.empty()) return "inside N " + std::to_string(k) + "\n" + text + "end\n";
  }
  return std::nullopt;
}

/// What holds is about another index of the name of one that is bound.
std::optional<std::string> StepSearch::other_name(const Goal& goal, size_t n) {
  const std::vector<Symbol>& bound = goal.products().at(n).bound;
  for (size_t b = 0; b < bound.size(); ++b) {
    bool free =
        std::any_of(goal.facts().begin(), goal.facts().end(),
                    [&](const Fact& f) { return mentions(symbols_, f, bound[b]); }) ||
        std::any_of(goal.context().known.begin(), goal.context().known.end(),
                    [&](const kernel::Known& k) { return mentions(symbols_, k.sum, bound[b]); });
    if (!free) continue;
    while (symbols_.find("at" + std::to_string(names_))) ++names_;
    return "alias " + std::to_string(n) + " " + std::to_string(b) + " at" + std::to_string(names_) +
           "\n";
  }
  return std::nullopt;
}

bool StepSearch::simplify(Goal& goal, size_t n, std::string& text) {
  if (--left_ < 0) return false;
  if (auto line = other_name(goal, n)) {
    apply(goal, *line, text);
    return true;
  }
  const kernel::Product p = goal.products().at(n);
  const kernel::Context here = within(symbols_, goal.context(), p.bound, p.guard);
  const Facts& known = here.facts;
  const std::string number = std::to_string(n);
  if (auto rest = pin(known, p)) {
    apply(goal, "pin " + number + *rest, text);
    return true;
  }
  if (!p.guard.empty())
    if (auto certificate = questions_.refuted(known)) {
      apply(goal, "drop " + number + "|" + *certificate + "\n", text);
      return true;
    }
  auto line = tidy(known, p);
  if (!line) line = outside(p);
  if (!line) line = inside(here, p);
  if (!line) line = only(here, p);
  if (!line) line = by_law(here, p);
  if (!line) line = cancel(here, p);
  if (!line) line = together(here, p);
  if (!line) line = count(goal.facts(), p);
  if (!line) line = foreign(known, p);
  if (!line) return false;
  line->replace(line->find('N'), 1, number);
  apply(goal, *line, text);
  return true;
}

// ---- Pairs ----

std::optional<std::string> StepSearch::pair(const Goal& goal, size_t n, size_t m) {
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
      const kernel::Context known = within(symbols_, goal.context(), p.bound, p.guard);
      for (size_t k = 0; k < order.size(); ++k)
        if (!equal(known, p.atoms[k], substitute(symbols_, q.atoms[order[k]], maps.to), draft))
          return false;
      found = draft.text("pair");
      return true;
    };
    if (pairing.along(p.atoms, q.atoms, order, accept)) return found;
  }
  return std::nullopt;
}

void StepSearch::pair_same(Goal& goal, std::string& text) {
  std::multimap<std::string, size_t> open;
  std::vector<size_t> numbers;
  for (const auto& [n, p] : goal.products()) numbers.push_back(n);
  for (size_t m : numbers) {
    const kernel::Product& q = goal.products().at(m);
    const std::string& key = alike_.of(q);
    auto [it, end] = open.equal_range(key);
    for (; it != end; ++it) {
      if ((goal.products().at(it->second).coefficient + q.coefficient).n != 0) continue;
      if (auto line = pair(goal, it->second, m)) {
        apply(goal, *line, text);
        break;
      }
    }
    if (it == end)
      open.emplace(key, m);
    else
      open.erase(it);
  }
}

/// Products that are alike become one; those that cancel out come first.
bool StepSearch::pair_one(Goal& goal, std::string& text) {
  for (bool opposite : {true, false})
    for (const auto& [n, p] : goal.products())
      for (auto it = goal.products().upper_bound(n); it != goal.products().end(); ++it) {
        if (((p.coefficient + it->second.coefficient).n == 0) != opposite) continue;
        if (!opposite && alike_.of(p) != alike_.of(it->second)) continue;
        if (auto line = pair(goal, n, it->first)) {
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

void StepSearch::reduce(Goal& goal, std::string& text) {
  size_t next = 0;
  pair_same(goal, text);
  do {
    for (auto it = goal.products().lower_bound(next); it != goal.products().end();
         it = goal.products().lower_bound(next)) {
      next = it->first + 1;
      simplify(goal, it->first, text);
    }
  } while (left_ > 0 && pair_one(goal, text));
}

template <class F>
std::optional<std::string> StepSearch::remembered(std::string key, F find) {
  key += "/" + std::to_string(splits_) + (quiet_ > 0 ? "q" : "");
  auto it = remembered_.find(key);
  if (it == remembered_.end()) {
    auto found = find();
    if (left_ < 0) return found;  // an end that says nothing
    it = remembered_.emplace(std::move(key), std::move(found)).first;
  }
  return it->second;
}

std::optional<std::string> StepSearch::zero(const kernel::Context& context,
                                            const kernel::Sum& sum) {
  return remembered(exact_key(context, sum), [&] { return find_zero(context, sum); });
}

std::optional<std::string> StepSearch::has_sign(const kernel::Context& context,
                                                const kernel::Known& target) {
  return remembered(exact_key(context, target.sum) + std::to_string(target.signs),
                    [&] { return find_sign(context, target); });
}

std::optional<std::string> StepSearch::find_zero(const kernel::Context& context,
                                                 const kernel::Sum& sum) {
  constexpr int kMostNested = 24;
  if (context.depth > kMostNested || --left_ < 0) return std::nullopt;
  Goal goal(symbols_, context, sum);
  std::string text;
  for (;;) {
    reduce(goal, text);
    if (goal.shown()) return text + "end\n";
    if (left_ < 0) break;
    if (divide_one(goal, text)) continue;
    // what misses a certificate seldom ends well, and signs take long
    if (quiet_ > 0 || !questions_.missed().empty() || !advance(goal, text)) break;
  }
  if (stuck_.empty() && !goal.products().empty())
    stuck_ = kernel::text(symbols_, goal.products().begin()->second);
  return std::nullopt;
}

}  // namespace regraft::verify
