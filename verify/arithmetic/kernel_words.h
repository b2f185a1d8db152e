#pragma once
// The provers' polynomials and formulas in the kernel's words.
#include <map>
#include <vector>

#include "ir/algebra/formula.h"
#include "verify/kernel/facts.h"

namespace regraft::verify {

/// Says symbols of one pool in those of a kernel::Symbols; each of the pool's leaves gets a name of
/// its own. Symbols that are there already by that name, and that this did not make, are other
/// ones. Both must outlive it. Not thread-safe. Throws kernel::Refused where numbers are too large.
class KernelWords {
 public:
  explicit KernelWords(kernel::Symbols& symbols) : symbols_(symbols) {}
  /// From now on v is that symbol. REQUIRES: v was not met before.
  void bind(Var v, kernel::Symbol s) { known_.emplace(v, s); }
  kernel::Symbol of(Var v);
  kernel::Poly of(const Poly& p);
  kernel::Fact of(const Formula& f);
  std::vector<kernel::Fact> of(const Conjunction& c);

 private:
  kernel::Symbols& symbols_;
  std::map<Var, kernel::Symbol, SymbolLess> known_;
};

}  // namespace regraft::verify
