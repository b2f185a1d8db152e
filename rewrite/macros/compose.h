#pragma once
// Several rewrites of a graph as one rule: what they read before, and what is there afterwards.
#include "rewrite/engine/engine.h"

namespace regraft::rewrite {

/// One rule in place of several. Its domain is one signature, that of the place. Candidates:
/// nothing is proved.
struct Composed {
  Rule open;    ///< sizes and numbers of attributes are open as far as the moves allow (opening.h)
  Rule closed;  ///< numbers are those of the place, where they do not follow sizes of the model
};

/// The left side is all calls of `before` that the engine's moves matched, the right side what they
/// made of the values that are still read. Axes and real numbers are those of the place. An Error
/// says why that is no rule: it would read what the left side does not know, or a shape is not
/// known. The moves are taken back and made again. REQUIRES: the engine began with `before` and has
/// made at least one move since.
Result<Composed> compose(const Graph& before, Engine& engine);

}  // namespace regraft::rewrite
