#pragma once
// The kernel's facts and sums for readers.
#include <string>
#include <vector>

#include "verify/kernel/unfold.h"

namespace regraft::verify {

/// The symbols must outlive it.
class KernelNotation {
 public:
  KernelNotation(const kernel::Symbols& symbols, const std::vector<std::string>& inputs)
      : symbols_(symbols), inputs_(inputs) {}
  /// "k+1 <= n", "n = m", "(... or ...)".
  std::string text(const kernel::Fact& f) const;
  std::string text(const std::vector<kernel::Fact>& facts) const;
  /// "sum[k: 0 <= k, k+1 <= n] a[i0,k] * exp(b[k])"; 0 for nothing.
  std::string text(const kernel::Sum& s) const;
  std::string text(const kernel::Product& p) const;
  std::string text(const kernel::Atom& a) const;
  /// A fact as derivations have it.
  std::string fact(const std::string& words) const;

 private:
  std::string range(const char* name, const std::vector<kernel::Symbol>& bound,
                    const std::vector<kernel::Fact>& guard) const;
  const kernel::Symbols& symbols_;
  const std::vector<std::string>& inputs_;
};

}  // namespace regraft::verify
