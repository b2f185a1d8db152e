#include "verify/derivations/questions.h"

#include "verify/certificates/certify.h"
#include "verify/derivations/keys.h"
#include "verify/kernel/derivation.h"

#include <algorithm>
#include <utility>

namespace regraft::verify {

using kernel::Fact;

Var Questions::symbol(kernel::Symbol s) {
  if (leaves_ != translation_.leaves().size()) {
    for (const auto& [v, k] : translation_.leaves()) known_.try_emplace(k, v);
    leaves_ = translation_.leaves().size();
  }
  if (auto it = known_.find(s); it != known_.end()) return it->second;
  Var v = pool_.fresh(symbols()[s].name, SymbolKind::Bound);
  translation_.bind(v, s);
  return known_[s] = v;
}

Poly Questions::poly(const kernel::Poly& p) {
  Poly r;
  for (const auto& [m, c] : p.terms()) {
    Poly x(c);
    for (kernel::Symbol s : m) {
      const kernel::SymbolData data = symbols()[s];
      if (data.kind == kernel::Kind::Quotient) {
        const Poly by = poly(data.second);
        const bool undefined = by.is_constant() && by.constant() < 1;  // it may be any integer
        x = x * (undefined ? Poly::symbol(symbol(s)) : pool_.floordiv(poly(data.first), by));
      } else if (data.kind == kernel::Kind::Lookup) {
        std::vector<Poly> entries;
        for (const kernel::Poly& e : symbols().entries(data.table)) entries.push_back(poly(e));
        x = x * pool_.lookup(pool_.table(entries), poly(data.first), poly(data.second));
      } else {
        x = x * Poly::symbol(symbol(s));
      }
    }
    r = r + x;
  }
  return r;
}

Formula Questions::formula(const Fact& f) {
  auto [it, fresh] = formulas_.try_emplace(exact_key({f}));
  if (fresh) it->second = said(f);
  return it->second;
}

Formula Questions::said(const Fact& f) {
  if (f.form == Fact::NonNegative) return non_negative(poly(f.poly));
  if (f.form == Fact::Zero) return is_zero(poly(f.poly));
  std::vector<Formula> parts;
  for (const Fact& part : f.parts) parts.push_back(said(part));
  return junction(f.form == Fact::All ? Formula::And : Formula::Or, std::move(parts));
}

Conjunction Questions::conjunction(const std::vector<Fact>& facts) {
  Conjunction all;
  for (const Fact& f : facts) add(all, formula(f));
  return all;
}

Atom Questions::atom(const kernel::Atom& a) {
  static constexpr Atom::Kind kKinds[] = {Atom::Read,  Atom::Recip, Atom::Number,
                                          Atom::Apply, Atom::Max,   Atom::Opaque};
  Atom r;
  r.kind = kKinds[a.kind];
  r.head = a.head;
  for (const kernel::Poly& p : a.positions) r.positions.push_back(poly(p));
  for (kernel::Symbol s : a.bound) r.bound.push_back(symbol(s));
  r.guard = conjunction(a.guard);
  if (a.argument) r.argument = std::make_shared<Sum>(sum(*a.argument));
  return r;
}

Sum Questions::sum(const kernel::Sum& s) {
  Sum r;
  for (const kernel::Product& p : s.products) {
    Product q;
    q.coefficient = Rational::make(p.coefficient.n, p.coefficient.d);
    for (kernel::Symbol b : p.bound) q.bound.push_back(symbol(b));
    q.guard = conjunction(p.guard);
    for (const kernel::Atom& a : p.atoms) q.atoms.push_back(atom(a));
    r.products.push_back(std::move(q));
  }
  return r;
}

const std::optional<std::string>& Questions::seek(Answer& a, const std::vector<Fact>& facts) {
  if (std::exchange(a.sought, true)) return a.certificate;
  a.certificate = find_certificate(symbols(), facts);
  if (!a.certificate)
    for (const Fact& f : facts) missed_ += kernel::text(symbols(), f) + "\n";
  return a.certificate;
}

Questions::Answer& Questions::answer(const std::vector<Fact>& facts) {
  if (--left_ < 0) throw OutOfBudget{"questions about sizes"};
  Answer& a = answers_[exact_key(facts)];
  if (a.refuted) return a;
  const auto outcome = solver_.outcome(conjunction(facts));
  a.refuted = outcome == ArithmeticSolver::Outcome::Refuted ||
              (outcome == ArithmeticSolver::Outcome::Undecided && seek(a, facts));
  return a;
}

bool Questions::says_refuted(const std::vector<Fact>& facts) {
  return !given_up() && *answer(facts).refuted;
}

bool Questions::says_implied(const std::vector<Fact>& facts, const Fact& f) {
  if (kernel::plain(facts, f)) return true;
  if (f.form == Fact::All)
    return std::ranges::all_of(f.parts, [&](const Fact& x) { return says_implied(facts, x); });
  std::vector<Fact> both = facts;
  both.push_back(negated(f));
  return says_refuted(both);
}

std::optional<std::string> Questions::refuted(const std::vector<Fact>& facts) {
  if (given_up()) return std::nullopt;
  Answer& a = answer(facts);
  return *a.refuted ? seek(a, facts) : std::nullopt;
}

std::optional<std::string> Questions::readily_refuted(const std::vector<Fact>& facts) {
  std::string key;
  for (const Fact& f : facts) key += kernel::text(symbols(), f) + "\n";
  auto it = found_->find(key);
  if (it == found_->end())
    it = found_
             ->emplace(std::move(key), solver_.satisfied(conjunction(facts))
                                           ? std::nullopt
                                           : find_certificate(symbols(), facts, Effort::Settled))
             .first;
  return it->second;
}

std::optional<std::string> Questions::as_said(const std::vector<Fact>& facts, const Fact& f) const {
  if (f.form != Fact::Zero) return std::nullopt;
  kernel::List<Fact> parts;
  const bool nested = std::ranges::any_of(facts, [](auto& x) { return x.form == Fact::All; });
  for (const Fact& x : facts)
    if (nested) append(parts, x);
  const std::vector<Fact>& all = nested ? parts.all() : facts;  // certificates number them from 1
  const kernel::Poly negative = kernel::Poly(0) - f.poly;
  auto at = [&](Fact::Form form, const kernel::Poly& p) {
    auto it =
        std::ranges::find_if(all, [&](const Fact& x) { return x.form == form && x.poly == p; });
    return it == all.end() ? std::string() : std::to_string(it - all.begin() + 1);
  };
  // f's negation is two cases: p - 1 is not negative, which needs -p; and -p - 1, which needs p
  std::string above = at(Fact::NonNegative, f.poly), below = at(Fact::NonNegative, negative);
  if (std::string same = at(Fact::Zero, f.poly); !same.empty())
    above = same, below = "-1:" + same;
  else if (std::string turned = at(Fact::Zero, negative); !turned.empty())
    above = "-1:" + turned, below = turned;
  if (above.empty() || below.empty()) return std::nullopt;
  const std::string last = " " + std::to_string(all.size() + 2);
  return "cases " + std::to_string(all.size() + 1) + ";lin " + below + last + ";lin " + above +
         last;
}

std::optional<std::string> Questions::certified(std::vector<Fact> facts, const Fact& f) {
  if (kernel::plain(facts, f)) return "";
  if (auto same = as_said(facts, f)) return same;
  facts.push_back(negated(f));
  return find_certificate(symbols(), facts);
}

std::optional<std::string> Questions::implied(const std::vector<Fact>& facts, const Fact& f) {
  if (kernel::plain(facts, f)) return "";
  if (auto same = as_said(facts, f)) return same;
  std::vector<Fact> both = facts;
  both.push_back(negated(f));
  return refuted(both);
}

}  // namespace regraft::verify
