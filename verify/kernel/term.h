#pragma once
// The kernel's real numbers: sums of guarded products over bound indices. Functions are total here:
// what a quotient by 0, a root of a negative number or a maximum of nothing is, nobody knows, but
// it is one real number.
#include <memory>

#include "verify/kernel/facts.h"

namespace regraft::kernel {

/// A rational in lowest terms, d >= 1. Arithmetic throws Refused beyond int64.
struct Fraction {
  int64_t n = 0, d = 1;
  static Fraction make(int64_t n, int64_t d);
  friend Fraction operator+(Fraction a, Fraction b);
  friend Fraction operator*(Fraction a, Fraction b);
  bool operator==(const Fraction&) const = default;
};

struct Sum;

/// A factor that is not a rational.
struct Atom {
  enum Kind : uint8_t {
    Read,     ///< element `positions` of input `head`
    Recip,    ///< 1 / positions[0]
    Number,   ///< positions[0] as a number
    Apply,    ///< function number `head` of `argument`
    Max,      ///< of `argument` over `bound` where `guard` holds
    Unknown,  ///< the number `real`
  } kind = Read;
  int head = 0;
  List<Poly> positions = {};
  std::string real = {};  ///< the same text, the same number
  std::shared_ptr<const Sum> argument = {};
  List<Symbol> bound = {};
  List<Fact> guard = {};
};

/// coefficient * sum over all integers `bound` that satisfy `guard` of the product of the atoms.
/// These are finitely many.
struct Product {
  Fraction coefficient{1, 1};
  List<Symbol> bound = {};
  List<Fact> guard = {};
  List<Atom> atoms = {};
};

struct Sum {
  List<Product> products;
};

/// The same as they stand, names of bound indices included.
bool same(const Atom& a, const Atom& b);
/// But for the coefficient.
bool same(const Product& a, const Product& b);
/// a as it stands is b, each product of which is multiplied by a number.
bool same(const Sum& a, const Sum& b, Fraction times = {1, 1});

/// All replacements at once. Refused where an index that is bound within is replaced, or stands in
/// what replaces another one.
using Values = std::map<Symbol, Poly>;
Atom substitute(Symbols& symbols, Atom a, const Values& values);
Sum substitute(Symbols& symbols, Sum s, const Values& values);
/// In guard and atoms; `bound` stays.
Product substitute_within(Symbols& symbols, Product p, const Values& values);

/// Does this symbol stand there where it is not bound? Of a product: within it, bound there or not.
bool mentions(const Symbols& symbols, const Sum& sum, Symbol s);
bool mentions_within(const Symbols& symbols, const Product& p, Symbol s);
/// The terms of p, and the symbols of each, by when the symbols were made: what claims are about,
/// then indices, then quotients and lookups.
std::vector<std::pair<Monomial, int64_t>> in_order(const Symbols& symbols, const Poly& p);
/// The symbol that p is, if it is one.
std::optional<Symbol> symbol_of(const Poly& p);
Sum sum_of(Atom a);
Sum number(Fraction c);
Sum operator+(Sum a, const Sum& b);
Sum scaled(Sum s, Fraction c);
/// Refused beyond 4,000 products, and where an index that one binds stands in the other.
Sum times(const Symbols& symbols, const Sum& a, const Sum& b);
/// The facts and what `all` says of them as facts of their own.
void append(List<Fact>& facts, const Fact& f);

/// For readers: "1/2 sum k : ge k : t0[i,k]".
std::string text(const Symbols& symbols, const Sum& s);
std::string text(const Symbols& symbols, const Product& p);

}  // namespace regraft::kernel
