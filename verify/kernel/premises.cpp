#include "verify/kernel/premises.h"

#include <algorithm>

namespace regraft::kernel {

void need(Symbols& symbols, const std::vector<Fact>& facts, const Fact& f, Line& line) {
  if (!plain(facts, f)) check_implied(symbols, facts, f, line.certificate());
}

void refute(Symbols& symbols, const std::vector<Fact>& facts, Line& line) {
  check_unsatisfiable(symbols, facts, line.certificate());
}

Sum difference(const Sum& a, const Sum& b) { return a + scaled(b, {-1, 1}); }

bool is_quotient(const Atom& a) {
  return a.kind == Atom::Apply && a.head == static_cast<int>(Fn::Recip);
}

const Product& only_product(const Sum& s) {
  if (s.products.size() != 1 || !s.products[0].bound.empty() || !s.products[0].guard.empty() ||
      s.products[0].coefficient.n == 0)
    throw Refused{"the argument is no single product"};
  return s.products[0];
}

Values read_values(Symbols& symbols, const std::vector<Symbol>& bound, Line& line) {
  Values values;
  for (Symbol s : bound) values[s] = symbols.read(line.word());
  return values;
}

void need_within(Symbols& symbols, const std::vector<Fact>& facts, Range from, Range to,
                 const Values& values, Line& line) {
  std::vector<Fact> known = facts_within(symbols, facts, from.bound, from.guard);
  for (const Fact& g : to.guard) need(symbols, known, substitute(symbols, g, values), line);
}

void check_apart(const Symbols& symbols, Range from, Range to, const Values& values) {
  for (Symbol s : from.bound)
    if (std::find(to.bound.begin(), to.bound.end(), s) == to.bound.end())
      for (const auto& [v, e] : values)
        if (symbols.mentions(e, s)) throw Refused{"an index stands outside of its range"};
}

Values bijection(Symbols& symbols, const std::vector<Fact>& facts, Range a, Range b, Line& line) {
  Values to = read_values(symbols, b.bound, line), back = read_values(symbols, a.bound, line);
  check_apart(symbols, b, a, to);
  check_apart(symbols, a, b, back);
  need_within(symbols, facts, a, b, to, line);
  need_within(symbols, facts, b, a, back, line);
  auto inverse = [&](Range from, const Values& there, const Values& home) {
    std::vector<Fact> known = facts_within(symbols, facts, from.bound, from.guard);
    for (Symbol s : from.bound)
      need(symbols, known, zero(symbols.substitute(home.at(s), there) - Poly::symbol(s)), line);
  };
  inverse(a, to, back);
  inverse(b, back, to);
  return to;
}

void show_zero(Symbols& symbols, std::vector<Fact> facts, const Sum& sum, int depth, Lines& lines) {
  constexpr int kMostNested = 30;
  if (depth >= kMostNested) throw Refused{"derivations are nested too deeply"};
  Goal(symbols, std::move(facts), sum, depth + 1).run(lines);
}

void need_equal(Symbols& symbols, const std::vector<Fact>& facts, const Atom& a, const Atom& b,
                int depth, Line& line, Lines& lines) {
  if (a.kind != b.kind || a.head != b.head || a.positions.size() != b.positions.size() ||
      a.reals != b.reals || !a.argument != !b.argument)
    throw Refused{"two factors are not alike"};
  for (size_t k = 0; k < a.positions.size(); ++k)
    need(symbols, facts, zero(a.positions[k] - b.positions[k]), line);
  if (!a.argument || (a.bound == b.bound && a.guard == b.guard && same(*a.argument, *b.argument)))
    return;
  if (a.kind != Atom::Max)
    return show_zero(symbols, facts, difference(*a.argument, *b.argument), depth, lines);
  Line range(lines.next());
  if (range.word() != "indices") throw Refused{"indices were expected"};
  Values to = bijection(symbols, facts, {a.bound, a.guard}, {b.bound, b.guard}, range);
  range.finish();
  show_zero(symbols, facts_within(symbols, facts, a.bound, a.guard),
            difference(*a.argument, substitute(symbols, *b.argument, to)), depth, lines);
}

}  // namespace regraft::kernel
