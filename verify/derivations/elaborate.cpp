#include "verify/derivations/elaborate.h"

#include "verify/derivations/pairing.h"
#include "verify/normal/unify.h"
#include "verify/prove/prover.h"

namespace regraft::verify {
namespace {

using kernel::Fact;
using kernel::Partial;

class Elaborator {
 public:
  Elaborator(Questions& questions) : questions_(questions), symbols_(questions.symbols()) {}

  std::optional<std::string> claim(const kernel::Claim& claim) {
    std::string text;
    if (!needed(claim.given, claim.needed, text)) return std::nullopt;
    for (const kernel::OutputClaim& output : claim.outputs) {
      if (!needed(output.given, output.needed, text)) return std::nullopt;
      std::vector<Partial> defined = output.left.partial;
      for (const Partial& x : output.right.partial) {
        if (!is_defined(output.given, x, defined, text)) return std::nullopt;
        defined.push_back(x);
      }
      if (!equal(output, text)) return std::nullopt;
    }
    return text;
  }
  std::string missing;

 private:
  bool needed(const std::vector<Fact>& given, const std::vector<Fact>& facts, std::string& text) {
    if (facts.empty()) return true;
    StepSearch search(questions_);
    Draft draft;
    for (const Fact& f : facts)
      if (!search.need(given, f, draft)) {
        missing = "needed: " + kernel::text(symbols_, f);
        return false;
      }
    text += draft.text("needed");
    return true;
  }

  /// Values of y's indices over x's by which y's factor may be x's.
  kernel::Values values(const Partial& x, const Partial& y) {
    Atom a = questions_.atom(x.atom), b = questions_.atom(y.atom);
    Substitution fresh;
    std::vector<Var> unknown;
    for (kernel::Symbol s : y.bound) {
      Var v = questions_.symbol(s);
      unknown.push_back(v->pool->fresh(v->name, SymbolKind::Bound));
      fresh[v] = Poly::symbol(unknown.back());
    }
    std::vector<Poly> all = equations(a, substitute(b, fresh), 0);
    Substitution found = solve(all, unknown);
    kernel::Values values;
    for (size_t k = 0; k < unknown.size(); ++k) {
      Poly e = found.count(unknown[k])            ? found.at(unknown[k])
               : x.bound.size() == y.bound.size() ? Poly::symbol(questions_.symbol(x.bound[k]))
                                                  : Poly(0);
      if (mentions_one_of({{unknown[k], e}}, unknown)) e = Poly(0);
      values[y.bound[k]] = questions_.kernel_poly(e);
    }
    return values;
  }

  /// Where maximum b is of something, a is: the same element, in order of the indices.
  bool reached_as(const std::vector<Fact>& known, const kernel::Atom& a, const kernel::Atom& b,
                  Draft& draft) {
    StepSearch search(questions_);
    bool found = false;
    auto accept = [&](const Maps& maps) {
      Draft more = draft;
      for (kernel::Symbol s : a.bound) more.word(symbols_.text(maps.back.at(s)));
      std::vector<Fact> inner = facts_within(symbols_, known, b.bound, b.guard);
      for (const Fact& g : a.guard)
        if (!search.need(inner, substitute(symbols_, g, maps.back), more)) return false;
      draft = std::move(more);
      return found = true;
    };
    kernel::Atom one = a, other = b;
    one.bound.clear();
    other.bound.clear();
    Pairing pairing(search, {a.bound, a.guard}, {b.bound, b.guard});
    if (!pairing.along({one}, {other}, {0}, accept)) pairing.along({}, {}, {}, accept);
    return found;
  }

