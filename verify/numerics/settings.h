#pragma once
// Shapes and attributes at which a rule's floating point is looked at.
#include <deque>
#include <vector>

#include "verify/numerics/float_program.h"

namespace regraft::verify {

/// A rule at numbers for all its symbols.
struct Setting {
  const RuleInstance* instance = nullptr;
  Valuation sizes;
  RealValues reals;
  FloatProgram program;
};

/// Few settings, small ones first: some of the rule's signatures, one with a long axis, and for
/// real attributes usual and hostile values. Owns the instances.
struct Settings {
  std::deque<RuleInstance> instances;
  std::vector<Setting> all;
};
Settings settings_of(const Rule& rule, uint64_t seed);
Settings settings_of(const RuleInstance& instance, uint64_t seed);

/// "a=[2,3] b=[3] e=1e-05".
std::string describe(const Setting& setting);

}  // namespace regraft::verify
