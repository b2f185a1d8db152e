#include "verify/derivations/elaborate.h"

#include "verify/derivations/search.h"
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
    Search search(questions_);
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

  bool defined_as(const std::vector<Fact>& given, const Partial& x, const Partial& y, size_t number,
                  std::string& text) {
    if (x.atom.kind != y.atom.kind || x.atom.head != y.atom.head) return false;
    std::vector<Fact> known = facts_within(symbols_, given, x.bound, x.guard);
    kernel::Values to = values(x, y);
    Search search(questions_);
    Draft draft;
    draft.word(number);
    for (kernel::Symbol s : y.bound) draft.word(symbols_.text(to.at(s)));
    for (const Fact& g : y.guard)
      if (!search.need(known, substitute(symbols_, g, to), draft)) return false;
    if (!search.equal(known, x.atom, substitute(symbols_, y.atom, to), 0, draft)) return false;
    text += draft.text("as");
    return true;
  }

  bool is_defined(const std::vector<Fact>& given, const Partial& x,
                  const std::vector<Partial>& defined, std::string& text) {
    std::vector<Fact> known = facts_within(symbols_, given, x.bound, x.guard);
    Search search(questions_);
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
    Search search(questions_);
    std::vector<std::string> first;
    for (const auto& [v, e] : solved.sizes) {
      kernel::Poly size = questions_.kernel_poly(Poly::symbol(v)), is = questions_.kernel_poly(e);
      Draft draft;
      draft.word(symbols_.text(size));
      draft.word(symbols_.text(is));
      if (!search.need(output.given, kernel::zero(size - is), draft)) continue;
      first.push_back(draft.text("size"));
    }
    auto lines = search.zero(output.given, sum, 0, first);
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
