#pragma once
// Several rewrites of a graph as one rule: what they read before, and what is there afterwards.
#include "rewrite/engine/engine.h"

namespace regraft::rewrite {

/// A number of an attribute of the right side that is also a size of variables.
struct SizeChoice {
  size_t node = 0, attr = 0, index = 0;  ///< of the right side
  struct Size {
    int variable = 0, axis = 0;
    bool operator==(const Size&) const = default;
  };
  std::vector<Size> sizes;  ///< that it may be; at least one
  bool number = true;       ///< it may also stay a number
};

/// One rule in place of several, as it is at the place where they were applied.
struct Composed {
  Rule rule;  ///< attributes are numbers; its domain is one signature, that of the place
  std::vector<SizeChoice> choices;
};

/// The left side is all calls of `before` that the moves matched, the right side what they made of
/// the values that are still read. An Error says why that is no rule: it would read what the left
/// side does not know, an attribute of the left side follows the sizes of the model, or a shape is
/// not known. REQUIRES: the engine began with `before` and has made at least one move since.
Result<Composed> compose(const Graph& before, const Engine& after, const RuleIndex& rules);

}  // namespace regraft::rewrite
