#include "verify/certificates/certify.h"

#include <algorithm>
#include <set>

#include "verify/certificates/rewriting.h"

namespace regraft::verify {

using kernel::Fact;
using kernel::Kind;
using kernel::Monomial;
using kernel::Poly;
using kernel::Symbol;

namespace {

constexpr int kMostCases = 400;
constexpr int kMostBounded = 30;      // cases in which bounds of quotients are looked for
constexpr int kMostBounds = 40;       // that are looked for, of quotients from below or above
constexpr int kMostRounds = 2;        // in which bounds and products help each other
constexpr size_t kMostProducts = 60;  // that are added at once
constexpr size_t kMostFactors = 4;    // of which the signs are told apart

/// Facts whose product says that a product of symbols is not negative.
struct Multiplier {
  Monomial of;
  Product facts;
  Poly poly;  ///< their product
  size_t degree;
};

class Search {
 public:
  Search(kernel::Symbols& symbols, const std::vector<Fact>& facts)
      : argument_(symbols, facts), symbols_(symbols) {}

  /// By elimination, with products, with the signs of factors.
  std::optional<std::string> run(Effort effort) {
    effort_ = effort;
    Ground known;
    known.at = &argument_.root();
    steps_.learn(known, argument_.root().assumed);
    if (effort_ == Effort::Wide) rewriting_.replace = Rewriting::Replace::Quotients;
    if (effort_ != Effort::Plain) rewriting_.settle(known);
    if (known.at->closed) return argument_.text();
    steps_.state(known);
    if (effort_ != Effort::Wide && refute(known)) return argument_.text();
    products_ = true;
    for (int round = 0; round < (effort_ == Effort::Wide ? kMostRounds : 1); ++round) {
      known.bounded.clear();
      if (effort_ == Effort::Wide) bound_quotients(known);
      add_products(known);
      cases_ = 0;
      if (refute(known)) return argument_.text();
    }
    if (effort_ == Effort::Plain) return std::nullopt;
    cases_ = 0;
    std::vector<Poly> factors = compared_factors(known);
    if (refute_by_signs(known, factors)) return argument_.text();
    return std::nullopt;
  }

 private:
  /// Closes the place: by elimination, or case by case. Otherwise leaves it as it was.
  bool refute(Ground known) {
    if (++cases_ > (effort_ == Effort::Wide ? 4 : 1) * kMostCases) return false;
    if (known.at->closed || close_linear(argument_, *known.at, steps_.rows(known))) return true;
    if (known.choices.empty()) return false;
    auto smallest =
        *std::min_element(known.choices.begin(), known.choices.end(), [&](FactId a, FactId b) {
          return argument_.fact(a).parts.size() < argument_.fact(b).parts.size();
        });
    std::erase(known.choices, smallest);
    Argument::Place& start = *known.at;
    size_t steps = start.steps.size();
    argument_.cases(start, smallest);
    for (auto& place : start.cases)
      if (!refute(inside(known, *place))) {
        argument_.undo(start, steps);
        return false;
      }
    return true;
  }
  /// What is known in a case.
  Ground inside(const Ground& known, Argument::Place& place) {
    Ground inner = known;
    inner.at = &place;
    std::vector<FactId> before = std::move(inner.literals);
    const size_t old = before.size(), shown = inner.shown.size();
    inner.literals.clear();
    steps_.learn(inner, place.assumed);
    std::vector<FactId> fresh = inner.literals;
    inner.literals.insert(inner.literals.begin(), before.begin(), before.end());
    if (effort_ != Effort::Plain) {
      std::vector<FactId> now = fresh;
      rewriting_.rewrite(inner, now);
      before.insert(before.end(), now.begin(), now.end());
      if (effort_ == Effort::Wide) before.insert(before.end(), fresh.begin(), fresh.end());
      inner.literals = std::move(before);
    }
    if (inner.at->closed) return inner;
    steps_.state(inner);
    if (products_ && effort_ == Effort::Wide && cases_ < kMostBounded) bound_quotients(inner);
    const size_t limit = inner.products.size() + kMostProducts;
    for (size_t k = shown; products_ && k < inner.shown.size(); ++k)
      for (const Multiplier& by : multipliers_) add_product(inner, inner.shown[k], by, limit);
    for (size_t k = old; products_ && k < inner.literals.size(); ++k)
      for (const Multiplier& by : multipliers_) add_product(inner, inner.literals[k], by, limit);
    return inner;
  }

