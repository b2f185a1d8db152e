#pragma once
// A hypothesis in the words of rules.
#include "gen/generalise/hypothesis.h"

namespace regraft::gen {

struct Expressed {
  TemplatePair pair;
  Signature signature;
  int closed = 0;  ///< attributes of the left side with a number that stayed as it was
};

/// Variables for open numbers, one for a whole list where the list always goes together; conditions
/// for extents that are not open, or the letter 1.
Expressed express(const Bank& bank, const HypothesisTester& tester, const TemplatePair& pair,
                  const Hypothesis& h);

}  // namespace regraft::gen
