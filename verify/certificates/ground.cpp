#include "verify/certificates/ground.h"

#include <algorithm>

namespace regraft::verify {

using kernel::Fact;
using kernel::Kind;
using kernel::Poly;
using kernel::Symbol;

namespace {

std::vector<FactId> joined(std::vector<FactId> a, const std::vector<FactId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

void Steps::learn(Ground& known, const std::vector<FactId>& facts) const {
  for (FactId f : facts)
    (argument_.fact(f).form == Fact::Any ? known.choices : known.literals).push_back(f);
}

FactId Steps::least(Ground& known, Symbol s) const {
  auto [it, fresh] = known.least.try_emplace(s, 0);
  if (fresh) it->second = argument_.least(*known.at, s);
  return it->second;
}

std::optional<FactId> Steps::bound_of(Ground& known, Symbol s) const {
  if (symbols()[s].least) return least(known, s);
  std::optional<FactId> best;
  for (FactId f : joined(known.literals, known.shown)) {
    bool says =
        argument_.fact(f).form == Fact::NonNegative && (Poly::symbol(s) - poly(f)).is_constant();
    if (says && (!best || poly(f).constant() < poly(*best).constant())) best = f;
  }
  return best;
}

std::optional<FactId> Steps::not_negative(Ground& known, Symbol s) const {
  if (auto it = known.positive.find(s); it != known.positive.end()) return it->second;
  std::optional<FactId> from;
  if (symbols()[s].least) {
    if (*symbols()[s].least >= 0) from = least(known, s);
  } else {
    for (FactId f : joined(known.literals, known.shown)) {
      Poly more = Poly::symbol(s) - poly(f);
      bool says = more.is_constant() && more.constant() >= 0;
      if (says && argument_.fact(f).form == Fact::NonNegative) from = f;
    }
  }
  if (!from) return std::nullopt;
  int64_t more = -poly(*from).constant();
  if (more > 0) from = argument_.lin(*known.at, {{1, {*from}}, {more, {argument_.one()}}});
  known.positive[s] = *from;
  return from;
}

std::optional<FactId> Steps::plainly(Ground& known, const Poly& p) const {
  if (p.is_constant()) return p.constant() >= 0 ? std::optional(argument_.one()) : std::nullopt;
  for (FactId f : joined(known.literals, known.shown)) {
    Poly more = p - poly(f);
    if (more.is_constant() && more.constant() >= 0) return f;
  }
  std::vector<Summand> sum;
  Poly rest = p;
  while (!rest.is_constant()) {  // the largest product becomes a product of s - least
    auto term = std::max_element(
        rest.terms().begin(), rest.terms().end(),
        [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
    Summand part{term->second, {}};
    if (part.times < 0) return std::nullopt;
    Poly product(part.times);
    for (Symbol s : term->first) {
      auto bound = bound_of(known, s);
      if (!bound) return std::nullopt;
      part.facts.push_back(*bound);
      product = product * poly(part.facts.back());
    }
    rest = rest - product;
    sum.push_back(std::move(part));
  }
  if (rest.constant() < 0) return std::nullopt;
  if (sum.size() == 1 && sum[0].facts.size() == 1 && sum[0].times == 1) return sum[0].facts[0];
  return argument_.lin(*known.at, sum);
}

std::vector<Product> Steps::rows(const Ground& known) const {
  std::vector<Product> all;
  for (FactId f : joined(known.literals, known.shown)) all.push_back({f});
  all.insert(all.end(), known.products.begin(), known.products.end());
  return all;
}

std::optional<FactId> Steps::show(Ground& known, const Poly& p) const {
  if (auto f = plainly(known, p)) return f;
  if (p.is_constant()) return std::nullopt;
  std::vector<Product> all = rows(known);
  for (const auto& [s, f] : known.least) all.push_back({f});
  auto found = show_from(known, p, all, multipliers_of(known, p));
  if (found) known.shown.push_back(*found);
  return found;
}

std::vector<Product> Steps::multipliers_of(const Ground& known, const Poly& p) const {
  std::set<Symbol> of_p, beside;
  for (const auto& [m, c] : p.terms()) of_p.insert(m.begin(), m.end());
  for (FactId f : known.literals)
    for (const auto& [m, c] : poly(f).terms())
      if (std::any_of(m.begin(), m.end(), [&](Symbol s) { return of_p.count(s) > 0; }))
        beside.insert(m.begin(), m.end());
  std::vector<Product> all;
  for (const auto& [s, f] : known.least)
    if (beside.count(s)) all.push_back({f});
  return all;
}

std::optional<FactId> Steps::show_from(Ground& known, const Poly& p,
                                       const std::vector<Product>& facts,
                                       const std::vector<Product>& multipliers) const {
  size_t steps = known.at->steps.size();
  argument_.either(*known.at, Poly(-1) - p);
  Argument::Place& against = *known.at->cases[0];
  std::vector<Product> all = facts;
  all.push_back({against.assumed[0]});
  for (Product m : multipliers) {
    m.push_back(against.assumed[0]);
    all.push_back(std::move(m));
  }
  if (!close_linear(argument_, against, all)) {
    argument_.undo(*known.at, steps);
    return std::nullopt;
  }
  known.at = known.at->cases[1].get();
  return known.at->assumed[0];
}

std::optional<FactId> Steps::define(Ground& known, Symbol made) const {
  if (auto it = known.defined.find(made); it != known.defined.end()) return it->second;
  auto positive = show(known, symbols()[made].second - Poly(1));
  if (!positive) return std::nullopt;
  bool quotient = symbols()[made].kind == Kind::Quotient;
  FactId first = quotient ? argument_.quotient(*known.at, made, *positive)
                          : argument_.lookup(*known.at, made, *positive);
  known.defined[made] = first;
  return first;
}

namespace {

void collect(const Poly& p, std::set<Symbol>& found) {
  for (const auto& [m, c] : p.terms()) found.insert(m.begin(), m.end());
}
void collect(const Fact& f, std::set<Symbol>& found) {
  collect(f.poly, found);
  for (const Fact& part : f.parts) collect(part, found);
}

}  // namespace

void Steps::state(Ground& known) const {
  std::set<Symbol> found, made;
  for (FactId f : known.literals) collect(argument_.fact(f), found);
  for (FactId f : known.choices) collect(argument_.fact(f), found);
  while (!found.empty()) {
    Symbol s = *found.begin();
    found.erase(found.begin());
    if (!known.stated.insert(s).second) continue;
    if (symbols()[s].least) known.literals.push_back(least(known, s));
    if (symbols()[s].kind < Kind::Quotient) continue;
    collect(symbols()[s].first, found);
    collect(symbols()[s].second, found);
    made.insert(s);
  }
  for (Symbol s : made)
    if (auto first = define(known, s)) {
      known.literals.push_back(*first);
      known.literals.push_back(*first + 1);
    }
}

std::optional<FactId> Steps::equal(Ground& known, const Poly& p, const std::vector<Product>& facts,
                                   const std::vector<Product>& multipliers) const {
  Argument::Place* start = known.at;
  size_t steps = start->steps.size();
  auto below = show_from(known, Poly(0) - p, facts, multipliers);
  auto above = below ? show_from(known, p, facts, multipliers) : std::nullopt;
  if (above) return argument_.both(*known.at, *above, *below);
  argument_.undo(*start, steps);
  known.at = start;
  return std::nullopt;
}

}  // namespace regraft::verify
