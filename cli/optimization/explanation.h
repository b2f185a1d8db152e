#pragma once
// What the rules won in a model, and why they won nothing elsewhere.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/choose.h"
#include "cli/optimization/trace.h"
#include "io/model.h"
#include "rewrite/match/rule_index.h"

namespace regraft::cli {

/// Steps that build on each other.
struct WonRegion {
  std::map<std::string, int64_t> rules;  ///< how often each was applied
  std::vector<std::string> gone, made;   ///< nodes: "Conv 'name'", of the original and the result
  double microseconds = 0;               ///< predicted; below 0: it became dearer
};

/// Why no rule did anything at a node; those that someone can act on first.
enum class Obstacle : uint8_t {
  Opaque,      ///< regraft does not know what the node computes
  Numerics,    ///< a rule that --numerics leaves out would win
  NotTaken,    ///< a rule that was let in would win, yet it is not in the result
  NotCheaper,  ///< rules apply, none wins
  Condition,   ///< a rule has these operators, but a condition or an attribute does not hold
  Signature,   ///< a rule has these operators, but it is not proved for these shapes or types
  NoRule,      ///< no rule has this operator among such neighbours
};
std::string to_string(Obstacle o);

struct Reason {
  Obstacle why = Obstacle::NoRule;
  std::string text;              ///< one sentence without a full stop
  std::string rule;              ///< that it speaks of; empty: none
  std::optional<double> change;  ///< of the predicted microseconds of the graph, by that rule
};

/// What the runtime computes in one go, made of nodes that no rule touched.
struct Missed {
  std::vector<std::string> nodes;
  double microseconds = 0;      ///< predicted, of all that are alike
  double share = 0;             ///< of the whole result
  size_t alike = 1;             ///< kernels that are the same but for weights, this one included
  std::vector<Reason> reasons;  ///< of this one; the first is what matters most, there is one
};

struct Explanation {
  std::vector<WonRegion> regions;  ///< the largest gain first
  std::vector<Missed> missed;      ///< the dearest first
  bool kept = false;               ///< the original stays
  std::string because;             ///< then: why
  size_t folded = 0;               ///< calls that became constants after all rules
  size_t priced_every = 1;  ///< steps that share a price: a region may have its neighbour's gain
  bool complete = true;     ///< false: the time was over before all reasons were found
};

/// What was done to the main graph of a model.
struct Explained {
  const io::Imported& model;  ///< that the choice was made for
  const rewrite::RuleIndex& rules;
  const Choice& choice;
  const Trace& trace;
  std::string target;     ///< runtime; other names: any
  std::string discarded;  ///< why what was found is not the result
  Opset opset;
  bool simplify;  ///< only what leaves fewer calls was looked for
};
/// Matches all rules against the result once more. Takes at most about `seconds`. An Error: the
/// rules that were left out cannot be matched.
Result<Explanation> explain(const Explained& done, double seconds);

}  // namespace regraft::cli
