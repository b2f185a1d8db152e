#pragma once
// What the scalar functions satisfy: exp of a sum is a product, x times 1/x is 1, roots, signs,
// maxima. Every law holds over the reals wherever both of its sides are defined.
#include <functional>
#include <optional>
#include <vector>

#include "ir/algebra/symbolic.h"
#include "verify/arithmetic/sign.h"
#include "verify/arithmetic/solver.h"

namespace regraft::verify {

/// Something known of a value, for all values of its bound variables that satisfy `guard`.
struct Known {
  Sum value;
  std::vector<Var> bound;
  Conjunction guard;
  Sign sign;
};

/// Rewrites functions by their laws. A quotient is taken as defined: its user shows beforehand that
/// the denominators of one side are not 0 where the other side is defined. Not thread-safe.
class Laws {
 public:
  /// `value` is what `known` says for some values of its bound variables, wherever the context
  /// holds.
  using Covers =
      std::function<bool(const Known& known, const Sum& value, const Conjunction& context)>;
  Laws(ArithmeticSolver& solver, Covers covers) : solver_(solver), covers_(std::move(covers)) {}

  /// What the atom, whose argument is in normal form, is equal to; nullopt: no law applies.
  std::optional<Sum> rewritten(const Atom& a, const Conjunction& context);
  /// The product with two of its atoms made one or none; nullopt: no law applies.
  std::optional<Sum> combined(const Product& p, const Conjunction& domain);
  /// The sum with products that are the same but for their coefficients made one.
  Sum merged(Sum s, const Conjunction& context);
  Sign sign(const Sum& s, const Conjunction& context);
  bool not_zero(const Sum& s, const Conjunction& context);
  /// From now on s, in normal form, and with it its factors, are known to have this sign.
  void learn(const Sum& s, Sign sign, const std::vector<Var>& bound, const Conjunction& guard);
  /// How much was learnt; and forgets what was learnt since.
  size_t known() const { return known_.size(); }
  void forget(size_t known) { known_.resize(known); }
  /// Every maximum is known to be one of something.
  void set_maxima_defined(bool yes) { maxima_defined_ = yes; }
  /// Some values of these variables satisfy `guard`.
  bool not_empty(const std::vector<Var>& bound, const Conjunction& guard,
                 const Conjunction& context);
  /// The range of a maximum has an element.
  bool has_element(const Atom& a, const Conjunction& context);
  /// Also write clip by relu, and then sigmoid and tanh by exp.
  enum class Expand : uint8_t { Nothing, Clips, All };
  void set_expand(Expand e) { expand_ = e; }

 private:
  std::optional<Sum> exponential(const Sum& s);
  std::optional<Sum> reciprocal(const Sum& s, const Conjunction& context);
  std::optional<Sum> root(const Sum& s, const Conjunction& context);
  std::optional<Sum> rectified(const Sum& s, const Conjunction& context);
  void learn_open_factor(const Sum& s, Sign known, const std::vector<Var>& bound,
                         const Conjunction& guard);
  void learn_without_denominator(const Sum& s, const std::vector<Var>& bound,
                                 const Conjunction& guard);
  void take_signed(std::vector<Atom>& factors, std::vector<Atom>& outside, int* negated,
                   const Conjunction& context);
  std::optional<Product> without_total(const Product& p, const Conjunction& context);
  std::optional<Sum> split_maximum(const Atom& a, const Conjunction& context);
  bool above_exponent(const Sum& s, const Conjunction& context);
  std::optional<Sum> maximum(const Atom& a, const Conjunction& context);
  std::optional<Sum> inverse(const Atom& a);
  Sum expanded(const Atom& a);
  Sign sign(const Product& p, const Conjunction& context);
  Sign sign(const Atom& a, const Conjunction& context);
  Sign sign_of_kind(const Atom& a, const Conjunction& context);
  Sign with_known(Sign r, const Sum& s, const Conjunction& context);
  Sign further(const Known& k, const Sum& s, const Conjunction& context);
  Sign by_range(const Sum& s, const Conjunction& context);
  Sign by_combination(const Sum& s);
  std::optional<Sum> odd(const Atom& a);
  std::optional<Sum> split_rectified(const Atom& a);
  std::optional<Product> averaged(Product p, const Conjunction& context);
  std::optional<Sum> through_monotone(const Atom& a, const Conjunction& context);
  bool above_known(const Atom& m, const Conjunction& context);
  Sign below_maximum(const Sum& s, const Conjunction& context);
  /// The atoms that all products of s have in common and that mention neither `inner` nor a bound
  /// variable of a product; they are taken out of s.
  std::vector<Atom> common_factors(Sum& s, const std::vector<Var>& inner,
                                   const Conjunction& context);
  bool same_atom(const Atom& a, const Atom& b, const Conjunction& context);
  bool equal(const Sum& a, const Sum& b, const Conjunction& context);

  ArithmeticSolver& solver_;
  Covers covers_;
  std::vector<Known> known_;
  Expand expand_ = Expand::Nothing;
  bool maxima_defined_ = false;
  int depth_ = 0;
};

/// A function of a sum, as a sum of one product.
Sum function_of(Fn f, Sum x);
Sum sum_of(Atom a);
Sum number(Rational r);
/// The atom of kind Apply and function f that s is; nullptr when it is something else.
const Atom* only_atom(const Sum& s);
bool is_function(const Atom& a, Fn f);
bool mentions(const Atom& a, Var v);

}  // namespace regraft::verify
