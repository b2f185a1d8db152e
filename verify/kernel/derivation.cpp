#include "verify/kernel/derivation.h"

#include <algorithm>

#include "verify/kernel/premises.h"

namespace regraft::kernel {

void Lines::skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of("\n "), rest_.size())); }

std::string_view Lines::next() {
  if (rest_.empty()) throw Refused{"the derivation ends too early"};
  std::string_view line = rest_.substr(0, rest_.find('\n'));
  rest_.remove_prefix(line.size());
  skip();
  return line;
}

Line::Line(std::string_view text) : words_(text.substr(0, text.find('|'))) {
  if (size_t bar = text.find('|'); bar != text.npos) certificates_ = text.substr(bar + 1);
}

size_t Line::number(size_t end) {
  int64_t n = read_integer(word());
  if (n < 0 || static_cast<size_t>(n) >= end)
    throw Refused{"there is no number " + std::to_string(n)};
  return static_cast<size_t>(n);
}

std::string_view Line::certificate() {
  if (!certificates_) throw Refused{"a certificate is missing"};
  std::string_view one = certificates_->substr(0, certificates_->find('|'));
  if (one.size() == certificates_->size())
    certificates_.reset();
  else
    certificates_->remove_prefix(one.size() + 1);
  return one;
}

void Line::finish() const {
  if (!words_.empty() || certificates_) throw Refused{"a line has too many parts"};
}

bool plain(const std::vector<Fact>& facts, const Fact& f) {
  if (f.form == Fact::All)
    return std::all_of(f.parts.begin(), f.parts.end(), [&](auto& x) { return plain(facts, x); });
  bool literal = f.form != Fact::Any && f.poly.is_constant();
  if (literal && (f.form == Fact::Zero ? f.poly.constant() == 0 : f.poly.constant() >= 0))
    return true;
  return std::find(facts.begin(), facts.end(), f) != facts.end();
}

std::vector<Fact> facts_within(const Symbols& symbols, std::vector<Fact> facts,
                               const std::vector<Symbol>& bound, const std::vector<Fact>& guard) {
  for (Symbol s : bound)
    for (const Fact& f : facts)
      if (mentions(symbols, f, s)) throw Refused{"a fact mentions a bound index"};
  facts.insert(facts.end(), guard.begin(), guard.end());
  return facts;
}

namespace {

constexpr size_t kMostProducts = 5'000;

}  // namespace

Goal::Goal(Symbols& symbols, std::vector<Fact> facts, const Sum& sum, int depth,
           std::vector<Partial> defined)
    : symbols_(symbols), facts_(std::move(facts)), depth_(depth), defined_(std::move(defined)) {
  for (const Product& p : sum.products) add(p);
}

void Goal::add(Product p) {
  if (products_.size() >= kMostProducts) throw Refused{"too many products"};
  if (p.coefficient.n != 0) products_.emplace(next_, std::move(p));
  ++next_;
}

size_t Goal::number(Line& line) {
  size_t k = line.number(next_);
  if (!products_.count(k)) throw Refused{"product " + std::to_string(k) + " is not there"};
  return k;
}

Product Goal::take(Line& line) { return std::move(products_.extract(number(line)).mapped()); }

void Goal::steps(Lines& lines) {
  for (;;) {
    Lines rest = lines;
    if (Line(rest.next()).word() == "end") break;
    step(lines);
  }
  Line last(lines.next());
  last.word();
  last.finish();
}

void Goal::run(Lines& lines) {
  steps(lines);
  if (!products_.empty())
    throw Refused{"left: " + text(symbols_, products_.begin()->second).substr(0, 200)};
}

