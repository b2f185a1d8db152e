#include <algorithm>

#include "verify/kernel/premises.h"

namespace regraft::kernel {
namespace {

/// Quotient Y that is defined, at values of its indices, within `known`.
Atom read_quotient(Symbols& symbols, const std::vector<Fact>& known,
                   const std::vector<Partial>& defined, Line& line) {
  const Partial& y = defined[line.number(defined.size())];
  if (!is_quotient(y.atom)) throw Refused{"that is no quotient"};
  Values at = read_values(symbols, y.bound, line);
  for (const Fact& g : y.guard) need(symbols, known, substitute(symbols, g, at), line);
  return substitute(symbols, y.atom, at);
}

/// factors Y E ... A, for each factor of what x is 1 over: it is factor A of what Y is 1 over.
void need_factors(Symbols& symbols, const std::vector<Fact>& known, const Atom& x,
                  const std::vector<Partial>& defined, Line& line, Lines& lines) {
  for (const Atom& a : only_product(*x.argument).atoms) {
    const Atom y = read_quotient(symbols, known, defined, line);
    const std::vector<Atom>& atoms = only_product(*y.argument).atoms;
    need_equal(symbols, known, a, atoms[line.number(atoms.size())], 0, line, lines);
  }
}

/// multiple Y E ... N D: what x is 1 over is N/D times what Y is 1 over.
void need_multiple(Symbols& symbols, const std::vector<Fact>& known, const Atom& x,
                   const std::vector<Partial>& defined, Line& line, Lines& lines) {
  const Atom y = read_quotient(symbols, known, defined, line);
  int64_t n = read_integer(line.word());
  Fraction c = Fraction::make(n, read_integer(line.word()));
  if (c.n == 0) throw Refused{"a multiple by 0"};
  show_zero(symbols, known, difference(*x.argument, scaled(*y.argument, c)), 0, lines);
}

/// x is defined for all values of its indices.
void check_defined(Symbols& symbols, const std::vector<Fact>& facts, const Partial& x,
                   const std::vector<Partial>& defined, Lines& lines) {
  Line line(lines.next());
  std::string_view name = line.word();
  const std::vector<Fact> known = facts_within(symbols, facts, x.bound, x.guard);
  if (name == "nowhere") {
    refute(symbols, known, line);
  } else if (name == "as") {
    const Partial& y = defined[line.number(defined.size())];
    Values to = read_values(symbols, y.bound, line);
    need_within(symbols, facts, {x.bound, x.guard}, {y.bound, y.guard}, to, line);
    const Atom there = substitute(symbols, y.atom, to);
    if (x.atom.kind == Atom::Max && there.kind == Atom::Max) {
      Values at = read_values(symbols, x.atom.bound, line);
      need_within(symbols, known, {there.bound, there.guard}, {x.atom.bound, x.atom.guard}, at,
                  line);
    } else {
      need_equal(symbols, known, x.atom, there, 0, line, lines);
    }
  } else if (name == "factors" && is_quotient(x.atom)) {
    need_factors(symbols, known, x.atom, defined, line, lines);
  } else if (name == "multiple" && is_quotient(x.atom)) {
    need_multiple(symbols, known, x.atom, defined, line, lines);
  } else if (name == "positive" && x.atom.kind == Atom::Recip) {
    need(symbols, known, non_negative(x.atom.positions.at(0) - Poly(1)), line);
  } else if (name == "reached" && x.atom.kind == Atom::Max) {
    Values at = read_values(symbols, x.atom.bound, line);
    for (const Fact& g : x.atom.guard) need(symbols, known, substitute(symbols, g, at), line);
  } else {
    throw Refused{"there is no such reason why something is defined"};
  }
  line.finish();
}

void check_needed(Symbols& symbols, const std::vector<Fact>& given, const std::vector<Fact>& needed,
                  Lines& lines) {
  if (needed.empty()) return;
  Line line(lines.next());
  if (line.word() != "needed") throw Refused{"what is needed was expected"};
  for (const Fact& f : needed) need(symbols, given, f, line);
  line.finish();
}

}  // namespace

/// reduce P A B Y E ... F: factors x and 1/x, where x is factor F of what a quotient is 1 over
/// that is known to be defined.
void Goal::reduce(Line& line, Lines& lines) {
  size_t n = number(line);
  Product p = products_.at(n);
  size_t i = line.number(p.atoms.size()), j = line.number(p.atoms.size());
  const Atom &a = p.atoms[i], &b = p.atoms[j];
  if (!is_quotient(b)) throw Refused{"the factor is no quotient"};
  const Product& over = only_product(*b.argument);
  if (over.atoms.size() != 1 || over.coefficient != Fraction{1, 1})
    throw Refused{"the quotient is not one over a single factor"};
  const std::vector<Fact> known = within(p);
  need_equal(symbols_, known, a, over.atoms[0], depth_, line, lines);
  const Atom y = read_quotient(symbols_, known, defined_, line);
  const std::vector<Atom>& atoms = only_product(*y.argument).atoms;
  need_equal(symbols_, known, a, atoms[line.number(atoms.size())], depth_, line, lines);
  p.atoms.erase(p.atoms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
  p.atoms.erase(p.atoms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
  products_.erase(n);
  add(std::move(p));
}

void check(Symbols& symbols, const OutputClaim& claim, Lines& lines) {
  check_needed(symbols, claim.given, claim.needed, lines);
  std::vector<Partial> defined = claim.left.partial;
  for (const Partial& x : claim.right.partial) {
    check_defined(symbols, claim.given, x, defined, lines);
    defined.push_back(x);
  }
  Goal(symbols, claim.given, difference(claim.left.sum, claim.right.sum), 0, claim.left.partial)
      .run(lines);
}

void check(Symbols& symbols, const Claim& claim, std::string_view derivation) {
  Lines lines(derivation);
  check_needed(symbols, claim.given, claim.needed, lines);
  for (const OutputClaim& output : claim.outputs) check(symbols, output, lines);
  if (!lines.empty()) throw Refused{"the derivation goes on after its end"};
}

}  // namespace regraft::kernel
