#pragma once
// Symbolic integers: polynomials with integer coefficients over symbols (sizes, positions,
// quotients).
#include <algorithm>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraft {

class Poly;
class SymbolPool;
struct Formula;

/// What a symbol stands for.
enum class SymbolKind : uint8_t {
  Size,      ///< a dimension or an index attribute: any integer >= Symbol::min
  Position,  ///< an index of the output element under consideration
  Bound,     ///< the variable of a sum or of a maximum
  Quotient,  ///< floor(numerator / denominator)
  Lookup,    ///< table[numerator], an integer in 0 .. denominator-1
};

/// One symbol; lives as long as its pool, which may raise its least value.
struct Symbol {
  uint32_t id;
  SymbolKind kind;
  std::string name;
  int64_t min;
  std::unique_ptr<const Poly> numerator, denominator;  ///< Quotient and Lookup only
  uint32_t table;                                      ///< Lookup only: which table of its pool
  SymbolPool* pool;
  bool may_be_zero = true;  ///< a size of a model, when that runs; proofs are for `min` and more
  int64_t typical = 8;      ///< what a size counts as where a model is priced or timed
};
using Var = const Symbol*;

/// Product of symbols, sorted by id, repetition = power. Empty = 1. A sequence of few symbols lies
/// in the object itself.
class Monomial {
 public:
  using value_type = Var;
  using const_reference = const Var&;
  using iterator = Var*;
  Monomial() = default;
  Monomial(std::initializer_list<Var> symbols) {
    for (Var v : symbols) push_back(v);
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Var* begin() { return data(); }
  Var* end() { return data() + size_; }
  const Var* begin() const { return const_cast<Monomial*>(this)->data(); }
  const Var* end() const { return begin() + size_; }
  Var operator[](size_t i) const { return begin()[i]; }
  void push_back(Var v) {
    if (size_ == kFew) many_.assign(few_, few_ + kFew);
    if (size_ >= kFew)
      many_.push_back(v);
    else
      few_[size_] = v;
    ++size_;
  }
  void erase(Var* at) {
    std::copy(at + 1, end(), at);
    if (size_ > kFew) many_.pop_back();
    --size_;
    if (size_ == kFew) std::copy(many_.begin(), many_.end(), few_);
  }

 private:
  static constexpr size_t kFew = 3;
  Var* data() { return size_ > kFew ? many_.data() : few_; }
  size_t size_ = 0;
  Var few_[kFew] = {};
  std::vector<Var> many_;  ///< all of them, when they are more than few
};

/// A polynomial in normal form; structural equality (`same`) is equality of polynomials.
/// The operators < <= == build Formulas. Symbols of two pools must not be mixed.
/// Throws PolyOverflow when a coefficient leaves int64.
class Poly {
 public:
  struct Term {
    Monomial monomial;
    int64_t coefficient;
  };
  Poly(int64_t constant = 0) : constant_(constant) {}  // NOLINT: implicit by design
  static Poly symbol(Var v);
  static Poly product(Monomial monomial, int64_t coefficient);

  bool is_constant() const { return !terms_; }
  bool is_zero() const { return !terms_ && constant_ == 0; }
  /// The constant term.
  int64_t constant() const { return constant_; }
  /// The other terms, sorted, none with coefficient 0.
  std::span<const Term> terms() const {
    return terms_ ? std::span(*terms_) : std::span<const Term>();
  }

  static Poly linear(const Poly& a, int64_t ca, const Poly& b, int64_t cb);
  friend Poly operator+(const Poly& a, const Poly& b) { return linear(a, 1, b, 1); }
  friend Poly operator-(const Poly& a, const Poly& b) { return linear(a, 1, b, -1); }
  friend Poly operator*(const Poly& a, const Poly& b);
  friend Formula operator<(const Poly& a, const Poly& b);
  friend Formula operator<=(const Poly& a, const Poly& b);
  friend Formula operator==(const Poly& a, const Poly& b);
  /// One object's copies share their terms: the same, without a look at them.
  bool shares_terms(const Poly& p) const { return terms_ == p.terms_; }

