#include "verify/kernel/poly.h"

#include <algorithm>
#include <charconv>

namespace regraft::kernel {

int64_t checked_sum(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) throw Refused{"a number is too large"};
  return r;
}

int64_t checked_product(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw Refused{"a number is too large"};
  return r;
}

namespace {

int64_t rounded_down(int64_t a, int64_t k) { return a / k - (a % k < 0 ? 1 : 0); }

void add(Poly::Terms& terms, const Monomial& m, int64_t c) {
  if (c == 0) return;
  auto [it, fresh] = terms.try_emplace(m, 0);
  it->second = checked_sum(it->second, c);
  if (it->second == 0) terms.erase(it);
  if (terms.size() > Poly::kMostTerms) throw Refused{"a polynomial has too many terms"};
}

}  // namespace

Poly::Poly(Terms terms) {
  if (terms.empty()) return;
  Symbol newest = 0;
  for (const auto& [m, c] : terms)
    if (!m.empty()) newest = std::max(newest, m.back());
  data_ = std::make_shared<const Data>(Data{std::move(terms), newest});
}

const Poly::Terms Poly::kNone;

Poly::Poly(int64_t constant) {
  if (constant != 0) *this = Poly(Terms{{{}, constant}});
}

Poly Poly::symbol(Symbol s) { return Poly(Terms{{{s}, 1}}); }

bool Poly::is_constant() const {
  return terms().empty() || (terms().size() == 1 && terms().begin()->first.empty());
}

int64_t Poly::constant() const {
  auto it = terms().find({});
  return it == terms().end() ? 0 : it->second;
}

Poly operator+(const Poly& a, const Poly& b) {
  if (a.terms().empty() || b.terms().empty()) return a.terms().empty() ? b : a;
  Poly::Terms r = a.terms();
  for (const auto& [m, c] : b.terms()) add(r, m, c);
  return Poly(std::move(r));
}

Poly operator-(const Poly& a, const Poly& b) {
  if (b.terms().empty()) return a;
  Poly::Terms r = a.terms();
  for (const auto& [m, c] : b.terms()) add(r, m, checked_product(c, -1));
  return Poly(std::move(r));
}

Poly operator*(const Poly& a, const Poly& b) {
  Poly::Terms r;
  for (const auto& [m, c] : a.terms())
    for (const auto& [n, d] : b.terms()) {
      if (m.size() + n.size() > Poly::kMostFactors) throw Refused{"a product has too many factors"};
      Monomial both;
      std::merge(m.begin(), m.end(), n.begin(), n.end(), std::back_inserter(both));
      add(r, both, checked_product(c, d));
    }
  return Poly(std::move(r));
}

Poly Poly::divided(int64_t k) const {
  if (k < 1) throw Refused{"division by a number below 1"};
  Terms r;
  for (const auto& [m, c] : terms()) {
    if (!m.empty() && c % k != 0) throw Refused{"the divisor does not divide a coefficient"};
    add(r, m, m.empty() ? rounded_down(c, k) : c / k);
  }
  return Poly(std::move(r));
}

namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_name(char c) { return starts_name(c) || (c >= '0' && c <= '9') || c == '.'; }

bool is_name(std::string_view s) {
  return !s.empty() && starts_name(s[0]) && std::all_of(s.begin(), s.end(), in_name);
}

}  // namespace

Symbol Symbols::add(SymbolData data) {
  all_.push_back(std::move(data));
  return static_cast<Symbol>(all_.size() - 1);
}

Symbol Symbols::make(Kind kind, std::string_view name, std::optional<int64_t> least) {
  if (!is_name(name)) throw Refused{"not a name: " + std::string(name)};
  if (kind > Kind::Index) throw Refused{"a quotient or a lookup has no name"};
  auto [it, fresh] = names_.try_emplace(std::string(name), static_cast<Symbol>(all_.size()));
  if (!fresh) throw Refused{"a second symbol is named " + std::string(name)};
  return add({kind, std::string(name), least, {}, {}, 0});
}

Symbol Symbols::quotient(const Poly& numerator, const Poly& denominator) {
  auto [it, fresh] = made_.try_emplace({Kind::Quotient, 0, numerator, denominator},
                                       static_cast<Symbol>(all_.size()));
  return fresh ? add({Kind::Quotient, "", {}, numerator, denominator, 0}) : it->second;
}

size_t Symbols::table(const std::vector<Poly>& entries) {
  auto [it, fresh] = numbers_.try_emplace(entries, tables_.size());
  if (fresh) tables_.push_back(entries);
  return it->second;
}

Symbol Symbols::lookup(size_t table, const Poly& position, const Poly& bound) {
  if (table >= tables_.size()) throw Refused{"there is no table " + std::to_string(table)};
  auto [it, fresh] =
      made_.try_emplace({Kind::Lookup, table, position, bound}, static_cast<Symbol>(all_.size()));
  return fresh ? add({Kind::Lookup, "", {}, position, bound, table}) : it->second;
}

std::optional<Symbol> Symbols::find(std::string_view name) const {
  auto it = names_.find(name);
  return it == names_.end() ? std::nullopt : std::optional(it->second);
}

