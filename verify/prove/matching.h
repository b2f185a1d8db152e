#pragma once
// Is a sum of guarded products zero everywhere in a domain? Products cancel in pairs that are equal
// after a renaming of bound variables which is shown to be a bijection of their ranges.
#include <optional>
#include <string>

#include "verify/normal/simplify.h"

namespace regraft::verify {

/// A quotient or root that is evaluated: its argument, and when.
struct Partial {
  Fn function = Fn::Recip;
  Sum argument;
  std::vector<Var> bound;
  Conjunction guard;
};

/// A formula and the partial functions that are evaluated with it. What a factor 0 takes out of the
/// formula is evaluated all the same.
struct Side {
  Sum value;
  std::vector<Partial> partial;
  std::vector<Product> maxima;  ///< each where it is evaluated
};

/// Sound, not complete. Not thread-safe.
class Matcher {
 public:
  Matcher(ArithmeticSolver& solver, Budget& budget);
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;
  /// For all values of the symbols that satisfy `domain`: where `left` is defined (no 1/0, no root
  /// of a negative number), `right` is too and they are equal. Cheap attempts come first, then the
  /// laws of functions; loops over few numbers are unrolled in the last.
  bool proves_equal(const Side& left, const Side& right, const Conjunction& domain);
  /// The product at which the last attempt ended, for messages.
  const std::string& stuck_at() const { return stuck_at_; }

 private:
  using Equations = std::vector<Poly>;  ///< each is to be 0
  /// Which atom of q stands for each atom of p.
  using Pairing = std::vector<size_t>;
  enum class Domains : uint8_t { Equal, Any };

  /// A maximum in a formula, and when it is evaluated.
  struct Maximum {
    const Atom* atom = nullptr;
    std::vector<Var> bound;
    Conjunction guard;
  };
  Conjunction where_defined(const Side& left, Conjunction domain);
  void assume_defined(const Side& left, const Conjunction& domain);
  bool is_defined(const Side& left, const Side& right, const Conjunction& domain);
  static void collect_maxima(const Sum& s, const Maximum& at, std::vector<Maximum>& out);
  bool has_maxima(const Sum& left, const Sum& right, const Conjunction& domain);
  bool keeps_maxima(const Side& left, const Side& right, const Conjunction& domain);
  static bool same_partial(const Partial& a, const Partial& b);
  bool is_defined(Fn f, const Sum& argument, const Conjunction& context);
  bool at_each_position(const Sum& sum, const Conjunction& domain);
  bool try_unrolled(const Sum& sum, const Conjunction& domain);
  bool by_laws(const Sum& sum, const Conjunction& domain);
  bool zero_without_denominators(const std::vector<Product>& rest, const Conjunction& domain);
  bool zero_where_or_not(const std::vector<Product>& rest, const Conjunction& guard,
                         const Conjunction& domain);
  bool zero_by_cases(const std::vector<Product>& rest, const Conjunction& domain);

  bool is_zero(const Sum& sum, const Conjunction& domain);
  std::vector<Product> cancel_pairs(std::vector<Product> todo, const Conjunction& domain);
  bool balance(std::vector<Product> rest, const Conjunction& domain);
  std::optional<Conjunction> match(const Product& p, const Product& q, const Conjunction& domain,
                                   Domains domains);
  std::optional<Conjunction> match_from(const Product& p, const Product& q, Pairing& pairing,
                                        const Conjunction& domain, Domains domains);
  std::optional<Conjunction> try_pairing(const Product& p, const Product& q, const Pairing& pairing,
                                         int hint, const Conjunction& domain, Domains domains);
  std::optional<Conjunction> try_bijection(const Product& p, const Product& q,
                                           const Pairing& pairing, const Substitution& to,
                                           const Substitution& back, const Conjunction& domain,
                                           Domains domains);
  bool same_atom(const Atom& a, const Atom& b, const Conjunction& context);
  bool same_maximum(const Atom& a, const Atom& b, const Conjunction& context);
  bool covers(const Known& known, const Sum& value, const Conjunction& context);
  bool takes_all_values(const Atom& a, const Atom& b, const Conjunction& context);
  bool takes_value(const Sum& value, const Atom& b, const std::vector<Var>& variables,
                   const Conjunction& context);
  std::vector<Substitution> places(const Product& p, const Product& q, const Atom& b,
                                   const std::vector<Var>& variables) const;
  bool same_argument(const Sum& a, const Sum& b, const Conjunction& context);

  ArithmeticSolver& solver_;
  Budget& budget_;
  Simplifier simplifier_;
  Laws laws_;
  std::string stuck_at_;
  int depth_ = 0;
  int clearing_ = 0;       ///< denominators cleared and cases distinguished so far
  bool thorough_ = false;  ///< sums of different outlines are compared with what is known
  bool assumed_ = false;   ///< what the left side says was learnt
  bool lawful_ = false;    ///< the laws are in use, outside of arguments
  int pairings_left_ = 0;
};

}  // namespace regraft::verify
