#pragma once
// Is a sum of guarded products zero everywhere in a domain? Products cancel in pairs that are equal
// after a renaming of bound variables which is shown to be a bijection of their ranges.
#include <optional>
#include <string>

#include "verify/simplify.h"

namespace regraft::verify {

/// Sound, not complete. Not thread-safe.
class Matcher {
 public:
  Matcher(Oracle& oracle, Budget& budget)
      : oracle_(oracle), budget_(budget), simplifier_(oracle, budget) {}
  /// `sum` is 0 for all values of the symbols that satisfy `domain`; cheap attempts come first,
  /// loops over few numbers are unrolled in the last.
  bool proves_zero(const Sum& sum, const Conjunction& domain);
  /// The product at which the last attempt ended, for messages.
  const std::string& stuck_at() const { return stuck_at_; }

 private:
  using Equations = std::vector<Poly>;  ///< each is to be 0
  /// Which atom of q stands for each atom of p.
  using Pairing = std::vector<size_t>;
  enum class Domains : uint8_t { Equal, Any };

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
  bool same_argument(const Sum& a, const Sum& b, const Conjunction& context);

  Oracle& oracle_;
  Budget& budget_;
  Simplifier simplifier_;
  std::string stuck_at_;
  int depth_ = 0;
  int pairings_left_ = 0;
};

}  // namespace regraft::verify
