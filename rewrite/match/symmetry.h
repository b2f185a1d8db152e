#pragma once
// Which places of a rule are one place under other names.
#include "ir/rule/rule.h"

namespace regraft::rewrite {

/// A way to exchange parts of a rule's left side that leaves both sides as they are, but for the
/// order of operands that commute: it does the same there.
struct Symmetry {
  std::vector<int32_t> nodes;      ///< pattern node j takes the part of nodes[j]
  std::vector<int32_t> variables;  ///< likewise
};

/// All but the identity; at most 120, beyond which some are left out.
std::vector<Symmetry> symmetries(const Rule& rule);

}  // namespace regraft::rewrite
