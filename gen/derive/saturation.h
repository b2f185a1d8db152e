#pragma once
// One e-graph from the two sides of a goal at given sizes to their equality or a limit.
#include "gen/derive/derive.h"
#include "gen/derive/pattern_trie.h"

namespace regraft::gen {

/// A goal at numbers.
struct Problem {
  const RuleInstance* instance;
  Valuation sizes;
};

/// The rules that may be applied.
struct RuleSet {
  const std::vector<std::unique_ptr<const Matchable>>* rules = nullptr;
  const RuleFilter* filter = nullptr;          ///< finds candidates among them
  const PatternTrie* trie = nullptr;           ///< of them
  const std::vector<char>* allowed = nullptr;  ///< which candidates count; nullptr: all
  std::optional<std::set<int>> few;            ///< no others, without the filter
};

/// What one e-graph led to.
struct Outcome {
  bool equal = false, well_formed = true, stopped = false;
  std::set<int> explained;  ///< rules in the proof
  int rounds = 0;
  size_t nodes = 0, refused = 0;
  bool limited = false;                       ///< of a failure: see Derivation
  std::vector<uint32_t> matched, candidates;  ///< likewise
};

/// Terms are let in by size: first those for which no root's term exceeds the goal's larger side,
/// then, when these are exhausted, larger ones. Ends soon after `stop` asks for it.
Outcome saturate(const Problem& problem, const RuleSet& rules, const DeriveOptions& options,
                 const Stop& stop);

}  // namespace regraft::gen
