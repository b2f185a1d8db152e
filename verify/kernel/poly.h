#pragma once
// The kernel's integers: polynomials with integer coefficients over named symbols. Everything here
// is exact: what does not fit 64 bits, or one of the limits, is refused and never wrapped.
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace regraft::kernel {

/// Thrown for whatever the kernel does not accept; `why` is one line.
struct Refused {
  std::string why;
};

/// Refused where the result does not fit 64 bits.
int64_t checked_sum(int64_t a, int64_t b);
int64_t checked_product(int64_t a, int64_t b);

/// Which symbol: its place in a Symbols.
using Symbol = uint32_t;
/// A product of symbols: sorted, repetition = power, empty = 1.
using Monomial = std::vector<Symbol>;

/// A polynomial. Two are equal exactly when they are the same polynomial. Copies share their terms,
/// which do not change. Its functions throw Refused beyond int64, `kMostTerms` and `kMostFactors`.
class Poly {
 public:
  using Terms = std::map<Monomial, int64_t>;
  static constexpr size_t kMostTerms = 1'000, kMostFactors = 40;
  Poly(int64_t constant = 0);  // NOLINT: implicit by design
  static Poly symbol(Symbol s);
  /// None has coefficient 0; the constant is that of the empty monomial.
  const Terms& terms() const { return data_ ? data_->terms : kNone; }
  /// No symbol of a larger number stands in a term; 0 where there is none.
  Symbol newest() const { return data_ ? data_->newest : 0; }
  bool is_constant() const;
  int64_t constant() const;
  friend Poly operator+(const Poly& a, const Poly& b);
  friend Poly operator-(const Poly& a, const Poly& b);
  friend Poly operator*(const Poly& a, const Poly& b);
  friend auto operator<=>(const Poly& a, const Poly& b) { return a.terms() <=> b.terms(); }
  friend bool operator==(const Poly& a, const Poly& b) {
    return a.data_ == b.data_ || a.terms() == b.terms();
  }
  /// All coefficients divided by k, the constant rounded down: of p >= 0 this is what integers
  /// leave. Refused unless k >= 1 divides every other coefficient.
  Poly divided(int64_t k) const;

 private:
  struct Data {
    Terms terms;
    Symbol newest = 0;
  };
  explicit Poly(Terms terms);
  static const Terms kNone;
  std::shared_ptr<const Data> data_;  ///< none: 0
};

/// What a symbol stands for.
enum class Kind : uint8_t {
  Size,       ///< a size of a tensor
  Attribute,  ///< an integer that a claim is about: an attribute, the position of an element
  Index,      ///< the variable of a sum or of a maximum; the names that steps give
  Quotient,   ///< floor(first / second) where second >= 1, else some integer that depends on both
  Lookup,  ///< entry number `first` of the table, cut to 0 .. second-1 where second >= 1; outside
           ///< of the table some integer in that range; else some integer that depends on all
};

struct SymbolData {
  Kind kind;
  std::string name;              ///< of Size, Attribute and Index
  std::optional<int64_t> least;  ///< it is at least that
  Poly first, second;            ///< numerator and denominator; position and bound
  size_t table = 0;              ///< of Lookup
};

/// The symbols and tables of one derivation. Names differ; quotients and lookups of the same parts
/// are the same symbol. References stay valid only until the next symbol is made.
class Symbols {
 public:
  /// A new symbol with a value of its own; Refused if the name is taken or not a name
  /// (letters, digits, '_' and '.', a letter or '_' first).
  Symbol make(Kind kind, std::string_view name, std::optional<int64_t> least);
  Symbol quotient(const Poly& numerator, const Poly& denominator);
  /// The same number for the same entries.
  size_t table(const std::vector<Poly>& entries);
  Symbol lookup(size_t table, const Poly& position, const Poly& bound);

  const SymbolData& operator[](Symbol s) const { return all_.at(s); }
  size_t size() const { return all_.size(); }
  const std::vector<Poly>& entries(size_t table) const { return tables_.at(table); }
  size_t tables() const { return tables_.size(); }
  std::optional<Symbol> find(std::string_view name) const;

  /// Does p, or what a quotient or a lookup in it is made of, have this symbol?
  bool mentions(const Poly& p, Symbol s) const {
    return p.newest() >= s && mentions_within(p, s);  // what s is part of was made after it
  }
  /// All replacements at once, in quotients, lookups and their tables too.
  Poly substitute(const Poly& p, const std::map<Symbol, Poly>& values);

  /// "2*n*k-[n+1/d]+{0,i,m}"; read() gives back what text() was given. A text has no
  /// spaces. Refused: unknown names, tables there are not, and what is too deep or too long.
  std::string text(const Poly& p) const;
  Poly read(std::string_view text);

 private:
  Symbol add(SymbolData data);
  bool mentions_within(const Poly& p, Symbol s) const;
  /// What the symbol, which is none of those that are replaced, becomes.
  Symbol substitute(Symbol s, const std::map<Symbol, Poly>& values);
  std::vector<SymbolData> all_;
  std::vector<std::vector<Poly>> tables_;
  std::map<std::string, Symbol, std::less<>> names_;
  std::map<std::tuple<Kind, size_t, Poly, Poly>, Symbol> made_;
  std::map<std::vector<Poly>, size_t> numbers_;
};

/// A decimal number that fits 64 bits, and nothing else; Refused.
int64_t read_integer(std::string_view text);

}  // namespace regraft::kernel
