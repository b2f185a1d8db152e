#pragma once
// What an operator means, as a digest: it changes with the operator's table and with its formula.
#include "base/digest.h"
#include "ir/ops/op.h"

namespace regraft {

/// Of the operator's name, arity and outputs, whether it commutes and associates, its attributes
/// with their kinds and defaults, and what its formula gives over the field: shapes and values on
/// its samples and on their neighbours (one size or attribute changed), for fixed inputs; and of
/// its floating point form, where that is another, the steps on its samples. The ONNX names and
/// forms are no part of it. Two formulas that agree on all of these have one digest.
Digest meaning_of(const OpDef& op);
/// The same, computed when it is first asked for. REQUIRES: op is of the registry. Thread-safe.
const Digest& known_meaning(const OpDef& op);

}  // namespace regraft
