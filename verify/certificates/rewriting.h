#pragma once
// Equalities used up in an argument: what one expresses is replaced, in quotients and lookups too.
#include "verify/certificates/ground.h"

namespace regraft::verify {

/// The same as `known`, with the literals after all that they allow: quotients that stand alone in
/// an inequality are multiplied out, positive factors leave, symbols that an equality expresses are
/// replaced. Not in choices, which are rewritten when they are opened.
class Rewriting {
 public:
  explicit Rewriting(const Steps& steps) : steps_(steps) {}
  /// All literals, until nothing changes.
  void settle(Ground& known) const;
  /// Only by what was replaced before.
  void rewrite(Ground& known, std::vector<FactId>& literals) const;

 private:
  struct Rewritten {
    kernel::Poly poly;
    std::optional<FactId> equal;  ///< old - new = 0; nullopt: they are the same
  };
  Rewritten rewrite(Ground& known, const kernel::Poly& p) const;
  FactId rewrite(Ground& known, FactId literal) const;
  /// A symbol in p to be replaced, with the replacement in `known`.
  std::optional<kernel::Symbol> touched(Ground& known, const kernel::Poly& p) const;
  bool mentions_replaced(const Ground& known, const kernel::Poly& p) const;
  bool replace_made(Ground& known, kernel::Symbol s) const;
  std::optional<Replacement> simpler(Ground& known, kernel::Symbol made) const;
  std::optional<Replacement> entry(Ground& known, kernel::Symbol lookup) const;
  FactId without_quotients(Ground& known, FactId literal) const;
  FactId without_factors(Ground& known, FactId literal) const;
  bool use_equality(Ground& known) const;
  bool use(Ground& known, FactId equality) const;
  bool use_ones(Ground& known, FactId equality) const;
  const Steps& steps_;
};

}  // namespace regraft::verify
