#pragma once
// Equalities of a conjunction, used up.
#include "ir/algebra/formula.h"

namespace regraft::verify {

/// A conjunction that integers satisfy exactly when some satisfy `facts`: symbols that an equality
/// expresses by others are replaced wherever they occur, in quotients too, so that quotients which
/// are equal become one symbol. Sizes whose product is 1 are 1.
Conjunction without_equalities(Conjunction facts);

}  // namespace regraft::verify
