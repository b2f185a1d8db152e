#pragma once
// Parts that both sides of a pair share.
#include "gen/grammar/terms.h"

namespace regraft::gen {

/// The pair with shared sub-terms replaced by fresh variables where it still holds.
Pair without_common_subterms(Bank& bank, Pair p);

}  // namespace regraft::gen