  bool defined_as(const std::vector<Fact>& given, const Partial& x, const Partial& y, size_t number,
                  std::string& text) {
    if (x.atom.kind != y.atom.kind || x.atom.head != y.atom.head) return false;
    std::vector<Fact> known = facts_within(symbols_, given, x.bound, x.guard);
    kernel::Values to = values(x, y);
    StepSearch search(questions_);
    Draft draft;
    draft.word(number);
    for (kernel::Symbol s : y.bound) draft.word(symbols_.text(to.at(s)));
    for (const Fact& g : y.guard)
      if (!search.need(known, substitute(symbols_, g, to), draft)) return false;
    const kernel::Atom there = substitute(symbols_, y.atom, to);
    bool found = x.atom.kind == kernel::Atom::Max ? reached_as(known, x.atom, there, draft)
                                                  : search.equal(known, x.atom, there, 0, draft);
    if (found) text += draft.text("as");
    return found;
  }

  static bool is_quotient(const kernel::Atom& a) {
    return a.kind == kernel::Atom::Apply && a.head == static_cast<int>(Fn::Recip);
  }
  static bool is_product(const kernel::Sum& s) {
    return s.products.size() == 1 && s.products[0].bound.empty() && s.products[0].guard.empty();
  }
  /// Words that name quotient y at x's indices, and certificates for its guard.
  bool at_values(const std::vector<Fact>& known, const Partial& y, size_t number,
                 const kernel::Values& to, Draft& draft) {
    StepSearch search(questions_);
    draft.word(number);
    for (kernel::Symbol s : y.bound) draft.word(symbols_.text(to.at(s)));
    for (const Fact& g : y.guard)
      if (!search.need(known, substitute(symbols_, g, to), draft)) return false;
    return true;
  }

  /// Each factor of what x is 1 over is one of what a quotient that is defined is 1 over.
  bool by_factors(const std::vector<Fact>& known, const Partial& x,
                  const std::vector<Partial>& defined, std::string& text) {
    if (!is_product(*x.atom.argument)) return false;
    Draft draft;
    for (const kernel::Atom& a : x.atom.argument->products[0].atoms)
      if (!factor_of_one(known, x, a, defined, draft)) return false;
    text += draft.text("factors");
    return true;
  }
  bool factor_of_one(const std::vector<Fact>& known, const Partial& x, const kernel::Atom& a,
                     const std::vector<Partial>& defined, Draft& draft) {
    StepSearch search(questions_);
    for (size_t n = 0; n < defined.size(); ++n) {
      const Partial& y = defined[n];
      if (!is_quotient(y.atom) || !is_product(*y.atom.argument)) continue;
      const std::vector<kernel::Atom>& atoms = y.atom.argument->products[0].atoms;
      for (size_t k = 0; k < atoms.size(); ++k) {
        if (atoms[k].kind != a.kind || atoms[k].head != a.head) continue;
        kernel::Values to = values({a, x.bound, x.guard}, {atoms[k], y.bound, y.guard});
        Draft more = draft;
        if (!at_values(known, y, n, to, more)) continue;
        more.word(k);
        if (!search.equal(known, a, substitute(symbols_, atoms[k], to), 0, more)) continue;
        draft = std::move(more);
        return true;
      }
    }
    return false;
  }

  bool by_multiple(const std::vector<Fact>& known, const Partial& x,
                   const std::vector<Partial>& defined, std::string& text) {
    const auto& parts = x.atom.argument->products;
    for (size_t n = 0; n < defined.size() && !parts.empty(); ++n) {
      const Partial& y = defined[n];
      if (!is_quotient(y.atom) || y.atom.argument->products.size() != parts.size()) continue;
      kernel::Values to = values(x, y);
      Draft draft;
      if (!at_values(known, y, n, to, draft)) continue;
      kernel::Sum other = substitute(symbols_, *y.atom.argument, to);
      kernel::Fraction c = parts[0].coefficient, of = other.products[0].coefficient;
      for (int64_t sign : {1, -1}) {
        kernel::Fraction times = c * kernel::Fraction::make(sign * of.d, of.n);
        StepSearch search(questions_);
        auto lines = search.zero(
            known, *x.atom.argument + kernel::scaled(other, kernel::Fraction{-1, 1} * times));
        if (!lines) continue;
        draft.word(std::to_string(times.n));
        draft.word(std::to_string(times.d));
        text += draft.text("multiple") + *lines;
        return true;
      }
    }
    return false;
  }

