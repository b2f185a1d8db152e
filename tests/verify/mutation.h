#pragma once
// False rules in bulk: true rules changed in one place, such that what is false is so by numbers,
// by definedness, by ties, by shapes, by a condition that is missing or by direction; and what is
// true of each, found without the prover (enclosure.h).
#include <span>
#include <string>
#include <vector>

#include "verify/prove/prover.h"

namespace regraft::verify {

enum class Change : uint8_t {
  Operator,     ///< another one in a call's place
  Operand,      ///< another operand, or two exchanged
  Attribute,    ///< another number
  Outputs,      ///< another value is the output
  Condition,    ///< dropped from `where`, or another one
  Signature,    ///< an axis of any size for one of size 1 or the reverse, one more or one less
  Direction,    ///< right to left
  Definedness,  ///< multiplied and divided by something that may be 0, or under a root
  Sign,         ///< what holds where a value is not negative
};
constexpr size_t kChanges = 9;
std::string_view to_string(Change c);

/// A rule at one signature, made from a shipped one.
struct Mutant {
  Rule rule;
  std::string origin;  ///< the rule it was made from
  Change change = Change::Operator;
};

/// The rules of substitutions/*.rules and the true rules for tests, but for those proved at some
/// shapes only, below a folder of sources.
std::vector<Rule> rules_to_mutate(const std::string& sources);
/// `count` of them, no two equal, none trivial, each with a form at its only signature; kinds of
/// change in turn, as long as the rules have something to change. Fewer when the rules give no
/// more.
std::vector<Mutant> mutants(std::span<const Rule> rules, size_t count, uint64_t seed);

/// How hard to look for a difference.
enum class Search : uint8_t { Usual, Heavy };
/// Sizes and inputs at which the sides certainly differ, in words; nullopt: none was found. Inputs
/// are of either sign, one sign, small, large, 0, equal to each other, and the rule's own numbers.
std::optional<std::string> shown_false(const RuleInstance& instance, uint64_t seed, Search search);

/// One mutant judged.
struct Trial {
  std::optional<std::string> difference;  ///< certain
  VerdictKind proof = VerdictKind::Unknown;
  bool refuted = false;  ///< by the verifier's own numbers
};
/// A mutant that is proved and not known to be false is looked at once more, heavily.
Trial tried(const Mutant& m, const Limits& limits, uint64_t seed);

}  // namespace regraft::verify