  /// Learns small numbers between which quotients lie, where the denominator is no number, or where
  /// the quotient is a factor.
  void bound_quotients(Ground& known) {
    const auto defined = known.defined;
    const std::set<Monomial> all = monomials(known);
    auto is_factor = [&](Symbol q) {
      return std::ranges::any_of(all, [&](const Monomial& m) {
        return m.size() > 1 && std::ranges::find(m, q) != m.end();
      });
    };
    for (const auto& [quotient, first] : defined) {
      const Symbol q = quotient;  // clang 14 captures no structured binding
      const kernel::SymbolData data = symbols_[q];
      if (data.kind != Kind::Quotient || (data.second.is_constant() && !is_factor(q))) continue;
      if (!known.bounded.insert(q).second) continue;
      auto positive = steps_.plainly(known, data.second - Poly(1));
      if (!positive) continue;
      auto rows = steps_.rows(known);
      for (FactId f : {first, first + 1}) rows.push_back({f});
      auto at_least = [&](int64_t sign, int64_t least) {
        auto found = steps_.show_from(known, Poly(sign) * Poly::symbol(q) - Poly(least), rows,
                                      {{*positive}});
        if (found) known.shown.push_back(*found);
        return found.has_value();
      };
      for (int64_t sign : {1, -1}) {
        if (++bounds_ > kMostBounds) return;
        if (!at_least(sign, -2)) continue;  // and so no larger number is shown
        for (int64_t least : {1, 0, -1})
          if (at_least(sign, least)) break;
      }
    }
  }

  // ---- Products ----

