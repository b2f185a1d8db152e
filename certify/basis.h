#pragma once
// Who vouches for what a certificate or a validation uses.
#include <string>

#include "ir/rule/rule.h"

namespace regraft::certify {

/// Rules or windows, by their verdicts.
struct Basis {
  size_t kernel = 0, provers = 0, bounded = 0;
  void add(VerdictKind kind) {
    kernel += kind == VerdictKind::ProvedAllSizes;
    provers += kind == VerdictKind::ProvedSolver;
    bounded += kind == VerdictKind::ProvedBounded;
  }
};
/// "3 checked by the kernel, 1 by the provers alone".
inline std::string to_string(const Basis& b) {
  std::string s = std::to_string(b.kernel) + " checked by the kernel, " +
                  std::to_string(b.provers) + " by the provers alone";
  return b.bounded == 0 ? s : s + ", " + std::to_string(b.bounded) + " at some sizes only";
}

}  // namespace regraft::certify
