// Steps about what is known of real numbers.
#include <algorithm>
#include <cctype>
#include <set>

#include "verify/kernel/premises.h"

namespace regraft::kernel {
namespace {

/// The only factor of a sum that is one.
const Atom& only_atom(const Sum& s) {
  const Product& p = only_product(s);
  if (p.atoms.size() != 1 || p.coefficient != Fraction{1, 1}) throw Refused{"that is no factor"};
  return p.atoms[0];
}

Fraction read_fraction(std::string_view text) {
  size_t bar = text.find('/');
  if (bar == text.npos) return Fraction::make(read_integer(text), 1);
  return Fraction::make(read_integer(text.substr(0, bar)), read_integer(text.substr(bar + 1)));
}

size_t take_number(std::string_view& text) {
  size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  int64_t n = read_integer(text.substr(0, digits));
  text.remove_prefix(digits);
  return static_cast<size_t>(n);
}

}  // namespace

/// The sum that a path begins with.
Sum Goal::path_start(std::string_view& path) const {
  for (std::string_view name : {"all", "target"})
    if (path.starts_with(name)) {
      path.remove_prefix(name.size());
      if (name == "target" && !target_) throw Refused{"there is no target"};
      return name == "target" ? target_->sum : left();
    }
  bool known = path.starts_with('#');
  path.remove_prefix(known ? 1 : 0);
  size_t k = take_number(path);
  if (known && k < context_.known.size()) return context_.known[k].sum;
  auto it = products_.find(k);
  if (known || it == products_.end()) throw Refused{"a path names nothing"};
  return {{it->second}};
}

Sum Goal::at_path(std::string_view path) const {
  const bool product = !path.empty() && std::isdigit(static_cast<unsigned char>(path[0]));
  Sum found = path_start(path);
  std::vector<Symbol> bound;
  bool chosen = product;  // one product of what was found
  auto next = [&](size_t end) {
    if (path.empty() || path[0] != '.') throw Refused{"a path was expected"};
    path.remove_prefix(1);
    size_t k = take_number(path);
    if (k >= end) throw Refused{"a path names nothing"};
    return k;
  };
  while (!path.empty()) {
    if (!chosen) {
      Product one = found.products.at(next(found.products.size()));
      found = {{std::move(one)}};
      chosen = true;
      continue;
    }
    const Product p = found.products.at(0);
    const Atom a = p.atoms[next(p.atoms.size())];
    bound.insert(bound.end(), p.bound.begin(), p.bound.end());
    found = sum_of(a);
    while (!path.empty() && path[0] == ',') {
      path.remove_prefix(1);
      size_t k = take_number(path);
      if (k >= p.atoms.size()) throw Refused{"a path names nothing"};
      found = times(symbols_, found, sum_of(p.atoms[k]));
    }
    if (path.empty()) break;
    if (found.products[0].atoms.size() != 1) throw Refused{"a path was expected"};
    if (!a.argument) throw Refused{"a path names nothing"};
    bound.insert(bound.end(), a.bound.begin(), a.bound.end());
    found = *a.argument;
    chosen = false;
    if (path == "*") break;
  }
  for (Symbol s : bound)
    if (mentions(symbols_, found, s)) throw Refused{"a path leads out of a range"};
  return found;
}

void Goal::learn(Sum s, Signs signs) {
  if (s.products.size() == 1 && s.products[0].coefficient.n != 0) {
    Fraction& c = s.products.edit()[0].coefficient;
    signs = product_of(signs, sign_of(c));
    c = {1, 1};
  }
  context_.known.push_back({std::move(s), signs});
}

const Known& Goal::known(Line& line) { return context_.known[line.number(context_.known.size())]; }

Signs Goal::sign_by_terms(Sum s, Line& line, Lines& lines) {
  Signs signs = kZero;
  while (!line.words().empty()) {
    std::string_view word = line.word();
    size_t colon = word.find(':');
    Sum term = number(read_fraction(word.substr(0, colon)));
    Signs of = term.products.empty() ? kZero : sign_of(term.products[0].coefficient);
    word.remove_prefix(std::min(colon, word.size()));
    while (!word.empty()) {
      word.remove_prefix(1);
      size_t k = take_number(word);
      if (k >= context_.known.size() || (!word.empty() && word[0] != '*'))
        throw Refused{"a term was expected"};
      of = product_of(of, context_.known[k].signs);
      term = times(symbols_, term, context_.known[k].sum);
    }
    signs = sum_of(signs, of);
    s = difference(s, term);
  }
  const Sum rest = Goal(symbols_, context_, s).rewritten(lines);
  return sum_of(signs, sign_of(symbols_, context_.known, rest));
}

/// infer PATH TERM ...: a number has the sign of what it is made of.
void Goal::infer(Line& line, Lines& lines) {
  Sum s = at_path(line.word());
  Signs signs = sign_by_terms(s, line, lines);
  learn(std::move(s), signs);
}

/// absurd TERM ...: 0 would have another sign.
void Goal::absurd(Line& line, Lines& lines) {
  if (sign_by_terms({}, line, lines) & kZero) throw Refused{"that is no contradiction"};
  products_.clear();
  close();
}

/// by-sign PATH SIGN: a number has one of these signs, or another one.
void Goal::split(Line& line, Lines& lines) {
  const Sum s = at_path(line.word());
  const Signs signs = read_signs(line.word());
  for (Signs one : {signs, static_cast<Signs>(kAnySign & ~signs)}) {
    Goal part(symbols_, context_, left(), target_);
    part.learn(s, one);
    part.run(lines);
  }
  products_.clear();
  close();
}

/// order PATH PATH TERM ...: of two values of an increasing function.
void Goal::order(Line& line, Lines& lines) {
  const Sum one = at_path(line.word()), other = at_path(line.word());
  const Atom &a = only_atom(one), &b = only_atom(other);
  if (a.kind != Atom::Apply || b.kind != a.kind || a.head != b.head)
    throw Refused{"these are not values of one function"};
  const Fn f = static_cast<Fn>(a.head);
  for (const Atom* x : {&a, &b})
    if (!kernel::within(sign_of(symbols_, context_.known, *x->argument), domain_of(f)))
      throw Refused{"the function may not be defined"};
  if (!regraft::facts(f).increasing) throw Refused{"the function does not increase"};
  Signs d = sign_by_terms(difference(*a.argument, *b.argument), line, lines);
  learn(difference(one, other), static_cast<Signs>(d | kZero));
}

/// factor F A ...: what is not 0 has no factor that is; one of each product.
void Goal::factor(Line& line, Lines&) {
  const Known k = known(line);
  if (k.signs & kZero) throw Refused{"that may be 0"};
  Sum rest = k.sum;
  learn(take_common(symbols_, rest, line), kNotZero);
  learn(std::move(rest), kNotZero);
}

/// defined Y E ...: what a partial function that is defined is of.
void Goal::defined(Line& line, Lines&) {
  if (!context_.defined) throw Refused{"nothing is known to be defined"};
  const Partial& y = (*context_.defined)[line.number(context_.defined->size())];
  Values at = read_values(symbols_, y.bound, line);
  for (const Fact& g : y.guard) need(symbols_, context_.facts, substitute(symbols_, g, at), line);
  Known k = domain_of(substitute(symbols_, y.atom, at));
  learn(std::move(k.sum), k.signs);
}

/// whole POLY SIGN: a whole number.
void Goal::whole(Line& line, Lines&) {
  Poly p = symbols_.read(line.word());
  Signs signs = read_signs(line.word());
  if (signs != kPositive && signs != kNotNegative) throw Refused{"a sign was expected"};
  need(symbols_, context_.facts, non_negative(signs == kPositive ? p - Poly(1) : p), line);
  learn(sum_of({.kind = Atom::Number, .positions = {p}}), signs);
}

/// bounds PATH: a value of a function that is bounded, or exp(x) >= x + 1.
void Goal::bounds(Line& line, Lines&) {
  const Sum value = at_path(line.word());
  const Atom& a = only_atom(value);
  if (a.kind != Atom::Apply) throw Refused{"that is no function"};
  const Fn f = static_cast<Fn>(a.head);
  if (f == Fn::Exp) return learn(difference(value, *a.argument + number({1, 1})), kNotNegative);
  auto range = regraft::facts(f).range;
  if (!range) throw Refused{"the function has no bounds"};
  learn(difference(value, number({range->low, 1})), kPositive);
  learn(difference(number({range->high, 1}), value), kPositive);
}

/// total PATH SIGN E ...: a sum of numbers of one sign, of which there is one at E.
void Goal::total(Line& line, Lines& lines) {
  const Sum s = at_path(line.word());
  const Product& p = s.products.at(0);
  if (s.products.size() != 1) throw Refused{"that is more than a product"};
  Signs signs = read_signs(line.word());
  if (signs == kNotZero) throw Refused{"such numbers may add up to 0"};
  if (line.words().empty()) {
    signs |= kZero;
  } else {
    Values at = read_values(symbols_, p.bound, line);
    for (const Fact& g : p.guard) need(symbols_, context_.facts, substitute(symbols_, g, at), line);
  }
  Goal(symbols_, inner(p), {}, Known{{{{p.coefficient, {}, {}, p.atoms}}}, signs}).run(lines);
  learn(s, signs);
}

Symbol Goal::index(std::string_view name) {
  auto found = symbols_.find(name);
  Symbol s = found ? *found : symbols_.make(Kind::Index, name, std::nullopt);
  if (symbols_[s].kind != Kind::Index) throw Refused{"that names no index"};
  return s;
}

bool Goal::stands_somewhere(Symbol s) const {
  for (const Fact& f : context_.facts)
    if (mentions(symbols_, f, s)) return true;
  for (const Known& k : context_.known)
    if (mentions(symbols_, k.sum, s)) return true;
  return mentions(symbols_, left(), s) || (target_ && mentions(symbols_, target_->sum, s));
}

/// attain PATH NAME ... REASON: a maximum is the value at some indices; there is one.
void Goal::attain(Line& line, Lines&) {
  only_to_show();
  const Sum value = at_path(line.word());
  const Atom& a = only_atom(value);
  if (a.kind != Atom::Max) throw Refused{"that is no maximum"};
  Values there;
  std::set<Symbol> names;
  for (Symbol s : a.bound) {
    Symbol name = index(line.word());
    if (!names.insert(name).second || stands_somewhere(name)) throw Refused{"the name is taken"};
    there[s] = Poly::symbol(name);
  }
  need_reached(symbols_, context_, a, line);
  for (const Fact& g : a.guard) append(context_.facts, substitute(symbols_, g, there));
  learn(difference(value, substitute(symbols_, *a.argument, there)), kZero);
}

/// above PATH E ...: a maximum is at least the value at E.
void Goal::above(Line& line, Lines&) {
  const Sum value = at_path(line.word());
  const Atom& a = only_atom(value);
  if (a.kind != Atom::Max) throw Refused{"that is no maximum"};
  Values at = read_values(symbols_, a.bound, line);
  for (const Fact& g : a.guard) need(symbols_, context_.facts, substitute(symbols_, g, at), line);
  learn(difference(value, substitute(symbols_, *a.argument, at)), kNotNegative);
}

}  // namespace regraft::kernel