  /// The products of symbols in what is known.
  std::set<Monomial> monomials(const Ground& known) const {
    std::set<Monomial> found;
    auto add = [&](const Fact& f, auto& self) -> void {
      for (const auto& [m, c] : f.poly.terms()) found.insert(m);
      for (const Fact& part : f.parts) self(part, self);
    };
    for (FactId f : known.literals) add(argument_.fact(f), add);
    for (FactId f : known.choices) add(argument_.fact(f), add);
    return found;
  }
  static Monomial without(Monomial m, size_t k) {
    m.erase(m.begin() + static_cast<std::ptrdiff_t>(k));
    return m;
  }
  /// Facts whose product says that m is not negative; of a size alone what it is above its least.
  void add_multiplier(Ground& known, const Monomial& m) {
    Product product;
    bool size = m.size() == 1 && symbols_[m[0]].least.value_or(-1) >= 0;
    for (Symbol s : m) {
      auto f = size ? std::optional(steps_.least(known, s)) : steps_.not_negative(known, s);
      if (!f) return;
      product.push_back(*f);
    }
    const bool there = std::ranges::any_of(
        multipliers_, [&](const Multiplier& x) { return x.of == m && x.facts == product; });
    if (there) return;
    Poly p(1);
    for (FactId f : product) p = p * argument_.fact(f).poly;
    multipliers_.push_back({m, std::move(product), p, degree(p)});
  }
  /// Its products of symbols occur in what is known; all but one, where we look hard.
  bool occurs(const Poly& p) const {
    size_t others = 0;
    for (const auto& [m, c] : p.terms()) {
      if (m.size() > most_factors_) return false;
      if (m.size() > 1 && seen_.count(m) == 0) ++others;
    }
    return others <= (effort_ == Effort::Wide ? 1 : 0);
  }
  static size_t degree(const Poly& p) {
    size_t most = 0;
    for (const auto& [m, c] : p.terms()) most = std::max(most, m.size());
    return most;
  }
  void add_products(Ground& known) {
    known.products.clear();
    seen_ = monomials(known);
    for (const Monomial& m : seen_) most_factors_ = std::max(most_factors_, m.size());
    for (size_t factors = most_factors_; effort_ == Effort::Wide && factors > 2; --factors)
      for (const Monomial& m : std::set<Monomial>(seen_))
        for (size_t k = 0; m.size() == factors && k < m.size(); ++k) seen_.insert(without(m, k));
    for (const Monomial& m : seen_)
      for (size_t k = 0; m.size() > 1 && k < m.size(); ++k) add_multiplier(known, without(m, k));
    for (const auto* facts : {&known.shown, &known.literals})
      for (FactId f : *facts)
        for (const Multiplier& by : multipliers_)
          add_product(known, f, by, (effort_ == Effort::Wide ? 4 : 1) * kMostProducts);
  }
  void add_product(Ground& known, FactId f, const Multiplier& by, size_t limit) const {
    if (known.products.size() > limit) return;
    const Poly& p = argument_.fact(f).poly;
    if (degree(p) + by.degree > most_factors_ || !occurs(by.poly * p)) return;
    known.products.push_back(by.facts);
    known.products.back().push_back(f);
  }
  /// g of facts x * g + ..., whose sign may matter: those with quotients first.
  std::vector<Poly> compared_factors(Ground& known) {
    std::vector<Poly> found;
    for (FactId f : known.literals)
      for (const Multiplier& by : multipliers_) {
        Poly g;
        for (const auto& [n, c] : argument_.fact(f).poly.terms()) {
          Monomial rest;
          std::set_difference(n.begin(), n.end(), by.of.begin(), by.of.end(),
                              std::back_inserter(rest));
          if (rest.empty() || rest.size() + by.of.size() != n.size()) continue;
          Poly term(c);
          for (Symbol s : rest) term = term * Poly::symbol(s);
          g = g + term;
        }
        bool is_known = g.is_constant() || steps_.plainly(known, g - Poly(1)) ||
                        std::find(found.begin(), found.end(), g) != found.end() ||
                        std::find(found.begin(), found.end(), Poly(0) - g) != found.end();
        if (!is_known) found.push_back(std::move(g));
      }
    std::stable_partition(found.begin(), found.end(), [&](const Poly& g) {
      for (const auto& [m, c] : g.terms())
        for (Symbol s : m)
          if (symbols_[s].kind == Kind::Quotient) return true;
      return false;
    });
    if (found.size() > kMostFactors) found.resize(kMostFactors);
    return found;
  }
  /// Like refute(), with each of the factors positive, zero and negative.
  bool refute_by_signs(const Ground& known, const std::vector<Poly>& factors) {
    if (factors.empty()) return false;
    const std::vector<Poly> rest(factors.begin() + 1, factors.end());
    const Poly& g = factors[0];
    size_t steps = known.at->steps.size();
    auto closes = [&](Ground inner) {
      if (refute(inner)) return true;
      return refute_by_signs(inner, rest);
    };
    auto fail = [&] {
      argument_.undo(*known.at, steps);
      return false;
    };
    argument_.either(*known.at, g - Poly(1));
    if (!closes(inside(known, *known.at->cases[0]))) return fail();
    Ground at_most = inside(known, *known.at->cases[1]);
    FactId not_above = known.at->cases[1]->assumed[0];
    argument_.either(*at_most.at, Poly(-1) - g);
    FactId not_below = at_most.at->cases[1]->assumed[0];
    if (!closes(inside(at_most, *at_most.at->cases[0]))) return fail();
    Ground none = inside(at_most, *at_most.at->cases[1]);
    if (none.at->closed) return true;
    FactId equal = argument_.both(*none.at, not_below, not_above);
    none.literals.push_back(equal);
    for (const Multiplier& by : multipliers_) {
      Poly p(1);
      for (Symbol s : by.of) p = p * Poly::symbol(s);
      if (occurs(g * p)) none.literals.push_back(argument_.times(*none.at, equal, p));
    }
    return closes(none) || fail();
  }

  Argument argument_;
  kernel::Symbols& symbols_;
  Steps steps_{argument_};
  Rewriting rewriting_{steps_};
  Effort effort_ = Effort::Plain;
  std::set<Monomial> seen_;
  size_t most_factors_ = 1;
  std::vector<Multiplier> multipliers_;
  bool products_ = false;  ///< facts of cases are multiplied as well
  int cases_ = 0, bounds_ = 0;
};

}  // namespace

std::optional<std::string> find_certificate(kernel::Symbols& symbols,
                                            const std::vector<Fact>& facts, Effort most) {
  for (Effort e : {Effort::Plain, Effort::Settled, Effort::Wide}) try {
      if (e > most) break;
      if (auto found = Search(symbols, facts).run(e)) return found;
    } catch (const kernel::Refused&) {
      continue;  // numbers too large that way
    }
  return std::nullopt;
}

}  // namespace regraft::verify
