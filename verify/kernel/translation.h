#pragma once
// The polynomials and formulas of operators in the kernel's words.
#include <map>
#include <vector>

#include "ir/algebra/formula.h"
#include "verify/kernel/facts.h"

namespace regraft::kernel {

/// Says symbols of one pool in those of a kernel::Symbols; each of the pool's leaves gets a name of
/// its own. Symbols that are there already by that name, and that this did not make, are other
/// ones. Both must outlive it. Not thread-safe. Throws kernel::Refused where numbers are too large.
class Translation {
 public:
  explicit Translation(Symbols& symbols) : symbols_(symbols) {}
  /// From now on v is that symbol.
  void bind(Var v, Symbol s) { known_[v] = s; }
  Symbols& symbols() { return symbols_; }
  /// What stands for what, but for quotients and lookups.
  const std::map<Var, Symbol, SymbolLess>& leaves() const { return known_; }
  Symbol of(Var v);
  Poly of(const regraft::Poly& p);
  Fact of(const Formula& f);
  std::vector<Fact> of(const Conjunction& c);

 private:
  Symbols& symbols_;
  std::map<Var, Symbol, SymbolLess> known_;
};

}  // namespace regraft::kernel
