#include "verify/certificates/certify.h"

#include <algorithm>
#include <set>

#include "verify/certificates/farkas.h"

namespace regraft::verify {

using kernel::Fact;
using kernel::Kind;
using kernel::Monomial;
using kernel::Poly;
using kernel::Symbol;

namespace {

constexpr int kMostCases = 400;
constexpr size_t kMostProducts = 60;  // that are added at once
constexpr size_t kMostFactors = 4;    // of which the signs are told apart

/// What is known at a place of the argument. A value.
struct Known {
  Argument::Place* at;
  std::vector<FactId> literals;
  std::vector<FactId> choices;     ///< facts `any`
  std::vector<Product> products;   ///< of literals: more rows for elimination
  std::map<Symbol, FactId> least;  ///< s - its least value >= 0
};

class Search {
 public:
  Search(kernel::Symbols& symbols, const std::vector<Fact>& facts)
      : argument_(symbols, facts), symbols_(symbols) {}

  std::optional<std::string> run() {
    Known known{&argument_.root(), {}, {}, {}, {}};
    learn(known, argument_.root().assumed);
    define(known);
    if (refute(known)) return argument_.text();
    add_products(known);
    cases_ = 0;
    if (refute(known)) return argument_.text();
    cases_ = 0;
    std::vector<Poly> factors = compared_factors(known);
    if (refute_by_signs(known, factors)) return argument_.text();
    return std::nullopt;
  }

 private:
  void learn(Known& known, const std::vector<FactId>& facts) {
    for (FactId f : facts)
      (argument_.fact(f).form == Fact::Any ? known.choices : known.literals).push_back(f);
  }

  // ---- What symbols are ----

