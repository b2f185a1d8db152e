#include "verify/kernel/signs.h"

#include <algorithm>

#include "ir/algebra/tree/syntax.h"

namespace regraft::kernel {
namespace {

template <class F>
Signs of_pairs(Signs a, Signs b, F f) {
  Signs r = 0;
  for (int x : {-1, 0, 1})
    for (int y : {-1, 0, 1})
      if (a >> (x + 1) & 1 && b >> (y + 1) & 1) r |= f(x, y);
  return r;
}

Signs image(const FnFacts& f, Signs x) {
  switch (f.sign) {
    case SignOf::Positive:
      return kPositive;
    case SignOf::PositivePart:
      return static_cast<Signs>((x & kPositive) | (within(x, kPositive) ? 0 : kZero));
    case SignOf::Argument:  // what a root of a negative number is, nobody knows
      return f.domain == Domain::NotNegative && (x & kNegative) ? kAnySign : x;
    case SignOf::FromBelow:
      return static_cast<Signs>(x | (x & kPositive ? kZero : 0));
    case SignOf::TowardsZero:
      return static_cast<Signs>(x | kZero);
    default:
      return kAnySign;
  }
}

class Reader {
 public:
  Reader(const Symbols& symbols, const List<Known>& known) : symbols_(symbols), known_(known) {}

  Signs of(const Sum& s) {
    Signs r = kZero;
    for (const Product& p : s.products) r = sum_of(r, of(p));
    return said(s, r);
  }

 private:
  /// What is known of a number with this name says nothing of one that is bound here.
  bool is_meant(const Known& k) const {
    return std::ranges::none_of(scope_, [&](Symbol s) { return mentions(symbols_, k.sum, s); });
  }
  Signs said(const Sum& s, Signs r) const {
    for (const Known& k : known_) {
      if (same(k.sum, s) && is_meant(k)) r &= k.signs;
      if (same(k.sum, s, {-1, 1}) && is_meant(k)) r &= opposite(k.signs);
    }
    return r;
  }
  /// Of the product with coefficient 1.
  Signs said(const Product& p, Signs r) const {
    for (const Known& k : known_) {
      if (k.sum.products.size() != 1 || !same(k.sum.products[0], p) || !is_meant(k)) continue;
      const Fraction c = k.sum.products[0].coefficient;
      if (c == Fraction{1, 1}) r &= k.signs;
      if (c == Fraction{-1, 1}) r &= opposite(k.signs);
    }
    return r;
  }
  Signs of(const Product& p) {
    const size_t outside = scope_.size();
    scope_.insert(scope_.end(), p.bound.begin(), p.bound.end());
    Signs r = of(p.atoms);
    scope_.resize(outside);
    if (!p.bound.empty() || !p.guard.empty()) r |= kZero;
    if (!p.atoms.empty() || r != kPositive) r = said(p, r);
    return product_of(sign_of(p.coefficient), r);
  }
  Signs of(const List<Atom>& atoms) {
    Signs r = kPositive;
    std::vector<bool> used(atoms.size());
    for (size_t i = 0; i < atoms.size(); ++i) {
      if (used[i]) continue;
      Signs x = of(atoms[i]);
      for (size_t j = i + 1; j < atoms.size() && !used[i]; ++j)
        if (!used[j] && same(atoms[i], atoms[j])) {
          used[i] = used[j] = true;
          x = static_cast<Signs>((x & kZero) | (x & kNotZero ? kPositive : 0));
        }
      r = product_of(r, x);
    }
    return r;
  }
  Signs of(const Atom& a) {
    Signs r = kAnySign;
    if (a.kind == Atom::Apply) r = image(facts(static_cast<Fn>(a.head)), of(*a.argument));
    if (a.kind == Atom::Recip) r = of(Atom{.kind = Atom::Number, .positions = a.positions});
    if (a.kind == Atom::Number)
      if (auto s = symbol_of(a.positions.at(0)); s && symbols_[*s].least.value_or(-1) >= 0)
        r = *symbols_[*s].least > 0 ? kPositive : kNotNegative;
    if (a.kind == Atom::Unknown && a.real.starts_with('#'))  // the bits of a double that is not 0
      r = a.real[1] == '-' ? kNegative : kPositive;
    return said(Product{.atoms = {a}}, r);
  }

  const Symbols& symbols_;
  const List<Known>& known_;
  std::vector<Symbol> scope_;  // the indices that are bound around what is read
};

}  // namespace

Signs sum_of(Signs a, Signs b) {
  return of_pairs(a, b, [](int x, int y) {
    if (x * y < 0) return kAnySign;
    return static_cast<Signs>(1 << ((x != 0 ? x : y) + 1));
  });
}
Signs product_of(Signs a, Signs b) {
  return of_pairs(a, b, [](int x, int y) { return static_cast<Signs>(1 << (x * y + 1)); });
}
Signs opposite(Signs a) { return product_of(a, kNegative); }
Signs sign_of(Fraction c) { return c.n == 0 ? kZero : c.n > 0 ? kPositive : kNegative; }

Signs read_signs(std::string_view word) {
  static const std::map<std::string_view, Signs> kWords{
      {"<", kNegative}, {"<=", kNegative | kZero}, {"=", kZero},
      {">", kPositive}, {">=", kNotNegative},      {"<>", kNotZero}};
  auto it = kWords.find(word);
  if (it == kWords.end()) throw Refused{"a sign was expected"};
  return it->second;
}

Signs sign_of(const Symbols& symbols, const List<Known>& known, const Sum& s) {
  return Reader(symbols, known).of(s);
}

}  // namespace regraft::kernel