void Goal::step(Lines& lines) {
  Line line(lines.next());
  std::string_view name = line.word();
  if (name == "pair" || name == "vanish" || name == "inside" || name == "reduce" ||
      name == "cases") {
    if (name == "reduce") reduce(line, lines);
    if (name == "inside") inside(line, lines);
    if (name == "pair") pair(line, lines);
    if (name == "vanish") vanish(line, lines);
    if (name == "cases") cases(line, lines);
  } else if (name == "drop") {
    size_t k = number(line);
    refute(symbols_, within(products_.at(k)), line);
    products_.erase(k);
  } else if (name == "refuted") {
    refute(symbols_, facts_, line);
    products_.clear();
  } else {
    static const std::map<std::string_view, void (Goal::*)(Line&)> kSteps{
        {"pin", &Goal::pin},      {"divide", &Goal::divide}, {"imply", &Goal::imply},
        {"omit", &Goal::omit},    {"at", &Goal::at},         {"part", &Goal::part},
        {"value", &Goal::value},  {"cancel", &Goal::cancel}, {"count", &Goal::count},
        {"size", &Goal::size},    {"again", &Goal::again},   {"outside", &Goal::outside},
        {"invert", &Goal::invert}};
    auto it = kSteps.find(name);
    if (it == kSteps.end()) throw Refused{"there is no step " + std::string(name.substr(0, 40))};
    (this->*it->second)(line);
  }
  line.finish();
}

/// pin P k E: a product whose guard says that k is E.
void Goal::pin(Line& line) {
  Product p = take(line);
  size_t b = line.number(p.bound.size());
  Symbol s = p.bound[b];
  Poly e = symbols_.read(line.word());
  if (symbols_.mentions(e, s)) throw Refused{"an index is expressed by itself"};
  need(symbols_, within(p), zero(Poly::symbol(s) - e), line);
  p.bound.erase(p.bound.begin() + static_cast<std::ptrdiff_t>(b));
  add(substitute_within(symbols_, p, {{s, e}}));
}

/// divide P FACT: where the fact holds, and where it does not.
void Goal::divide(Line& line) {
  Product p = take(line);
  Fact f = read_fact(symbols_, line.words());
  Product no = p;
  append(p.guard, f);
  append(no.guard, negated(f));
  add(std::move(p));
  add(std::move(no));
}

/// imply P FACT: a fact that the guard implies is added to it.
void Goal::imply(Line& line) {
  Product p = take(line);
  Fact f = read_fact(symbols_, line.words());
  need(symbols_, within(p), f, line);
  append(p.guard, f);
  add(std::move(p));
}

/// omit P G: a part of the guard that the others imply is left out.
void Goal::omit(Line& line) {
  Product p = take(line);
  size_t g = line.number(p.guard.size());
  Fact f = p.guard[g];
  p.guard.erase(p.guard.begin() + static_cast<std::ptrdiff_t>(g));
  need(symbols_, within(p), f, line);
  add(std::move(p));
}

/// at P A I E: position I of factor A is E.
void Goal::at(Line& line) {
  Product p = take(line);
  Atom& a = p.atoms[line.number(p.atoms.size())];
  Poly& position = a.positions[line.number(a.positions.size())];
  Poly e = symbols_.read(line.word());
  need(symbols_, within(p), zero(position - e), line);
  position = e;
  add(std::move(p));
}

/// pair P Q VALUES VALUES FACTORS: two products that cancel out.
void Goal::pair(Line& line, Lines& lines) {
  size_t n = number(line), m = number(line);
  if (n == m) throw Refused{"a product is paired with itself"};
  const Product p = products_.at(n), q = products_.at(m);
  for (const auto& [one, other] : {std::pair(&p, &q), std::pair(&q, &p)})
    for (Symbol s : one->bound)
      if (std::find(other->bound.begin(), other->bound.end(), s) == other->bound.end() &&
          mentions(symbols_, *other, s))
        throw Refused{"an index stands outside of its range"};
  if ((p.coefficient + q.coefficient).n != 0) throw Refused{"the coefficients do not cancel out"};
  if (p.atoms.size() != q.atoms.size()) throw Refused{"two products are not alike"};
  std::vector<size_t> order;
  for (size_t k = 0; k < q.atoms.size(); ++k) {
    order.push_back(line.number(q.atoms.size()));
    if (std::count(order.begin(), order.end(), order[k]) > 1)
      throw Refused{"a factor is paired twice"};
  }
  Values to = bijection(symbols_, facts_, {p.bound, p.guard}, {q.bound, q.guard}, line);
  const std::vector<Fact> known = within(p);
  for (size_t k = 0; k < p.atoms.size(); ++k)
    need_equal(symbols_, known, p.atoms[k], substitute(symbols_, q.atoms[order[k]], to), depth_,
               line, lines);
  products_.erase(n);
  products_.erase(m);
}

