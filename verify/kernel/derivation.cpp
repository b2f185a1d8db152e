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

Line::Line(std::string_view text, Certificates* instead)
    : start_(text.data()), instead_(instead), words_(text.substr(0, text.find('|'))) {
  if (size_t bar = text.find('|'); bar != text.npos) certificates_ = text.substr(bar + 1);
}

size_t Line::number(size_t end) {
  int64_t n = read_integer(word());
  if (n < 0 || static_cast<size_t>(n) >= end)
    throw Refused{"there is no number " + std::to_string(n)};
  return static_cast<size_t>(n);
}

std::string Line::certificate(const std::vector<Fact>& facts) {
  std::optional<std::string_view> own;
  if (certificates_) {
    own = certificates_->substr(0, certificates_->find('|'));
    if (own->size() == certificates_->size())
      certificates_.reset();
    else
      certificates_->remove_prefix(own->size() + 1);
  }
  if (instead_) return instead_->find(start_, own, facts);
  if (!own) throw Refused{"a certificate is missing"};
  return std::string(*own);
}

void Line::finish() const {
  if (!words_.empty() || (certificates_ && !instead_)) throw Refused{"a line has too many parts"};
}

bool plain(std::span<const Fact> facts, const Fact& f) {
  if (f.form == Fact::All)
    return std::all_of(f.parts.begin(), f.parts.end(), [&](auto& x) { return plain(facts, x); });
  bool literal = f.form != Fact::Any && f.poly.is_constant();
  if (literal && (f.form == Fact::Zero ? f.poly.constant() == 0 : f.poly.constant() >= 0))
    return true;
  return std::find(facts.begin(), facts.end(), f) != facts.end();
}

List<Fact> facts_within(const Symbols& symbols, List<Fact> facts, const std::vector<Symbol>& bound,
                        const List<Fact>& guard) {
  for (Symbol s : bound)
    for (const Fact& f : facts)
      if (mentions(symbols, f, s)) throw Refused{"a fact mentions a bound index"};
  facts = joined(std::move(facts), guard);
  return facts;
}

Context within(const Symbols& symbols, Context context, const std::vector<Symbol>& bound,
               const List<Fact>& guard) {
  for (Symbol s : bound)
    for (const Known& k : context.known)
      if (mentions(symbols, k.sum, s)) throw Refused{"what is known mentions a bound index"};
  context.facts = facts_within(symbols, std::move(context.facts), bound, guard);
  return context;
}

Goal::Goal(Symbols& symbols, Context context, const Sum& sum, std::optional<Known> target)
    : symbols_(symbols), context_(std::move(context)), target_(std::move(target)) {
  constexpr int kMostNested = 40;
  if (++context_.depth > kMostNested) throw Refused{"derivations are nested too deeply"};
  for (const Product& p : sum.products) add(p);
}

void Goal::add(Product p) {
  constexpr size_t kMostProducts = 5'000;
  if (products_.size() >= kMostProducts) throw Refused{"too many products"};
  if (p.coefficient.n != 0) products_.emplace(next_, std::move(p));
  ++next_;
}

void Goal::add(const Product& p, const Sum& value) {
  const Sum body{{{p.coefficient, {}, {}, p.atoms}}};
  for (Product q : times(symbols_, body, value).products) {
    auto stands = [&](const Fact& f) {
      return std::any_of(q.bound.begin(), q.bound.end(),
                         [&](Symbol s) { return mentions(symbols_, f, s); });
    };
    if (std::any_of(p.guard.begin(), p.guard.end(), stands))
      throw Refused{"an index stands outside of its range"};
    for (Symbol s : p.bound)
      if (std::find(q.bound.begin(), q.bound.end(), s) != q.bound.end())
        throw Refused{"an index is bound twice"};
    add({q.coefficient, joined(p.bound, q.bound), joined(p.guard, q.guard), q.atoms});
  }
}

size_t Goal::place(Line& line) {
  size_t k = line.number(next_);
  if (!products_.count(k)) throw Refused{"product " + std::to_string(k) + " is not there"};
  return k;
}

Product Goal::take(Line& line) { return std::move(products_.extract(place(line)).mapped()); }

void Goal::become(Goal other) {
  context_ = std::move(other.context_);
  products_ = std::move(other.products_);
  next_ = other.next_;
  closed_ = other.closed_;
}

Sum Goal::left() const {
  Sum all;
  for (const auto& [k, p] : products_) all.products.push_back(p);
  return all;
}

bool Goal::shown() const {
  if (closed_) return true;
  if (target_)
    return kernel::within(sign_of(symbols_, context_.known, target_->sum), target_->signs);
  return products_.empty() || kernel::within(sign_of(symbols_, context_.known, left()), kZero);
}

void Goal::steps(Lines& lines) {
  for (;;) {
    Lines rest = lines;
    if (Line(rest.next()).word() == "end") break;
    step(lines);
  }
  Line last(lines);
  last.word();
  last.finish();
}

Sum Goal::rewritten(Lines& lines) {
  rewriting_ = true;
  steps(lines);
  return left();
}

