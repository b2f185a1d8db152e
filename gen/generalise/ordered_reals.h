#pragma once
// Real attributes whose order or sign matters: they become variables under conditions.
#include <map>

#include "ir/rule/rule.h"

namespace regraft::gen {

constexpr int kShapesEach = 6;  ///< at which a rule must hold with drawn numbers

/// A real attribute of a node of the left or the right side.
struct RealPlace {
  bool left = true;
  size_t node = 0, attr = 0;
};
using RealPlaces = std::vector<RealPlace>;
using RealNumbers = std::map<std::string, double>;  ///< by the names of real variables

PatternNode& node_at(Rule& rule, const RealPlace& p);
/// The places of a side with a number.
RealPlaces numbers_of(const Pattern& side, bool left);
/// A name that the rule does not have yet, after the attribute.
std::string fresh_real(Rule& rule, const RealPlace& p);
/// Gives places a variable, or with "=" an expression, in place of their number.
void name_places(Rule& rule, const RealPlaces& places, const std::string& name);

/// Numbers of the left side that are still numbers become variables under the weakest conditions
/// that hold: signs, the order among them, and that they are at most 1; at most two for each. One
/// of the right side may become a product or a sum of two of them. 0 and what is beyond
/// float32 stay. `opened` are the numbers that the rule's real variables had. REQUIRES: the rule
/// holds at the signature. The same for the same seed.
Rule open_ordered_reals(Rule rule, const RealNumbers& opened, const Signature& signature,
                        uint64_t seed);

}  // namespace regraft::gen