 private:
  int64_t constant_;
  std::shared_ptr<const std::vector<Term>> terms_;  ///< nullptr: none
};

/// Coefficients left int64; caught where a proof or an inference starts.
struct PolyOverflow {};
/// a * b and a + b; throw PolyOverflow beyond int64.
int64_t checked_product(int64_t a, int64_t b);
int64_t checked_sum(int64_t a, int64_t b);

/// Total order; 0 means the same polynomial.
int compare(const Poly& a, const Poly& b);
inline bool same(const Poly& a, const Poly& b) { return compare(a, b) == 0; }
uint64_t hash(const Poly& p);

/// Owner of symbols. Symbols may be made and read from several threads.
class SymbolPool {
 public:
  SymbolPool() = default;
  SymbolPool(const SymbolPool&) = delete;
  SymbolPool& operator=(const SymbolPool&) = delete;
  /// A new symbol, distinct from all others.
  Var fresh(std::string name, SymbolKind kind, int64_t min = 0);
  /// The Size symbol of that name: the same for the same name. `min` counts on first use.
  Var named(std::string_view name, int64_t min = 1);
  /// From now on p counts as at least 0, where that gives one Size symbol a larger least value. Not
  /// from several threads.
  void assume_non_negative(const Poly& p);
  /// From now on the size is not 0 when the model runs. Not from several threads.
  void assume_not_zero(Var v) { symbols_[v->id].may_be_zero = false; }
  /// Not from several threads.
  void set_typical(Var v, int64_t size) { symbols_[v->id].typical = size; }
  /// floor(n / d) for d >= 1, simplified where exact, else a hash-consed Quotient.
  /// REQUIRES: d is not a constant below 1.
  Poly floordiv(const Poly& n, const Poly& d);
  /// A number for a table: the same for equal entries, and for no others.
  uint32_t table(const std::vector<Poly>& entries);
  const std::vector<Poly>& entries(uint32_t table);
  /// All symbols made so far are sizes of a model's inputs, which it can compute.
  void close_inputs() { inputs_ = static_cast<uint32_t>(symbols_.size()); }
  bool is_input(Var v) const { return v->kind == SymbolKind::Size && v->id < inputs_; }
  /// table[i], known to lie in 0 .. bound-1; the same table and position give the same symbol. At a
  /// number it is that entry. REQUIRES: the table is of this pool.
  Poly lookup(uint32_t table, const Poly& i, const Poly& bound);

 private:
  struct Less {
    bool operator()(const std::pair<Poly, Poly>& a, const std::pair<Poly, Poly>& b) const;
  };
  struct TableLess {
    bool operator()(const std::vector<Poly>& a, const std::vector<Poly>& b) const;
  };
  struct LookupLess {
    bool operator()(const std::pair<uint32_t, std::pair<Poly, Poly>>& a,
                    const std::pair<uint32_t, std::pair<Poly, Poly>>& b) const {
      return a.first != b.first ? a.first < b.first : Less{}(a.second, b.second);
    }
  };
  Var add(std::string name, SymbolKind kind, int64_t min, const Poly* n, const Poly* d, uint32_t t);
  std::mutex mutex_;
  uint32_t inputs_ = 0;
  std::deque<Symbol> symbols_;
  std::map<std::string, Var, std::less<>> names_;
  std::map<std::pair<Poly, Poly>, Var, Less> quotients_;
  std::map<std::vector<Poly>, uint32_t, TableLess> tables_;
  std::vector<const std::vector<Poly>*> entries_;  ///< by table: a key of tables_
  std::map<std::pair<uint32_t, std::pair<Poly, Poly>>, Var, LookupLess> lookups_;
};

/// Replacements for symbols.
struct SymbolLess {
  bool operator()(Var a, Var b) const { return a->id < b->id; }
};
using Substitution = std::map<Var, Poly, SymbolLess>;
using Valuation = std::map<Var, int64_t, SymbolLess>;

bool mentions(const Poly& p, Var v);
/// The symbol that p is; nullptr: it is something else.
Var symbol_of(const Poly& p);
/// Simultaneous replacement; goes through quotients and lookups.
Poly substitute(const Poly& p, const Substitution& s);

/// The greatest number that divides all coefficients of p but its constant; 0 for a constant.
int64_t content(const Poly& p);
/// All terms divided by g, the constant rounded down. REQUIRES: g divides content(p).
Poly divided(const Poly& p, int64_t g);
/// The value of p; quotients are evaluated, denominators below 1 count as 1.
/// REQUIRES: every other symbol of p is in `values`.
int64_t evaluate(const Poly& p, const Valuation& values);
/// Solves p == 0 for v when v occurs once, linearly, with coefficient +1 or -1.
bool solve_for(const Poly& p, Var v, Poly& solution);
/// A number that p is never below, from the least values of its symbols; nullopt: none is found.
std::optional<int64_t> lower_bound(const Poly& p);
/// `lower_bound` shows that p is at least 0, whatever the sizes are.
bool never_negative(const Poly& p);
/// Can a model compute it from the shapes of its inputs? Sums, products, and quotients of numbers
/// that are not negative.
bool computable(const Poly& p);
/// Readable text, stable between runs: "2*h*d+1".
std::string to_string(const Poly& p);

/// floor(a / b) on integers. REQUIRES: b >= 1.
inline int64_t floordiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && a < 0 ? q - 1 : q;
}

}  // namespace regraft
