#pragma once
// Integers at which formulas hold: what shows quickly that a conjunction cannot be refuted.
#include <set>
#include <vector>

#include "ir/algebra/formula.h"

namespace regraft::verify {

using Symbols = std::set<Var, SymbolLess>;

/// Remembers integers that satisfied earlier conjunctions, and looks for new ones. Deterministic.
/// All symbols must be of one pool. Not thread-safe.
class Models {
 public:
  /// Integers are known, or found by a short search, that satisfy all of `facts`, products and
  /// quotients being what they are. False says nothing. `symbols`: all that occur in `facts`;
  /// `attempts` of
  /// the search.
  bool satisfied(const Conjunction& facts, const Symbols& symbols, int attempts = 1);
  /// Only those known.
  bool known(const Conjunction& facts, const Symbols& symbols);
  /// Integers from elsewhere.
  void keep(Valuation values);

 private:
  std::vector<Valuation> models_;  // latest last
  size_t next_ = 0;
};

}  // namespace regraft::verify
