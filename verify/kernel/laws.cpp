// Laws: what one or two factors are equal to. Each holds for all real numbers, functions being
// total, but for what it asks of signs.
#include <algorithm>

#include "verify/kernel/premises.h"

namespace regraft::kernel {
namespace {

/// Factors, and where they stand.
struct Place {
  Symbols& symbols;
  const Context& context;
  const std::vector<Atom>& atoms;
  Line& line;
  const Atom& atom() const { return atoms[0]; }
  const Sum& argument() const {
    if (!atom().argument) throw Refused{"the factor is no function"};
    return *atom().argument;
  }
  Fn function() const {
    if (atom().kind != Atom::Apply) throw Refused{"the factor is no function"};
    return static_cast<Fn>(atom().head);
  }
  bool maximum() const { return atom().kind == Atom::Max; }
  /// The function, or the maximum over the same range, of x.
  Sum of(Sum x) const {
    Atom a = atom();
    a.argument = std::make_shared<Sum>(std::move(x));
    return sum_of(std::move(a));
  }
  /// A maximum of something, in which x is one number.
  void need_constant(const Sum& x) const {
    for (Symbol s : atom().bound)
      if (mentions(symbols, x, s)) throw Refused{"an index stands outside of its range"};
    need_reached(symbols, context, atom(), line);
  }
  bool is(Fn f) const { return atom().kind == Atom::Apply && function() == f; }
  Sum product(const Sum& a, const Sum& b) const { return times(symbols, a, b); }
  bool has(const Sum& s, Signs signs) const {
    return within(sign_of(symbols, context.known, s), signs);
  }
  void need_signs(const Sum& s, Signs signs) const {
    if (!has(s, signs)) throw Refused{"the sign is not known"};
  }
};

Sum single(Product p) { return {{std::move(p)}}; }

[[noreturn]] void other() { throw Refused{"there is no such law of that function"}; }

/// The number that a sum is.
std::optional<Fraction> number_of(const Sum& s) {
  if (s.products.empty()) return Fraction{0, 1};
  const Product& p = s.products[0];
  bool plain = s.products.size() == 1 && p.bound.empty() && p.guard.empty() && p.atoms.empty();
  return plain ? std::optional(p.coefficient) : std::nullopt;
}

/// relu(x) = x for x >= 0, step(x) = 1 for x > 0.
Sum positive(const Place& at) {
  if (at.is(Fn::Relu)) return at.need_signs(at.argument(), kNotNegative), at.argument();
  if (!at.is(Fn::Step)) other();
  at.need_signs(at.argument(), kPositive);
  return number({1, 1});
}

/// relu(x) = 0 and step(x) = 0 for x <= 0.
Sum negative(const Place& at) {
  if (!at.is(Fn::Relu) && !at.is(Fn::Step)) other();
  at.need_signs(at.argument(), kNegative | kZero);
  return {};
}

int64_t floor_of(Fraction c) { return c.n / c.d - (c.n % c.d < 0 ? 1 : 0); }

/// f(c) for numbers c; roots of squares, with n/d named; the maximum of c.
Sum of_number(const Place& at) {
  auto c = number_of(at.argument());
  if (!c) throw Refused{"the argument is no number"};
  if (at.maximum()) return at.need_constant({}), number(*c);
  const Fn f = at.function();
  const FnFacts& row = regraft::facts(f);
  if (c->n == 0 && (row.zero_at_zero || f == Fn::Recip)) return {};
  if (c->n == 0 && (f == Fn::Exp || f == Fn::Cos)) return number({1, 1});
  if (*c == Fraction{1, 1} && row.one_at_one) return number({1, 1});
  if (*c == Fraction{1, 1} && f == Fn::Log) return {};
  if (f == Fn::Recip) return number(Fraction::make(c->d, c->n));
  if (f == Fn::Floor) return number({floor_of(*c), 1});
  if (f == Fn::Trunc) return number({c->n / c->d, 1});
  if (f == Fn::Sqrt) {
    int64_t n = read_integer(at.line.word());
    Fraction r = Fraction::make(n, read_integer(at.line.word()));
    if (r.n >= 0 && r * r == *c) return number(r);
  }
  other();
}

/// x is rounded to what f rounds to: whole numbers, floats.
bool is_round(Fn f, const Sum& x) {
  const FnFacts& row = regraft::facts(f);
  bool to_floats = f == Fn::Half || f == Fn::Brain || f == Fn::Single;
  auto truth = [](const Atom& a) {
    return a.kind == Atom::Apply && a.head == static_cast<int>(Fn::Step);
  };
  auto is_whole = [&](const Atom& a) {
    if (a.kind == Atom::Number) return true;
    if (a.kind != Atom::Apply) return false;
    const Fn g = static_cast<Fn>(a.head);
    return regraft::facts(g).jumps || (g == Fn::Relu && is_round(f, *a.argument));
  };
  if (row.jumps && f != Fn::Step)
    return std::all_of(x.products.begin(), x.products.end(), [&](const Product& p) {
      return p.coefficient.d == 1 && std::all_of(p.atoms.begin(), p.atoms.end(), is_whole);
    });
  const Product& p = only_product(x);
  if (!to_floats || p.coefficient != Fraction{1, 1} || !p.bound.empty()) return false;
  if (std::all_of(p.atoms.begin(), p.atoms.end(), truth)) return true;
  if (p.atoms.size() != 1 || p.atoms[0].kind != Atom::Apply) return false;
  const Fn g = static_cast<Fn>(p.atoms[0].head);
  return g == f || (f == Fn::Single && (g == Fn::Half || g == Fn::Brain));
}

/// f(x) = x for what is of that form already.
Sum again(const Place& at) {
  const Sum& x = at.argument();
  if (is_round(at.function(), x)) return x;
  const Product& p = only_product(x);
  bool twice = regraft::facts(at.function()).idempotent && p.atoms.size() == 1 &&
               p.coefficient == Fraction{1, 1} && p.atoms[0].kind == Atom::Apply &&
               p.atoms[0].head == at.atom().head;
  if (!twice) other();
  return x;
}

/// floor(x + n) = floor(x) + n, for product k of the argument, which is n; so for maxima.
Sum whole_part(const Place& at) {
  Sum rest = at.argument();
  size_t k = at.line.number(rest.products.size());
  Sum n = single(rest.products[k]);
  rest.products.erase(k);
  if (at.maximum())
    at.need_constant(n);
  else if (!at.is(Fn::Floor) || !is_round(Fn::Floor, n))
    other();
  return at.of(std::move(rest)) + n;
}

/// f(c x) by f(x), for c = n/d.
Sum multiple(const Place& at) {
  int64_t n = read_integer(at.line.word());
  const Fraction c = Fraction::make(n, read_integer(at.line.word()));
  if (c.n == 0) throw Refused{"a multiple by 0"};
  const Fraction over = Fraction::make(c.d, c.n);
  const bool turned = c == Fraction{-1, 1};
  Sum of = at.of(scaled(at.argument(), over));
  if (at.maximum() && c.n > 0) return at.need_constant({}), scaled(std::move(of), c);
  const Fn f = at.function();
  if (f == Fn::Recip) return scaled(std::move(of), over);
  if ((f == Fn::Relu && c.n > 0) || (regraft::facts(f).odd && turned))
    return scaled(std::move(of), c);
  if ((f == Fn::Step && c.n > 0) || (f == Fn::Cos && turned)) return of;
  other();
}

/// sigmoid(x) = 1/(1 + exp(-x)), tanh(x) = 1 - 2/(1 + exp(2x)).
Sum by_exp(const Place& at) {
  const Sum& x = at.argument();
  const Sum one = number({1, 1});
  if (at.is(Fn::Sigmoid))
    return function_of(Fn::Recip, one + function_of(Fn::Exp, scaled(x, {-1, 1})));
  if (!at.is(Fn::Tanh)) other();
  return one +
         scaled(function_of(Fn::Recip, one + function_of(Fn::Exp, scaled(x, {2, 1}))), {-2, 1});
}

/// exp(x + y) = exp(x) exp(y), where x are the products named.
Sum exponents(const Place& at) {
  if (!at.is(Fn::Exp)) other();
  std::vector<size_t> chosen;
  while (!at.line.words().empty()) chosen.push_back(at.line.number(at.argument().products.size()));
  Sum x, y;
  for (size_t k = 0; k < at.argument().products.size(); ++k) {
    bool in = std::find(chosen.begin(), chosen.end(), k) != chosen.end();
    (in ? x : y).products.push_back(at.argument().products[k]);
  }
  return at.product(function_of(Fn::Exp, std::move(x)), function_of(Fn::Exp, std::move(y)));
}

/// exp(x) = exp(x/n)^n.
Sum power(const Place& at) {
  int64_t n = read_integer(at.line.word());
  if (!at.is(Fn::Exp) || n < 1 || n > 16) other();
  const Sum one = function_of(Fn::Exp, scaled(at.argument(), {1, n}));
  Sum r = one;
  while (--n > 0) r = at.product(r, one);
  return r;
}

/// exp(x) exp(y) = exp(x + y), sqrt(x) sqrt(x) = x for x >= 0.
Sum both(const Place& at) {
  const Atom& b = at.atoms[1];
  if (b.kind != Atom::Apply || b.head != at.atom().head) other();
  if (at.is(Fn::Exp)) return function_of(Fn::Exp, at.argument() + *b.argument);
  if (!at.is(Fn::Sqrt) || !same(at.atom(), b)) other();
  at.need_signs(at.argument(), kNotNegative);
  return at.argument();
}

/// log(exp(x)) = x, exp(log(x)) = x for x > 0, sqrt(x x) = x for x >= 0.
Sum undo(const Place& at) {
  const Product& p = only_product(at.argument());
  if (p.coefficient != Fraction{1, 1} || p.atoms.empty()) other();
  const Atom& a = p.atoms[0];
  if (at.is(Fn::Sqrt) && p.atoms.size() == 2 && same(a, p.atoms[1])) {
    at.need_signs(sum_of(a), kNotNegative);
    return sum_of(a);
  }
  if (p.atoms.size() != 1 || a.kind != Atom::Apply) other();
  const Fn g = static_cast<Fn>(a.head);
  if (at.is(Fn::Log) && g == Fn::Exp) return *a.argument;
  if (!at.is(Fn::Exp) || g != Fn::Log) other();
  at.need_signs(*a.argument, kPositive);
  return *a.argument;
}

/// sqrt(1/x) = sqrt(x) 1/x for x >= 0, log(1/x) = -log(x) for x > 0.
Sum over(const Place& at) {
  const Product& p = only_product(at.argument());
  if (p.coefficient != Fraction{1, 1} || p.atoms.size() != 1 || !is_quotient(p.atoms[0])) other();
  const Sum& x = *p.atoms[0].argument;
  const Sum of = function_of(at.function(), x);
  at.need_signs(x, at.is(Fn::Log) ? kPositive : kNotNegative);
  if (at.is(Fn::Log)) return scaled(of, {-1, 1});
  if (!at.is(Fn::Sqrt)) other();
  return at.product(of, sum_of(p.atoms[0]));
}

/// log(x y) = log(x) + log(y) for x, y > 0; sqrt(x y) = sqrt(x) sqrt(y) for x, y >= 0; x has the
/// factors named, y the coefficient.
Sum factors(const Place& at) {
  Product y = only_product(at.argument()), x;
  std::vector<size_t> chosen;
  while (!at.line.words().empty()) chosen.push_back(at.line.number(y.atoms.size()));
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  for (auto k = chosen.rbegin(); k != chosen.rend(); ++k) {
    x.atoms.push_back(y.atoms[*k]);
    y.atoms.erase(*k);
  }
  const Signs signs = at.is(Fn::Log) ? kPositive : kNotNegative;
  if (!at.is(Fn::Log) && !at.is(Fn::Sqrt)) other();
  const Sum one = single(std::move(x)), rest = single(std::move(y));
  at.need_signs(one, signs);
  at.need_signs(rest, signs);
  const Fn f = at.function();
  return at.is(Fn::Log) ? function_of(f, one) + function_of(f, rest)
                        : at.product(function_of(f, one), function_of(f, rest));
}

/// 1/(x y) = 1/x 1/y, 1/(1/x) = x, 1/exp(x) = exp(-x), 1/sqrt(x) = sqrt(x)/x for x >= 0, and
/// numbers.
Sum inverse(const Place& at) {
  if (!at.is(Fn::Recip)) other();
  const Product& p = only_product(at.argument());
  Sum r = number(Fraction::make(p.coefficient.d, p.coefficient.n));
  for (const Atom& x : p.atoms) {
    const bool f = x.kind == Atom::Apply;
    const Fn of = f ? static_cast<Fn>(x.head) : Fn::Recip;
    if (x.kind == Atom::Number || x.kind == Atom::Recip) {
      Atom turned = x;
      turned.kind = x.kind == Atom::Number ? Atom::Recip : Atom::Number;
      r = at.product(r, sum_of(std::move(turned)));
    } else if (f && of == Fn::Recip) {
      r = at.product(r, *x.argument);
    } else if (f && of == Fn::Exp) {
      r = at.product(r, function_of(of, scaled(*x.argument, {-1, 1})));
    } else if (f && of == Fn::Sqrt && at.has(*x.argument, kNotNegative)) {
      r = at.product(at.product(r, sum_of(x)), function_of(Fn::Recip, *x.argument));
    } else {
      r = at.product(r, function_of(Fn::Recip, sum_of(x)));
    }
  }
  return r;
}

/// f(y x) = f'(y) f(x), where each product of the argument has the factor y, by number: 1/(y x) =
/// 1/y 1/x, relu(y x) = y relu(x) for y >= 0, sqrt(y x) for y, x >= 0, step(y x) = step(x) for y >
/// 0.
Sum common(const Place& at) {
  Sum rest = at.argument();
  const Sum of = take_common(at.symbols, rest, at.line);
  if (at.maximum()) {
    at.need_signs(of, kNotNegative);
    at.need_constant(of);
    return at.product(of, at.of(rest));
  }
  const Fn f = at.function();
  Sum inner = function_of(f, rest);
  if (f == Fn::Recip) return at.product(function_of(f, of), inner);
  at.need_signs(of, f == Fn::Step ? kPositive : kNotNegative);
  if (f == Fn::Step) return inner;
  if (f == Fn::Relu) return at.product(of, inner);
  if (f != Fn::Sqrt) other();
  at.need_signs(rest, kNotNegative);
  return at.product(function_of(f, of), inner);
}

/// The maximum of f(x), of something, is f of that of x, for f that increases where x may be.
Sum increasing(const Place& at) {
  if (!at.maximum()) other();
  const Product& p = only_product(at.argument());
  if (p.coefficient != Fraction{1, 1} || p.atoms.size() != 1 || p.atoms[0].kind != Atom::Apply)
    other();
  const Fn f = static_cast<Fn>(p.atoms[0].head);
  const Sum& x = *p.atoms[0].argument;
  const Context inner = within(at.symbols, at.context, at.atom().bound, at.atom().guard);
  if (!regraft::facts(f).increasing || !within(sign_of(at.symbols, inner.known, x), domain_of(f)))
    throw Refused{"the function may not increase"};
  at.need_constant({});
  return function_of(f, at.of(x));
}

/// A maximum that is of something, and of that at one place only: its argument there.
Sum only(const Place& at) {
  const Atom& a = at.atom();
  if (a.kind != Atom::Max) other();
  const Values there = read_values(at.symbols, a.bound, at.line);
  for (const auto& [s, e] : there)
    for (Symbol inner : a.bound)
      if (at.symbols.mentions(e, inner)) throw Refused{"an index is expressed by itself"};
  const List<Fact> facts = facts_within(at.symbols, at.context.facts, a.bound, a.guard);
  for (Symbol s : a.bound) need(at.symbols, facts, zero(Poly::symbol(s) - there.at(s)), at.line);
  need_reached(at.symbols, at.context, a, at.line);
  return substitute(at.symbols, *a.argument, there);
}

/// 0 = F for what is known: product t of F, whose factors these are, by the others.
Sum fact(const Place& at) {
  const Sum& s = at.context.known[at.line.number(at.context.known.size())].sum;
  if (!at.has(s, kZero)) throw Refused{"that may differ from 0"};
  Sum rest = s;
  size_t t = at.line.number(rest.products.size());
  const Product p = only_product(single(rest.products[t]));
  rest.products.erase(t);
  if (!std::equal(p.atoms.begin(), p.atoms.end(), at.atoms.begin(), at.atoms.end(),
                  [](const Atom& a, const Atom& b) { return same(a, b); }))
    throw Refused{"the factors are others"};
  return scaled(std::move(rest), Fraction::make(-p.coefficient.d, p.coefficient.n));
}

}  // namespace

/// law NAME P A,... WORD ...: factors become what they are equal to.
void Goal::law(Line& line, Lines&) {
  static const std::map<std::string_view, Sum (*)(const Place&)> kLaws{
      {"positive", positive}, {"negative", negative},
      {"number", of_number},  {"again", again},
      {"part", whole_part},   {"times", multiple},
      {"by-exp", by_exp},     {"exponents", exponents},
      {"equal-parts", power}, {"both", both},
      {"undo", undo},         {"factors", factors},
      {"inverse", inverse},   {"over", over},
      {"only", only},         {"increasing", increasing},
      {"common", common},     {"fact", fact}};
  auto it = kLaws.find(line.word());
  if (it == kLaws.end()) throw Refused{"there is no such law"};
  Product p = take(line);
  Context context = inner(p);
  std::vector<Atom> atoms = extract(p.atoms, read_list(line.word(), p.atoms.size()));
  const bool any_number = it->second == fact;
  if (!any_number && atoms.size() != (it->second == both ? 2 : 1))
    throw Refused{"the law is about other factors"};
  Sum value = it->second({symbols_, context, atoms, line});
  add(p, value);
}

/// cancel P A T K,.. G,.. A,..: factor A is 1 over a sum, of which product T is what some indices,
/// parts of the guard and factors are.
void Goal::cancel(Line& line, Lines& lines) {
  Product p = take(line);
  const size_t place_of_over = line.number(p.atoms.size());
  const Atom over = p.atoms[place_of_over];
  Sum rest;
  if (over.kind == Atom::Recip) {
    for (const auto& [m, c] : in_order(symbols_, over.positions.at(0))) {
      Product term{{c, 1}, {}, {}, {}};
      for (Symbol s : m)
        term.atoms.push_back({.kind = Atom::Number, .positions = {Poly::symbol(s)}});
      rest.products.push_back(std::move(term));
    }
  } else if (is_quotient(over)) {
    rest = *over.argument;
  } else {
    throw Refused{"the factor is no quotient"};
  }
  const Known k = domain_of(over);
  size_t t = line.number(rest.products.size());
  Product q;
  q.bound = extract(p.bound, read_list(line.word(), p.bound.size()));
  q.guard = extract(p.guard, read_list(line.word(), p.guard.size()));
  std::vector<size_t> used = read_list(line.word(), p.atoms.size());
  if (std::find(used.begin(), used.end(), place_of_over) != used.end())
    throw Refused{"a factor is used twice"};
  used.push_back(place_of_over);
  q.atoms = extract(p.atoms, used);
  q.atoms.erase(q.atoms.size() - 1);
  for (Symbol s : q.bound)
    if (mentions_within(symbols_, p, s) || mentions(symbols_, sum_of(over), s))
      throw Refused{"an index stands outside of its range"};
  const Context context = inner(p);
  if (!kernel::within(sign_of(symbols_, context.known, k.sum), kNotZero))
    throw Refused{"that may be 0"};
  Product term = extract(rest.products, {t})[0];
  const Fraction c = Fraction::make(term.coefficient.d, term.coefficient.n);
  term.coefficient = {1, 1};
  show_zero(symbols_, context, difference(single(std::move(q)), single(term)), lines);
  add(p, number(c) + scaled(times(symbols_, sum_of(over), rest), Fraction{-1, 1} * c));
}

}  // namespace regraft::kernel