/// vanish P A: factor A is a function that is 0 at 0, of what is 0.
void Goal::vanish(Line& line, Lines& lines) {
  size_t n = number(line);
  const Product& p = products_.at(n);
  const Atom& a = p.atoms[line.number(p.atoms.size())];
  if (a.kind != Atom::Apply || !regraft::facts(static_cast<Fn>(a.head)).zero_at_zero)
    throw Refused{"the factor is no function that is 0 at 0"};
  show_zero(symbols_, within(p), *a.argument, depth_, lines);
  products_.erase(n);
}

/// inside P A: steps within the argument of factor A, which becomes what is left.
void Goal::inside(Line& line, Lines& lines) {
  constexpr int kMostNested = 30;
  Product p = take(line);
  Atom& a = p.atoms[line.number(p.atoms.size())];
  if (!a.argument || depth_ >= kMostNested) throw Refused{"the factor has no argument"};
  Goal inner(symbols_, facts_within(symbols_, within(p), a.bound, a.guard), *a.argument,
             depth_ + 1);
  inner.steps(lines);
  Sum left;
  for (const auto& [k, q] : inner.products_) left.products.push_back(q);
  a.argument = std::make_shared<Sum>(std::move(left));
  add(std::move(p));
}

/// again P A: f(f(x)) is f(x) for some functions.
void Goal::again(Line& line) {
  Product p = take(line);
  Atom& a = p.atoms[line.number(p.atoms.size())];
  if (a.kind != Atom::Apply || !regraft::facts(static_cast<Fn>(a.head)).idempotent)
    throw Refused{"the function may change what it made"};
  const Product of = only_product(*a.argument);
  bool same_function = of.atoms.size() == 1 && of.coefficient == Fraction{1, 1} &&
                       of.atoms[0].kind == Atom::Apply && of.atoms[0].head == a.head;
  if (!same_function) throw Refused{"the argument is not of that function"};
  a = of.atoms[0];
  add(std::move(p));
}

/// outside P A N D: f(c x) for c = N/D as a multiple of f(x).
void Goal::outside(Line& line) {
  Product p = take(line);
  Atom& a = p.atoms[line.number(p.atoms.size())];
  int64_t above = read_integer(line.word());
  const Fraction c = Fraction::make(above, read_integer(line.word()));
  if (a.kind != Atom::Apply || c.n == 0) throw Refused{"the factor is no function of a multiple"};
  const Fraction over = Fraction::make(c.d, c.n);
  const Fn f = static_cast<Fn>(a.head);
  if (f == Fn::Recip)
    p.coefficient = p.coefficient * over;
  else if ((f == Fn::Relu && c.n > 0) || (regraft::facts(f).odd && c == Fraction{-1, 1}))
    p.coefficient = p.coefficient * c;
  else
    throw Refused{"the function is no multiple there"};
  a.argument = std::make_shared<Sum>(scaled(*a.argument, over));
  add(std::move(p));
}

/// part P C: a product in two, of which the first has coefficient C.
void Goal::part(Line& line) {
  Product p = take(line);
  Product rest = p;
  int64_t above = read_integer(line.word());
  p.coefficient = Fraction::make(above, read_integer(line.word()));
  rest.coefficient = rest.coefficient + Fraction{-1, 1} * p.coefficient;
  add(std::move(p));
  add(std::move(rest));
}

/// value P A: a whole number as the sum of its terms, 1 over a term as a product; numbers go to the
/// coefficient. 1/0 counts as 0.
void Goal::value(Line& line) {
  Product p = take(line);
  size_t k = line.number(p.atoms.size());
  const Atom a = p.atoms[k];
  bool over = a.kind == Atom::Recip;
  if (!over && a.kind != Atom::Number) throw Refused{"the factor is no whole number"};
  const auto& terms = a.positions.at(0).terms();
  if (over && terms.size() != 1) throw Refused{"the denominator is no single term"};
  p.atoms.erase(p.atoms.begin() + static_cast<std::ptrdiff_t>(k));
  for (const auto& [m, c] : terms) {
    Product part = p;
    part.coefficient = part.coefficient * (over ? Fraction::make(1, c) : Fraction::make(c, 1));
    for (Symbol s : m) part.atoms.push_back({.kind = a.kind, .positions = {Poly::symbol(s)}});
    add(std::move(part));
  }
}

