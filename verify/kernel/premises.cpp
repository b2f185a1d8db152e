#include "verify/kernel/premises.h"

#include <algorithm>

#include "verify/kernel/certificate.h"

namespace regraft::kernel {

void need(Symbols& symbols, const List<Fact>& facts, const Fact& f, Line& line) {
  if (plain(facts, f)) return;
  List<Fact> both = facts;
  both.push_back(negated(f));
  refute(symbols, both, line);
}

void refute(Symbols& symbols, const std::vector<Fact>& facts, Line& line) {
  check_unsatisfiable(symbols, facts, line.certificate(facts));
}

std::vector<size_t> read_list(std::string_view word, size_t end) {
  std::vector<size_t> all;
  if (word == "-") return all;
  for (;;) {
    std::string_view one = word.substr(0, word.find(','));
    int64_t n = read_integer(one);
    if (n < 0 || static_cast<size_t>(n) >= end ||
        std::find(all.begin(), all.end(), static_cast<size_t>(n)) != all.end())
      throw Refused{"a list of numbers was expected"};
    all.push_back(static_cast<size_t>(n));
    if (one.size() == word.size()) return all;
    word.remove_prefix(one.size() + 1);
  }
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

Sum take_common(const Symbols& symbols, Sum& s, Line& line) {
  std::optional<Sum> y;
  for (Product& p : s.products.edit()) {
    const Product taken{{1, 1}, {}, {}, extract(p.atoms, read_list(line.word(), p.atoms.size()))};
    if (y && !same(y->products[0], taken)) throw Refused{"the factors differ"};
    y = Sum{{taken}};
    for (Symbol b : p.bound)
      if (mentions(symbols, *y, b)) throw Refused{"the factor is bound"};
  }
  if (!y) throw Refused{"there is no factor"};
  return *y;
}

Values read_values(Symbols& symbols, const std::vector<Symbol>& bound, Line& line) {
  Values values;
  for (Symbol s : bound) values[s] = symbols.read(line.word());
  return values;
}

void need_within(Symbols& symbols, const List<Fact>& facts, Range from, Range to,
                 const Values& values, Line& line) {
  const List<Fact> known = facts_within(symbols, facts, from.bound, from.guard);
  for (const Fact& g : to.guard) need(symbols, known, substitute(symbols, g, values), line);
}

void check_apart(const Symbols& symbols, Range from, Range to, const Values& values) {
  for (Symbol s : from.bound)
    if (std::find(to.bound.begin(), to.bound.end(), s) == to.bound.end())
      for (const auto& [v, e] : values)
        if (symbols.mentions(e, s)) throw Refused{"an index stands outside of its range"};
}

Values bijection(Symbols& symbols, const List<Fact>& facts, Range a, Range b, Line& line) {
  Values to = read_values(symbols, b.bound, line), back = read_values(symbols, a.bound, line);
  check_apart(symbols, b, a, to);
  check_apart(symbols, a, b, back);
  need_within(symbols, facts, a, b, to, line);
  need_within(symbols, facts, b, a, back, line);
  auto inverse = [&](Range from, const Values& there, const Values& home) {
    const List<Fact> known = facts_within(symbols, facts, from.bound, from.guard);
    for (Symbol s : from.bound)
      need(symbols, known, zero(symbols.substitute(home.at(s), there) - Poly::symbol(s)), line);
  };
  inverse(a, to, back);
  inverse(b, back, to);
  return to;
}

void check_free(const Symbols& symbols, const Atom& a, const std::vector<Symbol>& bound) {
  for (Symbol s : bound)
    if (mentions(symbols, sum_of(a), s)) throw Refused{"an index stands outside of its range"};
}

void need_reached(Symbols& symbols, const Context& context, const Atom& maximum, Line& line) {
  std::string_view name = line.word();
  if (name == "reached") {
    Values at = read_values(symbols, maximum.bound, line);
    for (const Fact& g : maximum.guard)
      need(symbols, context.facts, substitute(symbols, g, at), line);
    return;
  }
  if (name != "as" || !context.defined) throw Refused{"a reason was expected"};
  const Partial& y = (*context.defined)[line.number(context.defined->size())];
  if (y.atom.kind != Atom::Max) throw Refused{"that is no maximum"};
  Values to = read_values(symbols, y.bound, line);
  for (const Fact& g : y.guard) need(symbols, context.facts, substitute(symbols, g, to), line);
  const Atom there = substitute(symbols, y.atom, to);
  check_free(symbols, maximum, there.bound);
  Values at = read_values(symbols, maximum.bound, line);
  need_within(symbols, context.facts, {there.bound, there.guard}, {maximum.bound, maximum.guard},
              at, line);
}

void show_zero(Symbols& symbols, Context context, const Sum& sum, Lines& lines) {
  Goal(symbols, std::move(context), sum).run(lines);
}

void need_equal(Symbols& symbols, const Context& context, const Atom& a, const Atom& b, Line& line,
                Lines& lines) {
  if (a.kind != b.kind || a.head != b.head || a.positions.size() != b.positions.size() ||
      a.real != b.real || !a.argument != !b.argument)
    throw Refused{"two factors are not alike"};
  for (size_t k = 0; k < a.positions.size(); ++k)
    need(symbols, context.facts, zero(a.positions[k] - b.positions[k]), line);
  if (!a.argument || same(a, b)) return;
  if (a.kind != Atom::Max)
    return show_zero(symbols, context, difference(*a.argument, *b.argument), lines);
  Line range(lines);
  std::string_view name = range.word();
  if (name == "values") {
    range.finish();
    return show_zero(symbols, context, difference(sum_of(a), sum_of(b)), lines);
  }
  if (name != "indices") throw Refused{"indices were expected"};
  check_free(symbols, a, b.bound);
  check_free(symbols, b, a.bound);
  Values to = bijection(symbols, context.facts, {a.bound, a.guard}, {b.bound, b.guard}, range);
  range.finish();
  show_zero(symbols, within(symbols, context, a.bound, a.guard),
            difference(*a.argument, substitute(symbols, *b.argument, to)), lines);
}

Signs domain_of(Fn f) {
  switch (facts(f).domain) {
    case Domain::NotZero:
      return kNotZero;
    case Domain::NotNegative:
      return kNotNegative;
    case Domain::Positive:
      return kPositive;
    default:
      return kAnySign;
  }
}

Known domain_of(const Atom& a) {
  if (a.kind == Atom::Recip)
    return {sum_of({.kind = Atom::Number, .positions = a.positions}), kNotZero};
  if (a.kind != Atom::Apply) throw Refused{"that is no partial function"};
  return {*a.argument, domain_of(static_cast<Fn>(a.head))};
}

}  // namespace regraft::kernel