  bool is_defined(const std::vector<Fact>& given, const Partial& x,
                  const std::vector<Partial>& defined, std::string& text) {
    std::vector<Fact> known = facts_within(symbols_, given, x.bound, x.guard);
    StepSearch search(questions_);
    if (x.atom.kind == kernel::Atom::Recip) {
      Draft draft;
      if (search.need(known, kernel::non_negative(x.atom.positions[0] - kernel::Poly(1)), draft)) {
        text += draft.text("positive");
        return true;
      }
    }
    if (x.atom.kind == kernel::Atom::Max) {
      Draft draft;
      kernel::Values at;
      for (kernel::Symbol s : x.atom.bound) {
        at[s] = kernel::Poly(0);
        draft.word(size_t{0});
      }
      bool reached = true;
      for (const Fact& g : x.atom.guard)
        reached = reached && search.need(known, substitute(symbols_, g, at), draft);
      if (reached) {
        text += draft.text("reached");
        return true;
      }
    }
    for (size_t k = 0; k < defined.size(); ++k)
      if (defined_as(given, x, defined[k], k, text)) return true;
    if (is_quotient(x.atom) &&
        (by_factors(known, x, defined, text) || by_multiple(known, x, defined, text)))
      return true;
    if (auto certificate = questions_.refuted(known)) {
      text += "nowhere|" + *certificate + "\n";
      return true;
    }
    kernel::Product p;
    p.atoms.push_back(x.atom);
    missing = "defined: " + kernel::text(symbols_, p);
    return false;
  }

  /// Equal sizes become one symbol.
  bool equal(const kernel::OutputClaim& output, std::string& text) {
    kernel::Sum sum = output.left.sum + kernel::scaled(output.right.sum, {-1, 1});
    SolvedDomain solved = solve_sizes(questions_.conjunction(output.given));
    StepSearch search(questions_);
    std::vector<std::string> first;
    for (const auto& [v, e] : solved.sizes) {
      kernel::Poly size = questions_.kernel_poly(Poly::symbol(v)), is = questions_.kernel_poly(e);
      Draft draft;
      draft.word(symbols_.text(size));
      draft.word(symbols_.text(is));
      if (!search.need(output.given, kernel::zero(size - is), draft)) continue;
      first.push_back(draft.text("size"));
    }
    auto lines = search.zero(output.given, sum, 0, first, output.left.partial);
    if (lines) text += *lines;
    if (!lines) missing = "left: " + search.stuck();
    return lines.has_value();
  }

  Questions& questions_;
  kernel::Symbols& symbols_;
};

}  // namespace

Elaboration elaborate(const RuleInstance& instance) {
  Limits limits;
  Budget budget(limits, nullptr);
  ArithmeticSolver solver(budget);
  kernel::Symbols symbols;
  kernel::Translation translation(symbols);
  Elaboration r;
  try {
    kernel::Claim claim = claim_of(translation, instance);
    Questions questions(translation, instance.lhs.pool(), solver);
    Elaborator elaborator(questions);
    r.derivation = elaborator.claim(claim);
    r.missing = elaborator.missing;
    if (!r.derivation && !questions.missed().empty())
      r.missing = "certificate: " + questions.missed();
  } catch (const kernel::Refused& refused) {
    r.missing = "refused: " + refused.why;
  } catch (const OutOfBudget& e) {
    r.missing = std::string("budget: ") + e.what;
  } catch (const PolyOverflow&) {
    r.missing = "integers too large";
  }
  if (!r.derivation) return r;
  kernel::Symbols fresh;
  kernel::Translation again(fresh);
  try {
    check(fresh, claim_of(again, instance), *r.derivation);
  } catch (const kernel::Refused& refused) {
    r.missing = "the kernel refuses: " + refused.why;
    r.derivation.reset();
  }
  return r;
}

}  // namespace regraft::verify
