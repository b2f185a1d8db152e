#pragma once
// Inside substitutions: the extents of constants in one of TASO's rules. The file does not say
// them; the terms around a constant do.
#include <map>
#include <string>
#include <vector>

#include "ir/algebra/poly.h"

namespace regraft::substitutions {

/// A rule is read twice: first with a symbol for each extent, to learn what must be equal, then
/// with what follows from that.
class OpenSizes {
 public:
  /// REQUIRES: the pool outlives this.
  explicit OpenSizes(SymbolPool& pool) : pool_(pool) {}

  enum class Side : uint8_t { Left, Right };
  /// The next extent of a constant, one that the generator tried as `witness`.
  Poly next(int64_t witness, Side side);
  /// Two extents of the rule are the same.
  void equate(const Poly& a, const Poly& b);
  bool any() const { return !extents_.empty(); }
  /// It has the symbol of an extent.
  bool in(const Poly& p) const;
  /// The first reading is over. What nothing determines is bound by the left side, or, where only
  /// the right side has it, what the generator tried.
  void solve();
  /// From the first extent again.
  void restart() { count_ = 0; }

 private:
  struct Extent {
    Var symbol;
    int64_t witness = 0;
    Side side = Side::Left;
  };
  SymbolPool& pool_;
  std::map<std::string, Extent> extents_;  // by name
  std::vector<Poly> equations_;            // these are 0
  Substitution solved_;
  size_t count_ = 0;
};

/// A constant of TASO's as a term: its text, extents, and the extents that the generator tried.
struct TasoConstant {
  std::string text;
  std::vector<Poly> extents;
  std::vector<int64_t> witness;
};
/// `type` is kIdentityMatrix .. kPoolKernel; a kernel is h x w. The generator's pooling sums, and
/// so does its constant: here both are means.
TasoConstant taso_constant(int type, int h, int w, OpenSizes& sizes, OpenSizes::Side side);

/// The shape at which the generator tried one of its variables -1 .. -20. Empty: a number, or
/// another variable.
std::vector<int64_t> witness_shape(int variable);

}  // namespace regraft::substitutions