void Goal::only_to_show() const {
  if (rewriting_) throw Refused{"the step does not keep the sum"};
}

void Goal::run(Lines& lines) {
  steps(lines);
  if (shown()) return;
  if (products_.empty()) throw Refused{"left: a sign"};
  throw Refused{"left: " + text(symbols_, products_.begin()->second).substr(0, 200)};
}

void Goal::show_with(Context context, Lines& lines) const {
  Goal(symbols_, std::move(context), left(), target_).run(lines);
}

void Goal::step(Lines& lines) {
  static const std::map<std::string_view, Step> kSteps{
      {"pin", &Goal::pin},         {"drop", &Goal::drop},     {"refuted", &Goal::refuted},
      {"divide", &Goal::divide},   {"omit", &Goal::omit},     {"alias", &Goal::alias},
      {"pair", &Goal::pair},       {"under", &Goal::under},   {"inside", &Goal::inside},
      {"value", &Goal::value},     {"count", &Goal::count},   {"cases", &Goal::cases},
      {"law", &Goal::law},         {"cancel", &Goal::cancel}, {"by-sign", &Goal::split},
      {"infer", &Goal::infer},     {"absurd", &Goal::absurd}, {"order", &Goal::order},
      {"factor", &Goal::factor},   {"whole", &Goal::whole},   {"bounds", &Goal::bounds},
      {"defined", &Goal::defined}, {"total", &Goal::total},   {"attain", &Goal::attain},
      {"above", &Goal::above},     {"body", &Goal::body},     {"multiply", &Goal::multiply}};
  Line line(lines);
  auto it = kSteps.find(line.word());
  if (it == kSteps.end()) throw Refused{"there is no such step"};
  (this->*it->second)(line, lines);
  line.finish();
}

/// drop P: the guard cannot hold.
void Goal::drop(Line& line, Lines&) {
  size_t k = place(line);
  refute(symbols_, facts_in(products_.at(k)), line);
  products_.erase(k);
}

/// refuted: the facts cannot hold.
void Goal::refuted(Line& line, Lines&) {
  refute(symbols_, context_.facts, line);
  products_.clear();
  close();
}

/// The indices that are named leave the product for `outer`, and the guard that is about no others.
Product Goal::opened(Product p, Line& line, Product& outer) const {
  const std::vector<size_t> which = read_list(line.word(), p.bound.size());
  outer.bound = extract(p.bound, which);
  std::vector<size_t> free;
  for (size_t g = 0; g < p.guard.size(); ++g)
    if (std::none_of(p.bound.begin(), p.bound.end(),
                     [&](Symbol s) { return mentions(symbols_, p.guard[g], s); }))
      free.push_back(g);
  outer.guard = extract(p.guard, free);
  return p;
}

/// body P K,..: steps within a product, some indices of which are free there.
void Goal::body(Line& line, Lines& lines) {
  Product p = take(line), outer;
  const Product body = opened(std::move(p), line, outer);
  for (const Product& q : Goal(symbols_, inner(outer), {{body}}).rewritten(lines).products)
    add(outer, {{q}});
}

/// multiply PATH: by a number that is not 0.
void Goal::multiply(Line& line, Lines&) {
  only_to_show();
  const Sum s = at_path(line.word()), all = left();
  if (!kernel::within(sign_of(symbols_, context_.known, s), kNotZero))
    throw Refused{"that may be 0"};
  products_.clear();
  for (const Product& p : all.products) {
    for (Symbol b : p.bound)
      if (mentions(symbols_, s, b)) throw Refused{"an index stands outside of its range"};
    add(p, s);
  }
}

/// pin P k E: a product whose guard says that k is E.
void Goal::pin(Line& line, Lines&) {
  Product p = take(line);
  size_t b = line.number(p.bound.size());
  Symbol s = p.bound[b];
  Poly e = symbols_.read(line.word());
  if (symbols_.mentions(e, s)) throw Refused{"an index is expressed by itself"};
  need(symbols_, facts_in(p), zero(Poly::symbol(s) - e), line);
  p.bound.erase(b);
  add(substitute_within(symbols_, p, {{s, e}}));
}

/// divide P FACT: where the fact holds, and where it does not.
void Goal::divide(Line& line, Lines&) {
  Product p = take(line);
  Fact f = read_fact(symbols_, line.words());
  Product no = p;
  append(p.guard, f);
  append(no.guard, negated(f));
  add(std::move(p));
  add(std::move(no));
}

/// omit P G: a part of the guard that the others imply is left out.
void Goal::omit(Line& line, Lines&) {
  Product p = take(line);
  size_t g = line.number(p.guard.size());
  Fact f = p.guard[g];
  p.guard.erase(g);
  need(symbols_, facts_in(p), f, line);
  add(std::move(p));
}

