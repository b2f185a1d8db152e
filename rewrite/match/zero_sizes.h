#pragma once
// Rules are proved for sizes from 1 on. The size of a model's dimension may be 0 when it runs.
#include "rewrite/match/fit.h"

namespace regraft::rewrite {

/// Do both sides also agree where symbolic sizes of the model are 0, as far as the left side runs
/// there? They do when every output is empty, and otherwise when their values agree, a maximum or a
/// mean of nothing agreeing with nothing; and the right side must run wherever the left one does.
/// REQUIRES: `fit` is complete. Throws PolyOverflow.
bool holds_for_empty(const LiveGraph& g, const Place& place, const Fit& fit);

}  // namespace regraft::rewrite