bool Symbols::mentions_within(const Poly& p, Symbol s) const {
  for (const auto& [monomial, c] : p.terms())
    for (Symbol x : monomial) {
      if (x == s) return true;
      if (x < s || all_[x].kind <= Kind::Index) continue;
      if (mentions(all_[x].first, s) || mentions(all_[x].second, s)) return true;
      if (all_[x].kind == Kind::Lookup)
        for (const Poly& entry : tables_[all_[x].table])
          if (mentions(entry, s)) return true;
    }
  return false;
}

Poly Symbols::substitute(const Poly& p, const std::map<Symbol, Poly>& values) {
  if (std::none_of(values.begin(), values.end(), [&](auto& v) { return mentions(p, v.first); }))
    return p;
  Poly r;
  for (const auto& [monomial, c] : p.terms()) {
    Poly x(c);
    for (Symbol s : monomial) {
      auto it = values.find(s);
      x = x * (it == values.end() ? Poly::symbol(substitute(s, values)) : it->second);
    }
    r = r + x;
  }
  return r;
}

Symbol Symbols::substitute(Symbol s, const std::map<Symbol, Poly>& values) {
  const SymbolData data = all_[s];
  if (data.kind <= Kind::Index) return s;
  Poly first = substitute(data.first, values), second = substitute(data.second, values);
  if (data.kind == Kind::Quotient) return quotient(first, second);
  std::vector<Poly> entries = tables_[data.table];
  for (Poly& e : entries) e = substitute(e, values);
  return lookup(table(entries), first, second);
}

std::string Symbols::text(const Poly& p) const {
  std::string out;
  for (const auto& [monomial, c] : p.terms()) {
    if (c > 0 && !out.empty()) out += '+';
    if (monomial.empty() || (c != 1 && c != -1)) out += std::to_string(c);
    if (!monomial.empty() && c == -1) out += '-';
    bool first = c == 1 || c == -1;
    for (Symbol s : monomial) {
      if (!first) out += '*';
      first = false;
      const SymbolData& data = all_[s];
      if (data.kind == Kind::Quotient)
        out += "[" + text(data.first) + "/" + text(data.second) + "]";
      else if (data.kind == Kind::Lookup)
        out += "{" + std::to_string(data.table) + "," + text(data.first) + "," + text(data.second) +
               "}";
      else
        out += data.name;
    }
  }
  return out.empty() ? "0" : out;
}

int64_t read_integer(std::string_view text) {
  int64_t n = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failed != std::errc() || end != text.data() + text.size())
    throw Refused{"not an integer: " + std::string(text.substr(0, 40))};
  return n;
}

namespace {

/// poly   = ["-"] term { ("+" | "-") term }
/// term   = factor { "*" factor }
/// factor = number | name | "(" poly ")" | "[" poly "/" poly "]"
///        | "{" number "," poly "," poly "}"
class Reader {
 public:
  Reader(Symbols& symbols, std::string_view text) : symbols_(symbols), text_(text) {}
  Poly all() {
    Poly p = poly();
    if (at_ != text_.size()) refuse("the end");
    return p;
  }

 private:
  static constexpr int kDeepest = 40;
  [[noreturn]] void refuse(const std::string& wanted) {
    throw Refused{"in " + std::string(text_.substr(0, 60)) + ": " + wanted +
                  " was expected at character " + std::to_string(at_ + 1)};
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(std::string(1, c));
  }
  Poly poly() {
    if (++depth_ > kDeepest) throw Refused{"a polynomial is nested too deeply"};
    Poly p = take('-') ? Poly(-1) * term() : term();
    for (;;) {
      if (take('+'))
        p = p + term();
      else if (take('-'))
        p = p - term();
      else
        break;
    }
    --depth_;
    return p;
  }
  Poly term() {
    Poly p = factor();
    while (take('*')) p = p * factor();
    return p;
  }
  std::string_view word(bool (*belongs)(char)) {
    size_t from = at_;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  int64_t number() {
    return read_integer(word([](char c) { return c >= '0' && c <= '9'; }));
  }
  Poly factor() {
    if (take('(')) {
      Poly p = poly();
      expect(')');
      return p;
    }
    if (take('[')) return quotient();
    if (take('{')) return lookup();
    if (at_ >= text_.size()) refuse("a number or a name");
    if (text_[at_] >= '0' && text_[at_] <= '9') return number();
    if (!starts_name(text_[at_])) refuse("a number or a name");
    std::string_view name = word(in_name);
    auto s = symbols_.find(name);
    if (!s) throw Refused{"nothing is named " + std::string(name.substr(0, 60))};
    return Poly::symbol(*s);
  }
  Poly quotient() {
    Poly n = poly();
    expect('/');
    Poly d = poly();
    expect(']');
    return Poly::symbol(symbols_.quotient(n, d));
  }
  Poly lookup() {
    int64_t table = number();
    expect(',');
    Poly i = poly();
    expect(',');
    Poly bound = poly();
    expect('}');
    return Poly::symbol(symbols_.lookup(static_cast<size_t>(table), i, bound));
  }

  Symbols& symbols_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Poly Symbols::read(std::string_view text) { return Reader(*this, text).all(); }

}  // namespace regraft::kernel