/// pair P Q A ... E ... F ...: two products that are alike become one.
void Goal::pair(Line& line, Lines& lines) {
  size_t n = place(line), m = place(line);
  if (n == m) throw Refused{"a product is paired with itself"};
  const Product p = products_.at(n), q = products_.at(m);
  check_scopes(p, q);
  if (p.atoms.size() != q.atoms.size()) throw Refused{"two products are not alike"};
  std::vector<size_t> order;
  for (size_t k = 0; k < q.atoms.size(); ++k) {
    order.push_back(line.number(q.atoms.size()));
    if (std::count(order.begin(), order.end(), order[k]) > 1)
      throw Refused{"a factor is paired twice"};
  }
  Values to = bijection(symbols_, context_.facts, {p.bound, p.guard}, {q.bound, q.guard}, line);
  const Context known = inner(p);
  for (size_t k = 0; k < p.atoms.size(); ++k)
    need_equal(symbols_, known, p.atoms[k], substitute(symbols_, q.atoms[order[k]], to), line,
               lines);
  Product& sum = products_.at(n);
  sum.coefficient = p.coefficient + q.coefficient;
  if (sum.coefficient.n == 0) products_.erase(n);
  products_.erase(m);
}

/// under P, Q E ... F ... for each further product: along their ranges, what they add up is 0.
void Goal::under(Line& line, Lines& lines) {
  size_t n = place(line);
  const Product p = products_.at(n);
  Sum body{{{p.coefficient, {}, {}, p.atoms}}};
  Context context = inner(p);
  products_.erase(n);
  while (!line.words().empty()) {
    const Product q = take(line);
    check_scopes(p, q);
    Values to = bijection(symbols_, context_.facts, {p.bound, p.guard}, {q.bound, q.guard}, line);
    body = body + substitute(symbols_, Sum{{{q.coefficient, {}, {}, q.atoms}}}, to);
  }
  show_zero(symbols_, std::move(context), body, lines);
}

/// No index of one stands in the other where it is not bound.
void Goal::check_scopes(const Product& p, const Product& q) const {
  for (const auto& [one, other] : {std::pair(&p, &q), std::pair(&q, &p)})
    for (Symbol s : one->bound)
      if (mentions(symbols_, Sum{{*other}}, s))
        throw Refused{"an index stands outside of its range"};
}

/// alias P k NAME: an index that is bound has another name.
void Goal::alias(Line& line, Lines&) {
  Product p = take(line);
  size_t b = line.number(p.bound.size());
  Symbol s = index(line.word());
  bool taken = std::find(p.bound.begin(), p.bound.end(), s) != p.bound.end();
  if (taken || mentions_within(symbols_, p, s)) throw Refused{"the name is taken"};
  Symbol old = std::exchange(p.bound.edit()[b], s);
  add(substitute_within(symbols_, p, {{old, Poly::symbol(s)}}));
}

/// inside P A: steps within the argument of factor A, which becomes what is left.
void Goal::inside(Line& line, Lines& lines) {
  Product p = take(line);
  Atom& a = p.atoms.edit()[line.number(p.atoms.size())];
  if (!a.argument) throw Refused{"the factor has no argument"};
  Goal goal(symbols_, kernel::within(symbols_, inner(p), a.bound, a.guard), *a.argument);
  a.argument = std::make_shared<Sum>(goal.rewritten(lines));
  add(std::move(p));
}

/// value P A: a whole number as the sum of its terms, 1 over a term as a product; numbers go to the
/// coefficient. 1/0 counts as 0.
void Goal::value(Line& line, Lines&) {
  Product p = take(line);
  size_t k = line.number(p.atoms.size());
  const Atom a = p.atoms[k];
  bool over = a.kind == Atom::Recip;
  if (!over && a.kind != Atom::Number) throw Refused{"the factor is no whole number"};
  const auto terms = in_order(symbols_, a.positions.at(0));
  if (over && terms.size() != 1) throw Refused{"the denominator is no single term"};
  p.atoms.erase(k);
  for (const auto& [m, c] : terms) {
    Product part = p;
    part.coefficient = part.coefficient * (over ? Fraction::make(1, c) : Fraction::make(c, 1));
    for (Symbol s : m) part.atoms.push_back({.kind = a.kind, .positions = {Poly::symbol(s)}});
    add(std::move(part));
  }
}

/// count P K I J: nothing reads index K but parts I and J of the guard, K - low >= 0 and
/// high - 1 - K >= 0: the factor high - low, which is not negative.
void Goal::count(Line& line, Lines&) {
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
  p.bound.erase(b);
  p.guard.erase(std::max(i, j));
  p.guard.erase(std::min(i, j));
  if (mentions_within(symbols_, p, s)) throw Refused{"something reads the index"};
  need(symbols_, facts_in(p), non_negative(high - low), line);
  p.atoms.push_back({.kind = Atom::Number, .positions = {high - low}});
  add(std::move(p));
}

/// cases FACT: once with the fact, once with what it denies.
void Goal::cases(Line& line, Lines& lines) {
  Fact f = read_fact(symbols_, line.words());
  for (const Fact& one : {f, negated(f)}) {
    Context context = context_;
    append(context.facts, one);
    show_with(std::move(context), lines);
  }
  products_.clear();
  close();
}

}  // namespace regraft::kernel
