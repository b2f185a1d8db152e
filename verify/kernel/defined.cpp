#include <algorithm>

#include "verify/kernel/premises.h"

namespace regraft::kernel {
namespace {

/// Maximum x is of something, or nowhere.
void check_reached(Symbols& symbols, const Context& context, const Partial& x, Lines& lines) {
  Line line(lines), name = line;
  if (name.word() == "nowhere") {
    line = name;
    refute(symbols, context.facts, line);
  } else {
    need_reached(symbols, context, x.atom, line);
  }
  line.finish();
}

/// x is defined for all values of its indices.
void check_defined(Symbols& symbols, const OutputClaim& claim, const Partial& x,
                   const std::vector<Partial>& defined, Lines& lines) {
  Context context = within(symbols, {claim.given, claim.known, &defined, 0}, x.bound, x.guard);
  if (x.atom.kind == Atom::Max) return check_reached(symbols, context, x, lines);
  Goal(symbols, std::move(context), {}, domain_of(x.atom)).run(lines);
}

void check_needed(Symbols& symbols, const std::vector<Fact>& given, const std::vector<Fact>& needed,
                  Lines& lines) {
  if (needed.empty()) return;
  Line line(lines);
  if (line.word() != "needed") throw Refused{"what is needed was expected"};
  for (const Fact& f : needed) need(symbols, given, f, line);
  line.finish();
}

/// size S E: symbol S is E.
OutputClaim check_sizes(Symbols& symbols, const OutputClaim& claim, Lines& lines) {
  Values values;
  for (;;) {
    Lines rest = lines;
    Line line(rest);
    if (line.word() != "size") return replaced(symbols, claim, values);
    lines = rest;
    const auto s = symbol_of(symbols.read(line.word()));
    const Poly value = symbols.read(line.word());
    if (!s) throw Refused{"no symbol"};
    need(symbols, claim.given, zero(Poly::symbol(*s) - value), line);
    line.finish();
    then_replace(symbols, values, *s, value);
  }
}

}  // namespace

void then_replace(Symbols& symbols, Values& values, Symbol s, const Poly& value) {
  for (auto& [symbol, before] : values) before = symbols.substitute(before, {{s, value}});
  values.try_emplace(s, value);
}

OutputClaim replaced(Symbols& symbols, OutputClaim claim, const Values& values) {
  if (values.empty()) return claim;
  for (Unfolded* side : {&claim.left, &claim.right}) {
    side->sum = substitute(symbols, side->sum, values);
    for (Partial& x : side->partial) {
      const Product all{{1, 1}, x.bound, x.guard, {x.atom}};
      const Product r = substitute(symbols, Sum{{all}}, values).products[0];
      x = {r.atoms[0], r.bound, r.guard};
    }
  }
  for (Known& k : claim.known.edit()) k.sum = substitute(symbols, k.sum, values);
  return claim;
}

void check(Symbols& symbols, const OutputClaim& given, Lines& lines) {
  check_needed(symbols, given.given, given.needed, lines);
  const OutputClaim claim = check_sizes(symbols, given, lines);
  std::vector<Partial> defined = claim.left.partial;
  for (const Partial& x : claim.right.partial) {
    check_defined(symbols, claim, x, defined, lines);
    defined.push_back(x);
  }
  show_zero(symbols, {claim.given, claim.known, &defined, 0},
            difference(claim.left.sum, claim.right.sum), lines);
}

void check(Symbols& symbols, const Claim& claim, std::string_view derivation,
           Certificates* instead) {
  Lines lines(derivation, instead);
  check_needed(symbols, claim.given, claim.needed, lines);
  for (const OutputClaim& output : claim.outputs) check(symbols, output, lines);
  if (!lines.empty()) throw Refused{"the derivation goes on after its end"};
}

}  // namespace regraft::kernel
