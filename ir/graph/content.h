#pragma once
// Digests of constants and graphs by content: what they are called outside of the process.
#include "base/digest.h"
#include "ir/graph/graph.h"

namespace regraft {

/// Of type, dimensions and data, which is read in pieces. An Error: it cannot be read.
Result<Digest> digest_of(const Constant& data);
/// Of the inputs (names and types), of the outputs' names, and of what each output computes: calls,
/// constants by their data, opaque nodes by their digests and types. Equal for graphs that are
/// equal up to ids, order, commuted operands and the names of what lies between. An Error: a
/// constant cannot be read. REQUIRES: no cycle.
Result<Digest> digest_of(const Graph& g);

}  // namespace regraft