/// invert P A: 1 over a product is a product of what is 1 over its factors, 1/(1/x) is x; 1/0
/// counts as 0.
void Goal::invert(Line& line) {
  Product p = take(line);
  size_t k = line.number(p.atoms.size());
  const Atom a = p.atoms[k];
  if (!is_quotient(a)) throw Refused{"the factor is no quotient"};
  const Product& of = only_product(*a.argument);
  if (of.coefficient.n == 0) throw Refused{"a coefficient is 0"};
  p.atoms.erase(p.atoms.begin() + static_cast<std::ptrdiff_t>(k));
  p.coefficient = p.coefficient * Fraction::make(of.coefficient.d, of.coefficient.n);
  for (const Atom& x : of.atoms) {
    if (is_quotient(x)) {
      const Product& inner = only_product(*x.argument);
      p.coefficient = p.coefficient * inner.coefficient;
      p.atoms.insert(p.atoms.end(), inner.atoms.begin(), inner.atoms.end());
    } else {
      p.atoms.push_back({.kind = Atom::Apply,
                         .head = a.head,
                         .argument = std::make_shared<Sum>(Sum{{{.atoms = {x}}}})});
    }
  }
  add(std::move(p));
}

/// cancel P A B: factors n and 1/n, where n is at least 1.
void Goal::cancel(Line& line) {
  Product p = take(line);
  size_t i = line.number(p.atoms.size()), j = line.number(p.atoms.size());
  const Atom &a = p.atoms[i], &b = p.atoms[j];
  if (a.kind != Atom::Number || b.kind != Atom::Recip || a.positions != b.positions)
    throw Refused{"the factors are no number and 1 over it"};
  need(symbols_, within(p), non_negative(a.positions.at(0) - Poly(1)), line);
  p.atoms.erase(p.atoms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
  p.atoms.erase(p.atoms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
  add(std::move(p));
}

/// count P K I J: nothing reads index K but parts I and J of the guard, K - low >= 0 and
/// high - 1 - K >= 0: the factor high - low, which is not negative.
void Goal::count(Line& line) {
  Product p = take(line);
  size_t b = line.number(p.bound.size());
  size_t i = line.number(p.guard.size()), j = line.number(p.guard.size());
  const Poly k = Poly::symbol(p.bound[b]);
  const Fact from = p.guard[i], until = p.guard[j];
  Poly low = k - from.poly, high = until.poly + k + Poly(1);
  Symbol s = p.bound[b];
  if (i == j || from.form != Fact::NonNegative || until.form != Fact::NonNegative ||
      symbols_.mentions(low, s) || symbols_.mentions(high, s))
    throw Refused{"these are no bounds of the index"};
  p.bound.erase(p.bound.begin() + static_cast<std::ptrdiff_t>(b));
  p.guard.erase(p.guard.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
  p.guard.erase(p.guard.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
  if (mentions(symbols_, p, s)) throw Refused{"something reads the index"};
  need(symbols_, within(p), non_negative(high - low), line);
  p.atoms.push_back({.kind = Atom::Number, .positions = {high - low}});
  add(std::move(p));
}

/// size S E: the facts say that symbol S is E; so in every product.
void Goal::size(Line& line) {
  Poly s = symbols_.read(line.word()), e = symbols_.read(line.word());
  if (s.terms().size() != 1 || s.terms().begin()->first.size() != 1 ||
      s != Poly::symbol(s.terms().begin()->first[0]))
    throw Refused{"no symbol"};
  Symbol v = s.terms().begin()->first[0];
  need(symbols_, facts_, zero(s - e), line);
  Sum all;
  for (const auto& [k, p] : products_) all.products.push_back(p);
  products_.clear();
  for (const Product& p : substitute(symbols_, all, {{v, e}}).products) add(p);
}

/// cases FACT: once with the fact, once with what it denies.
void Goal::cases(Line& line, Lines& lines) {
  Fact f = read_fact(symbols_, line.words());
  Sum all;
  for (const auto& [k, p] : products_) all.products.push_back(p);
  for (const Fact& one : {f, negated(f)}) {
    std::vector<Fact> known = facts_;
    append(known, one);
    show_zero(symbols_, std::move(known), all, depth_, lines);
  }
  products_.clear();
}

}  // namespace regraft::kernel
