#pragma once
// Carrying out a match.
#include "rewrite/match.h"

namespace regraft::rewrite {

/// The graph after the match: new calls (origin -1), redirected uses, no dead nodes. A node whose
/// operands merely changed their place keeps its origin. Names of replaced values move to what
/// replaces them where that is new. Nodes that stay are shared with the view's graph.
/// REQUIRES: the match was found in this view.
Graph apply(const GraphView& view, const Match& match);

/// Evaluates both sides of the match over a finite field at small sizes that satisfy the rule's
/// conditions. nullopt when no such sizes are found. False is a bug in the rule or the matcher.
std::optional<bool> sides_agree(const Found& found);

}  // namespace regraft::rewrite
