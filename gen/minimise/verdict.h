#pragma once
// What a pair of equal terms says, judged by itself.
#include "gen/generalise/generalise.h"

namespace regraft::gen {

/// What became of a pair. A function of the pair alone: no rule that is known plays a part.
struct Verdict {
  enum Kind : uint8_t {
    Alias,        ///< the same term
    Chance,       ///< not equal on other inputs
    Constants,    ///< a fact about constants
    OtherShapes,  ///< false at other shapes or attributes
    Rules,
  };
  struct Found {
    Rule rule;
    Signature signature;  ///< at which it was checked
    bool grows = false;   ///< the right side contains the left
  };
  Kind kind = Alias;
  std::vector<Found> found;
  /// The pair itself as a rule at its own shapes, where it can be read as one; without `grows`.
  std::optional<Found> ground;
};

/// A group of equal values that known rules did not connect: of each pair that was judged, in
/// order.
struct JudgedGroup {
  size_t group = 0;
  std::vector<Verdict> verdicts;  ///< fewer: the others have to be judged anew
};

/// For other processes: what comes back is the same.
std::string to_bytes(const Verdict& verdict);
Result<Verdict> verdict_of(std::string_view bytes);

/// `bank` gets the terms that it takes.
Verdict judge(Bank& bank, Pair pair, uint64_t seed);

}  // namespace regraft::gen