  void collect(const Poly& p, std::set<Symbol>& found) const {
    for (const auto& [m, c] : p.terms()) found.insert(m.begin(), m.end());
  }
  void collect(const Fact& f, std::set<Symbol>& found) const {
    collect(f.poly, found);
    for (const Fact& part : f.parts) collect(part, found);
  }
  /// Adds what is always true of the symbols that occur.
  void define(Known& known) {
    std::set<Symbol> found, done;
    for (FactId f : known.literals) collect(argument_.fact(f), found);
    for (FactId f : known.choices) collect(argument_.fact(f), found);
    while (!found.empty()) {
      Symbol s = *found.begin();
      found.erase(found.begin());
      if (!done.insert(s).second) continue;
      if (symbols_[s].least) {
        least(known, s);
      } else if (symbols_[s].kind >= Kind::Quotient) {
        collect(symbols_[s].first, found);
        collect(symbols_[s].second, found);
        made_.push_back(s);
      }
    }
    for (Symbol s : made_) define(known, s);
  }
  FactId least(Known& known, Symbol s) {
    auto [it, fresh] = known.least.try_emplace(s, 0);
    if (fresh) {
      it->second = argument_.least(*known.at, s);
      known.literals.push_back(it->second);
    }
    return it->second;
  }
  void define(Known& known, Symbol s) {
    const bool quotient = symbols_[s].kind == Kind::Quotient;
    auto positive = at_least(known, symbols_[s].second, 1);
    if (!positive) return;
    FactId first = quotient ? argument_.quotient(*known.at, s, *positive)
                            : argument_.lookup(*known.at, s, *positive);
    known.literals.push_back(first);
    known.literals.push_back(first + 1);
  }
  /// A fact that shows p >= k: from the least values of sizes, or a literal.
  std::optional<FactId> at_least(Known& known, const Poly& p, int64_t k) {
    if (p.is_constant()) return p.constant() >= k ? std::optional(argument_.one()) : std::nullopt;
    Poly wanted = p - Poly(k);
    for (FactId f : known.literals) {
      Poly more = wanted - argument_.fact(f).poly;
      if (more.is_constant() && more.constant() >= 0) return f;
    }
    std::vector<Summand> sum;
    Poly rest = wanted;
    while (!rest.is_constant()) {  // the largest product becomes a product of s - least
      auto term = std::max_element(
          rest.terms().begin(), rest.terms().end(),
          [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
      Summand part{term->second, {}};
      if (part.times < 0) return std::nullopt;
      Poly product(part.times);
      for (Symbol s : term->first) {
        if (!symbols_[s].least) return std::nullopt;
        part.facts.push_back(least(known, s));
        product = product * argument_.fact(part.facts.back()).poly;
      }
      rest = rest - product;
      sum.push_back(std::move(part));
    }
    if (rest.constant() < 0) return std::nullopt;
    if (sum.size() == 1 && sum[0].facts.size() == 1 && sum[0].times == 1) return sum[0].facts[0];
    return argument_.lin(*known.at, sum);
  }

  // ---- Contradictions ----

  /// Closes the place: by elimination, or case by case.
  bool refute(const Known& known) {
    if (++cases_ > kMostCases) return false;
    std::vector<Product> rows;
    for (FactId f : known.literals) rows.push_back({f});
    rows.insert(rows.end(), known.products.begin(), known.products.end());
    if (close_linear(argument_, *known.at, rows)) return true;
    if (known.choices.empty()) return false;
    auto smallest =
        std::min_element(known.choices.begin(), known.choices.end(), [&](FactId a, FactId b) {
          return argument_.fact(a).parts.size() < argument_.fact(b).parts.size();
        });
    size_t steps = known.at->steps.size();
    argument_.cases(*known.at, *smallest);
    for (auto& place : known.at->cases) {
      Known inner = known;
      inner.at = place.get();
      std::erase(inner.choices, *smallest);
      learn(inner, place->assumed);
      if (!refute(inner)) {
        argument_.undo(*known.at, steps);
        return false;
      }
    }
    return true;
  }

  // ---- Products ----

  /// The products of symbols in what is known.
  std::set<Monomial> monomials(const Known& known) const {
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
  /// Facts that a symbol is not negative.
  std::optional<FactId> sign_of(const Known& known, Symbol s) const {
    if (auto it = known.least.find(s); it != known.least.end())
      return *symbols_[s].least >= 0 ? std::optional(it->second) : std::nullopt;
    for (FactId f : known.literals) {
      const Fact& fact = argument_.fact(f);
      Poly more = Poly::symbol(s) - fact.poly;
      if (fact.form == Fact::NonNegative && more.is_constant() && more.constant() >= 0) return f;
    }
    return std::nullopt;
  }
  /// Products of facts whose product of leading symbols is m.
  void add_multiplier(const Known& known, const Monomial& m) {
    Product product;
    for (Symbol s : m) {
      auto f = sign_of(known, s);
      if (!f) return;
      product.push_back(*f);
    }
    std::pair<Monomial, Product> entry{m, product};
    if (std::find(multipliers_.begin(), multipliers_.end(), entry) == multipliers_.end())
      multipliers_.push_back(std::move(entry));
  }
  bool occurs(const Poly& p, const std::set<Monomial>& seen) const {
    return std::all_of(p.terms().begin(), p.terms().end(), [&](const auto& t) {
      return t.first.size() < 2 || seen.count(t.first) > 0;
    });
  }
  Poly poly_of(const Product& product) const {
    Poly p(1);
    for (FactId f : product) p = p * argument_.fact(f).poly;
    return p;
  }
  void add_products(Known& known) {
    seen_ = monomials(known);
    for (const Monomial& m : seen_)
      for (size_t k = 0; m.size() > 1 && k < m.size(); ++k) add_multiplier(known, without(m, k));
    for (FactId f : known.literals)
      for (const auto& [m, product] : multipliers_) add_product(known, f, product);
  }
  void add_product(Known& known, FactId f, Product product) const {
    if (known.products.size() > kMostProducts) return;
    product.push_back(f);
    if (occurs(poly_of(product), seen_)) known.products.push_back(std::move(product));
  }
  /// g of facts x * g + ..., whose sign may matter: those with quotients first.
  std::vector<Poly> compared_factors(Known& known) {
    std::vector<Poly> found;
    for (FactId f : known.literals)
      for (const auto& [m, product] : multipliers_) {
        Poly g;
        for (const auto& [n, c] : argument_.fact(f).poly.terms()) {
          Monomial rest;
          std::set_difference(n.begin(), n.end(), m.begin(), m.end(), std::back_inserter(rest));
          if (rest.empty() || rest.size() + m.size() != n.size()) continue;
          Poly term(c);
          for (Symbol s : rest) term = term * Poly::symbol(s);
          g = g + term;
        }
        bool is_known = g.is_constant() || at_least(known, g, 1) ||
                        std::find(found.begin(), found.end(), g) != found.end() ||
                        std::find(found.begin(), found.end(), Poly(0) - g) != found.end();
        if (!is_known) found.push_back(std::move(g));
      }
    std::stable_partition(found.begin(), found.end(), [&](const Poly& g) {
      std::set<Symbol> in;
      collect(g, in);
      return std::any_of(in.begin(), in.end(),
                         [&](Symbol s) { return symbols_[s].kind == Kind::Quotient; });
    });
    if (found.size() > kMostFactors) found.resize(kMostFactors);
    return found;
  }
  /// Like refute(), with each of the factors positive, zero and negative.
  bool refute_by_signs(const Known& known, const std::vector<Poly>& factors) {
    if (factors.empty()) return false;
    const std::vector<Poly> rest(factors.begin() + 1, factors.end());
    const Poly& g = factors[0];
    size_t steps = known.at->steps.size();
    auto closes = [&](Known inner) {
      if (refute(inner)) return true;
      return refute_by_signs(inner, rest);
    };
    auto inside = [&](const Known& outer, size_t k) {
      Known inner = outer;
      inner.at = outer.at->cases[k].get();
      learn(inner, inner.at->assumed);
      for (FactId f : inner.at->assumed)
        for (const auto& [m, product] : multipliers_) add_product(inner, f, product);
      return inner;
    };
    auto fail = [&] {
      argument_.undo(*known.at, steps);
      return false;
    };
    argument_.either(*known.at, g - Poly(1));
    if (!closes(inside(known, 0))) return fail();
    Known at_most = inside(known, 1);
    argument_.either(*at_most.at, Poly(-1) - g);
    if (!closes(inside(at_most, 0))) return fail();
    Known none = inside(at_most, 1);
    FactId equal = argument_.both(*none.at, none.at->assumed[0], at_most.at->assumed[0]);
    none.literals.push_back(equal);
    for (const auto& [m, product] : multipliers_) {
      Poly p(1);
      for (Symbol s : m) p = p * Poly::symbol(s);
      if (occurs(g * p, seen_)) none.literals.push_back(argument_.times(*none.at, equal, p));
    }
    return closes(none) || fail();
  }

  Argument argument_;
  kernel::Symbols& symbols_;
  std::vector<Symbol> made_;
  std::set<Monomial> seen_;
  std::vector<std::pair<Monomial, Product>> multipliers_;
  int cases_ = 0;
};

}  // namespace

std::optional<std::string> find_certificate(kernel::Symbols& symbols,
                                            const std::vector<Fact>& facts) {
  try {
    return Search(symbols, facts).run();
  } catch (const kernel::Refused&) {
    return std::nullopt;
  }
}

}  // namespace regraft::verify
